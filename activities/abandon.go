package activities

import (
	"context"
	"slices"
	"time"

	"payonce/internal/timing"
	"payonce/payments"
)

// Abandon gives a payment up whose payer did not come back in time: its intent is canceled, so that it can no longer be paid, and it ends as expired.
// A payment that the payer or a command moved meanwhile goes on.
func (a *Activities) Abandon(ctx context.Context, id payments.PaymentID) error {
	applied, err := a.Apply(ctx, id, Learnt{Source: SourceEngine, Abandoned: true})
	if err != nil || applied.Verdict == VerdictStale {
		return err
	}
	return a.Waker.Wake(ctx, id)
}

// abandoned tells, under the payment's lock, whether the time in which the payer is to come back is over.
func (s situation) abandoned() bool {
	return s.payment.AbandonAt != nil && !s.payment.AbandonAt.After(s.now)
}

// wait says until when the payment waits for its payer: anew when it was moved, not at all while a command is open or once it is to end.
func (ch *change) wait(s situation, durations timing.Timing) {
	within := map[payments.Status]time.Duration{
		payments.StatusRequiresPaymentMethod: durations.AbandonMethod, payments.StatusRequiresAction: durations.AbandonAction,
	}[ch.after.Status]
	busy := ch.after.Failure != nil || slices.ContainsFunc(s.open, func(c command) bool {
		return c.operation != payments.OperationCreate && !contains(ch.settled, c)
	})
	switch {
	case within == 0 || busy:
		ch.after.AbandonAt = nil
	case ch.waitsAnew:
		until := s.now.Add(within).UTC()
		ch.after.AbandonAt = &until
	}
}
