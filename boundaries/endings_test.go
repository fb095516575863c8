package boundaries_test

import (
	"time"

	"github.com/stretchr/testify/require"

	"payonce/activities"
	"payonce/boundaries"
	"payonce/internal/stripeapi"
	"payonce/payments"
)

// What Stripe can make of the first tenant's payment of a reference, as apply is told it.

// succeed lets Stripe take the amount.
func (w *world) succeed(reference string, amount int64) {
	w.t.Helper()
	o := offer{Identity: reference, Amount: amount}
	w.learn(reference, activities.Learnt{Intent: intentOf(w.engine, o, stripeapi.IntentSucceeded)})
}

// cancel lets Stripe cancel the intent.
func (w *world) cancel(reference string) {
	w.t.Helper()
	w.learn(reference, activities.Learnt{Intent: intentOf(w.engine, offer{Identity: reference, Amount: 1000}, stripeapi.IntentCanceled)})
}

// refuse lets Stripe refuse the create for good.
func (w *world) refuse(reference string) {
	w.t.Helper()
	refusal := payments.ProviderError{Code: "amount_too_large", Message: "Amount must be no more than $999,999.99"}
	w.learn(reference, activities.Learnt{Answer: &activities.AnsweredCall{Status: 400, Refusal: &refusal}})
}

// expire lets the create's deadline pass before it was sent.
func (w *world) expire(reference string) {
	w.t.Helper()
	w.advance(w.timing.CommandDeadline + time.Second)
	require.NoError(w.t, w.activities.ExpireUnsent(w.t.Context(), w.payment(offer{Identity: reference})))
}

// decline lets Stripe decline the first confirm.
func (w *world) decline(reference string) {
	w.t.Helper()
	decline := payments.ProviderError{Code: "card_declined", DeclineCode: "insufficient_funds", Charge: "ch_declined_" + reference}
	intent := intentOf(w.engine, offer{Identity: reference, Amount: 1000}, stripeapi.IntentRequiresPaymentMethod)
	intent.LastError = &decline
	w.learn(reference, activities.Learnt{Intent: intent, Answer: &activities.AnsweredCall{
		Call: boundaries.Call{Operation: payments.OperationConfirm}, Status: 402, Decline: &decline,
	}})
}

// learn applies to the payment of a reference.
func (w *world) learn(reference string, learnt activities.Learnt) activities.Applied {
	w.t.Helper()
	applied, err := w.engine.learn(w.t.Context(), w.payment(offer{Identity: reference}), learnt)
	require.NoError(w.t, err)
	return applied
}

func (w *world) status(payment payments.PaymentID) payments.Status {
	w.t.Helper()
	return read[payments.Status](w, `SELECT status FROM payonce.payments WHERE id = $1`, payment.UUID)
}

// replay claims what must be answered from memory.
func (w *world) replay(key string, command payments.CreateCommand) *boundaries.Answer {
	w.t.Helper()
	claim := w.claim(key, command)
	require.Equal(w.t, boundaries.Replay, claim.Outcome)
	require.NotNil(w.t, claim.Answer)
	return claim.Answer
}
