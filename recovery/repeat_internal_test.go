package recovery

import (
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/internal/stripeapi"
	"payonce/payments"
)

// An event is only counted when what it can say is in the payment already: everything else is applied.
func TestAnEventRepeatsOnlyWhatThePaymentHolds(t *testing.T) {
	t.Parallel()
	paid := payments.Payment{IntentID: "pi_1", Status: payments.StatusSucceeded, Stage: payments.StageLedgerApplied, AmountCaptured: 1000}
	with := func(change func(p *payments.Payment)) payments.Payment {
		p := paid
		change(&p)
		return p
	}
	took := func(amount int64) *stripeapi.Intent {
		return &stripeapi.Intent{ID: "pi_1", Status: stripeapi.IntentSucceeded, AmountReceived: amount}
	}
	for name, test := range map[string]struct {
		payment payments.Payment
		kind    string
		intent  *stripeapi.Intent
		want    repeat
	}{
		"the success again":              {paid, "payment_intent.succeeded", took(1000), offeredRepeat},
		"its charge":                     {paid, "charge.succeeded", nil, offeredRepeat},
		"its creation":                   {paid, "payment_intent.created", nil, staleRepeat},
		"a late failure":                 {paid, "payment_intent.payment_failed", &stripeapi.Intent{Status: stripeapi.IntentRequiresPaymentMethod}, staleRepeat},
		"more money":                     {paid, "payment_intent.succeeded", took(1001), noRepeat},
		"money in another state":         {paid, "payment_intent.amount_capturable_updated", &stripeapi.Intent{AmountReceived: 1}, noRepeat},
		"a cancellation":                 {paid, "payment_intent.canceled", &stripeapi.Intent{Status: stripeapi.IntentCanceled}, noRepeat},
		"a success of what is canceled":  {with(func(p *payments.Payment) { p.Status = payments.StatusCanceled }), "payment_intent.succeeded", took(1000), noRepeat},
		"another intent":                 {with(func(p *payments.Payment) { p.IntentID = "pi_2" }), "payment_intent.created", nil, noRepeat},
		"a payment that goes on":         {with(func(p *payments.Payment) { p.Stage = payments.StageProcessing }), "charge.succeeded", nil, noRepeat},
		"a payment marked for review":    {with(func(p *payments.Payment) { p.Review = &payments.Review{} }), "payment_intent.succeeded", took(1000), noRepeat},
		"a charge of what took no money": {with(func(p *payments.Payment) { p.AmountCaptured = 0 }), "charge.succeeded", nil, staleRepeat},
	} {
		event := namedEvent{storedEvent: storedEvent{Type: test.kind}, said: stripeapi.Event{IntentID: "pi_1", Intent: test.intent}}
		require.Equal(t, test.want, event.repeats(test.payment), name)
	}
}
