package activities

import (
	"context"
	"slices"

	"payonce/internal/stripeapi"
	"payonce/internal/timing"
	"payonce/ledger"
	"payonce/notifications"
	"payonce/payments"
)

// HoldDue sees to a hold that is about to run out: it is told once, and then captured or voided by the payment's policy, under the owner key that a
// caller's command would have.
func (a *Activities) HoldDue(ctx context.Context, id payments.PaymentID) error {
	applied, err := a.Apply(ctx, id, Learnt{Source: SourceEngine, HoldDue: true})
	if err != nil || applied.Step.Next == "" {
		return err
	}
	return a.Waker.Wake(ctx, id)
}

// holdDue tells, under the payment's lock, whether somebody has to see to the hold.
func (s situation) holdDue() bool {
	return s.payment.Status == payments.StatusRequiresCapture && s.payment.HoldDueAt != nil && !s.payment.HoldDueAt.After(s.now)
}

// seeToHold warns of the end of a hold, or asks for the command that ends it. One that is open already goes first.
func (ch *change) seeToHold(s situation, durations timing.Timing) {
	last := s.payment.CaptureBefore.Add(-durations.HoldMargin)
	open := slices.ContainsFunc(s.open, func(c command) bool { return c.operation != payments.OperationCreate })
	later := s.now.Add(durations.HoldMargin / 2)
	switch {
	case s.now.Before(last):
		ch.after.HoldWarned, ch.after.HoldDueAt = true, &last
		ch.facts = append(ch.facts, "hold_expiring")
		ch.tell(notifications.PaymentHoldExpiring, notifications.Of{})
	case open:
		ch.after.HoldDueAt = &later
	case s.payment.HoldExpiry == payments.HoldCapture:
		ch.engine, ch.after.HoldDueAt = payments.OperationCapture, &later
		ch.facts = append(ch.facts, "hold_expiry_capture")
	case s.payment.AmountCaptured > 0: // the payment is to succeed with what was captured: what is left of the hold is let go by a last capture
		ch.engine, ch.after.HoldDueAt = payments.OperationCapture, nil
		ch.facts = append(ch.facts, "hold_expiry_void")
	default:
		ch.after.HoldDueAt = nil
		ch.after.Failure = &payments.Failure{Code: payments.FailureHoldExpired}
		ch.engine = payments.OperationCancel
		ch.facts = append(ch.facts, "hold_expiry_void")
	}
}

// hold keeps the pending journals in step with what Stripe holds: all of it once it is authorised, less what is captured, and nothing once the intent
// is over.
func (ch *change) hold(s situation, learnt Learnt, intent stripeapi.Intent) {
	left := int64(0)
	if ch.after.Status == payments.StatusRequiresCapture {
		left = ch.after.AmountCapturable
	}
	held := ledger.Hold{
		Tenant: s.payment.Tenant, Payment: s.payment.ID, Currency: intent.Money.Currency, Held: ch.after.AmountHeld, Left: left,
		Source: string(learnt.Source), EffectiveAt: learnt.EffectiveAt,
	}
	switch {
	case ch.after.AmountHeld == 0 && left > 0:
		ch.postings = append(ch.postings, ledger.HoldPlaced(held))
	case left < ch.after.AmountHeld:
		ch.postings = append(ch.postings, ledger.HoldVoided(held))
	default:
		return
	}
	ch.after.AmountHeld = left
}

// captureHeld takes what was captured out of the hold.
func (ch *change) captureHeld(s situation, learnt Learnt, intent stripeapi.Intent, captured int64) {
	if ch.after.AmountHeld == 0 {
		return
	}
	left := max(ch.after.AmountHeld-captured, 0)
	ch.postings = append(ch.postings, ledger.HoldPosted(ledger.Hold{
		Tenant: s.payment.Tenant, Payment: s.payment.ID, Currency: intent.Money.Currency, Held: ch.after.AmountHeld, Left: left,
		Source: string(learnt.Source), EffectiveAt: learnt.EffectiveAt,
	}))
	ch.after.AmountHeld = left
}

// holdUntil notes when Stripe lets the hold go, and when somebody is to see to it before.
func (ch *change) holdUntil(intent stripeapi.Intent, durations timing.Timing) {
	if ch.after.Status != payments.StatusRequiresCapture {
		ch.after.HoldDueAt = nil
		return
	}
	if intent.Charge == nil || intent.Charge.CaptureBefore.IsZero() || ch.after.CaptureBefore != nil {
		return
	}
	before := intent.Charge.CaptureBefore
	due := before.Add(-durations.HoldWarn)
	ch.after.CaptureBefore, ch.after.HoldDueAt = &before, &due
}
