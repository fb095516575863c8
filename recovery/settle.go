package recovery

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"payonce/activities"
	"payonce/internal/paymentstore"
	"payonce/internal/stripeapi"
	"payonce/payments"
)

// Statuses of an event that no payment settles.
const (
	eventIgnored     = "ignored"
	eventForeign     = "foreign"
	eventQuarantined = "quarantined"
)

// settle applies an event to its payment, parks it, or says why it is nobody's.
func (a *Applier) settle(ctx context.Context, stored storedEvent) error {
	event, err := stripeapi.ParseEvent(stored.Body, stored.account())
	if err != nil {
		a.Log.Error("an event cannot be read: quarantined", "event", stored.EventID, "type", stored.Type, "error", err)
		return a.close(ctx, stored, eventQuarantined, "unreadable: "+err.Error())
	}
	if event.IntentID == "" {
		return a.close(ctx, stored, eventIgnored, "names no payment intent")
	}
	payment, err := a.match(ctx, stored, event)
	switch {
	case errors.Is(err, paymentstore.ErrNotFound) && event.Payment == "":
		return a.close(ctx, stored, eventForeign, "not ours: the object does not carry our metadata")
	case errors.Is(err, paymentstore.ErrNotFound):
		return a.park(ctx, stored)
	case err != nil:
		return err
	case payment.Account != stored.account():
		a.Log.Error("an event of another account names our payment: quarantined", "event", stored.EventID, "payment", payment.ID)
		return a.close(ctx, stored, eventQuarantined, "another account or mode than the payment's")
	}
	return a.apply(ctx, stored, event, payment)
}

// match finds the payment by the intent that it is bound to, else by the metadata that we put on the intent.
func (a *Applier) match(ctx context.Context, stored storedEvent, event stripeapi.Event) (payments.Payment, error) {
	payment, err := paymentstore.ByIntent(ctx, a.Pool, a.Sealer, stored.account(), event.IntentID)
	if !errors.Is(err, paymentstore.ErrNotFound) || event.Payment == "" {
		return payment, err
	}
	id, err := uuid.Parse(event.Payment)
	if err != nil {
		return payments.Payment{}, paymentstore.ErrNotFound
	}
	return paymentstore.ByID(ctx, a.Pool, a.Sealer, payments.PaymentID{UUID: id})
}

// apply brings the event to the payment. An event is a hint: an absorbing state is true in any snapshot, anything else is read at Stripe.
func (a *Applier) apply(ctx context.Context, stored storedEvent, event stripeapi.Event, payment payments.Payment) error {
	learnt := activities.Learnt{Source: activities.SourceEvent, EffectiveAt: event.Created, Event: &stored.ID}
	if took := event.Intent; took != nil && took.AmountReceived > 0 && took.LatestCharge == "" {
		// As versions before 2022-11-15 write it (https://docs.stripe.com/changelog): the charge, which names the posting, is read.
		read, begun, err := a.Activities.ReadAtStripe(ctx, payment, event.IntentID)
		if err != nil {
			return err
		}
		event.Intent, learnt.BegunAt = &read, begun
	}
	surplus := payment.IntentID != "" && payment.IntentID != event.IntentID
	switch {
	case event.Intent != nil && (event.Intent.Status.Absorbing() || surplus || payment.IntentID == "" && event.Type == "payment_intent.created"):
		learnt.Intent = event.Intent
	case event.Type == "payment_intent.created" || payment.Status.Terminal():
		learnt.Implied = impliesMoney(event.Type) && payment.AmountCaptured > 0
	default:
		intent, begun, err := a.Activities.ReadAtStripe(ctx, payment, event.IntentID)
		if err != nil {
			return err
		}
		learnt.Intent, learnt.BegunAt = &intent, begun
	}
	if surplus && learnt.Intent != nil && !learnt.Intent.Status.Absorbing() {
		// Before the event is settled: one that is settled never comes here again.
		if err := a.Activities.CancelSurplus(ctx, payment, event.IntentID); err != nil {
			return err
		}
	}
	_, err := a.Activities.Apply(ctx, payment.ID, learnt)
	return err
}

// impliesMoney tells whether an event of the type says again that money was taken.
func impliesMoney(eventType string) bool {
	switch eventType {
	case "payment_intent.succeeded", "charge.succeeded", "charge.captured":
		return true
	default:
		return false
	}
}

// park keeps an event of ours whose payment is not known yet; beyond ParkedMaximum it is somebody else's.
func (a *Applier) park(ctx context.Context, stored storedEvent) error {
	if stored.Age > a.Timing.ParkedMaximum {
		a.Log.Error("a parked event matched nothing in time", "event", stored.EventID, "type", stored.Type)
		return a.close(ctx, stored, eventForeign, "carries our metadata, and no such payment came to be")
	}
	_, err := a.Pool.Exec(ctx, `
		UPDATE payonce.provider_events SET status = 'parked', reason = 'no such payment yet', next_try_at = payonce.clock() + $2::interval
		WHERE id = $1 AND settled_at IS NULL`, stored.ID, a.Timing.ParkedEvery)
	if err != nil {
		return fmt.Errorf("park event: %w", err)
	}
	return nil
}

// close settles an event that no payment takes.
func (a *Applier) close(ctx context.Context, stored storedEvent, status, reason string) error {
	_, err := a.Pool.Exec(ctx, `
		UPDATE payonce.provider_events SET status = $2, reason = $3, next_try_at = NULL, settled_at = payonce.clock()
		WHERE id = $1 AND settled_at IS NULL`, stored.ID, status, reason)
	if err != nil {
		return fmt.Errorf("close event: %w", err)
	}
	return nil
}
