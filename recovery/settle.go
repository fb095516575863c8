package recovery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

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

// namedEvent is a stored event with what it says of a payment intent.
type namedEvent struct {
	storedEvent
	said stripeapi.Event
}

// read reads a stored event; one that names neither payment intent nor payout, or that nobody can read, is closed, and the result is nil.
func (a *Applier) read(ctx context.Context, stored storedEvent) (*namedEvent, error) {
	event, err := stripeapi.ParseEvent(stored.Body, stored.account())
	switch {
	case err != nil:
		a.Log.Error("an event cannot be read: quarantined", "event", stored.EventID, "type", stored.Type, "error", err)
		return nil, a.close(ctx, stored, eventQuarantined, "unreadable: "+err.Error())
	case event.IntentID == "" && event.Kind != kindPayout:
		return nil, a.close(ctx, stored, eventIgnored, "names no payment intent")
	default:
		return &namedEvent{stored, event}, nil
	}
}

// byIntent parts events by the intent that they name. Those after which nothing more can happen come first: they say what the others hint at.
func byIntent(events []namedEvent) [][]namedEvent {
	type intent struct {
		account payments.Account
		id      string
	}
	var parts [][]namedEvent
	at := map[intent]int{}
	for _, event := range events {
		of := intent{event.account(), cmp.Or(event.said.IntentID, event.said.Object)} // a payout names no intent
		if _, known := at[of]; !known {
			at[of], parts = len(parts), append(parts, nil)
		}
		parts[at[of]] = append(parts[at[of]], event)
	}
	for _, part := range parts {
		slices.SortStableFunc(part, func(a, b namedEvent) int { return b.absorbing() - a.absorbing() })
	}
	return parts
}

func (e namedEvent) absorbing() int {
	if e.said.Intent != nil && e.said.Intent.Status.Absorbing() {
		return 1
	}
	return 0
}

// settle applies events of one intent to its payment, in one transaction, or parks them, or says why they are nobody's.
func (a *Applier) settle(ctx context.Context, events []namedEvent) error {
	if events[0].said.Kind == kindPayout {
		return a.settlePayouts(ctx, events)
	}
	payment, err := a.match(ctx, events)
	if err != nil && !errors.Is(err, paymentstore.ErrNotFound) {
		return err
	}
	found := err == nil
	var ours []namedEvent
	for _, event := range events {
		switch {
		case !found && event.said.Payment == "":
			err = a.close(ctx, event.storedEvent, eventForeign, "not ours: the object does not carry our metadata")
		case !found:
			err = a.park(ctx, event.storedEvent)
		case payment.Account != event.account():
			a.Log.Error("an event of another account names our payment: quarantined", "event", event.EventID, "payment", payment.ID)
			err = a.close(ctx, event.storedEvent, eventQuarantined, "another account or mode than the payment's")
		default:
			ours, err = append(ours, event), nil
		}
		if err != nil {
			return err
		}
	}
	return a.share(ctx, ours, payment)
}

// share brings each event to what applies its kind of fact. What tells of the intent goes first: what it took can be given back.
func (a *Applier) share(ctx context.Context, events []namedEvent, payment payments.Payment) error {
	var intents, refunds, disputes []namedEvent
	for _, event := range events {
		switch {
		case event.tellsOfRefunds():
			refunds = append(refunds, event)
		case event.tellsOfDisputes():
			disputes = append(disputes, event)
		default:
			intents = append(intents, event)
		}
	}
	if len(intents) > 0 {
		if err := a.apply(ctx, intents, payment); err != nil {
			return err
		}
	}
	if len(refunds)+len(disputes) == 0 {
		return nil
	}
	if len(intents) > 0 { // it may have been bound just now
		var err error
		if payment, err = paymentstore.ByID(ctx, a.Pool, a.Sealer, payment.ID); err != nil {
			return err
		}
	}
	if len(disputes) > 0 {
		if err := a.settleDisputes(ctx, disputes, payment); err != nil {
			return err
		}
	}
	if len(refunds) == 0 {
		return nil
	}
	return a.settleRefunds(ctx, refunds, payment)
}

// match finds the payment by the intent that it is bound to, else by the metadata that we put on the intent.
func (a *Applier) match(ctx context.Context, events []namedEvent) (payments.Payment, error) {
	payment, err := paymentstore.ByIntent(ctx, a.Pool, a.Sealer, events[0].account(), events[0].said.IntentID)
	if !errors.Is(err, paymentstore.ErrNotFound) {
		return payment, err
	}
	for _, event := range events {
		id, err := uuid.Parse(event.said.Payment)
		if err != nil {
			continue
		}
		return paymentstore.ByID(ctx, a.Pool, a.Sealer, payments.PaymentID{UUID: id})
	}
	return payments.Payment{}, paymentstore.ErrNotFound
}

// apply brings the events to the payment. An event is a hint: an absorbing state is true in any snapshot, anything else is read at Stripe, once for
// all of them. Events that say nothing new are only counted.
func (a *Applier) apply(ctx context.Context, events []namedEvent, payment payments.Payment) error {
	var repeated activities.Repeated
	facts := make([]activities.Learnt, 0, len(events))
	reader := &intentReader{applier: a, payment: payment, intent: events[0].said.IntentID}
	surplus := payment.IntentID != "" && payment.IntentID != events[0].said.IntentID
	ended, took := payment.Status.Terminal(), payment.AmountCaptured > 0
	for _, event := range events {
		switch event.repeats(payment) {
		case staleRepeat:
			repeated.Stale = append(repeated.Stale, event.ID)
			continue
		case offeredRepeat:
			repeated.Offered = append(repeated.Offered, event.ID)
			continue
		case noRepeat: // it is applied below
		}
		learnt, err := event.learnt(ctx, reader, payment, surplus, ended, took)
		if err != nil {
			return err
		}
		if surplus && learnt.Intent != nil && !learnt.Intent.Status.Absorbing() {
			// Before the event is settled: one that is settled never comes here again.
			if err := a.Activities.CancelSurplus(ctx, payment, event.said.IntentID); err != nil {
				return err
			}
		}
		if learnt.Intent != nil && !surplus {
			ended, took = ended || learnt.Intent.Status.Absorbing(), took || learnt.Intent.AmountReceived > 0
		}
		facts = append(facts, learnt)
	}
	if len(repeated.Offered)+len(repeated.Stale) > 0 {
		if err := a.Activities.Repeat(ctx, payment, repeated); err != nil {
			return err
		}
	}
	if len(facts) == 0 {
		return nil
	}
	_, err := a.Activities.ApplyAll(ctx, payment.ID, facts...)
	return err
}

// repeat is whether an event says only what the payment holds.
type repeat int

const (
	noRepeat      repeat = iota
	staleRepeat          // and implies nothing
	offeredRepeat        // and implies the money and the message of the payment's ending
)

// repeats compares an event with the payment as it was just read. Only what can never become untrue counts: the binding, and the ending with its money.
func (e namedEvent) repeats(p payments.Payment) repeat {
	intent := e.said.Intent
	switch {
	case p.IntentID != e.said.IntentID, e.illegible():
		return noRepeat
	case e.Type == "payment_intent.created":
		return staleRepeat // the payment is bound to it: there is nothing that it could say
	case p.Stage != payments.StageLedgerApplied || p.Review != nil:
		return noRepeat
	case intent != nil && intent.Status == stripeapi.IntentSucceeded:
		if p.Status != payments.StatusSucceeded || intent.AmountReceived > p.AmountCaptured {
			return noRepeat
		}
		return offeredRepeat
	case intent != nil && intent.AmountReceived > 0, intent != nil && intent.Status.Absorbing():
		return noRepeat
	case impliesMoney(e.Type) && p.AmountCaptured > 0:
		return offeredRepeat
	default:
		return staleRepeat
	}
}

// learnt is what the event brings to a payment that has ended, or has taken money, or not.
func (e namedEvent) learnt(ctx context.Context, reader *intentReader, payment payments.Payment, surplus, ended, took bool) (activities.Learnt, error) {
	learnt := activities.Learnt{Source: activities.SourceEvent, EffectiveAt: e.said.Created, Event: &e.ID}
	created := e.Type == "payment_intent.created"
	intent := e.said.Intent
	switch {
	case e.illegible(), intent != nil && (surplus || intent.Status.Absorbing() && !saysAllOf(payment, *intent)):
		err := reader.into(ctx, &learnt)
		return learnt, err
	case intent != nil && (intent.Status.Absorbing() || payment.IntentID == "" && created && activities.Fits(payment, *intent)):
		learnt.Intent = intent
	case created || ended:
		learnt.Implied = impliesMoney(e.Type) && took
	default:
		err := reader.into(ctx, &learnt)
		return learnt, err
	}
	return learnt, nil
}

// illegible tells whether the event is about an intent that its API version wrote in a way that we cannot read: it says only that there is something to read.
func (e namedEvent) illegible() bool { return e.said.Kind == "payment_intent" && e.said.Intent == nil }

// saysAllOf tells whether a snapshot of an intent that is over says by itself what there is to know: it is the payment's own, holds nothing, and took nothing
// or just what the payment is of. Whatever else took money is believed of a read alone; so is a charge that goes unnamed, as versions before 2022-11-15 write
// it (https://docs.stripe.com/changelog): it names the posting.
func saysAllOf(p payments.Payment, intent stripeapi.Intent) bool {
	took := intent.AmountReceived
	all := took == p.Money.Amount && p.CaptureMethod == payments.CaptureAutomatic && intent.LatestCharge != ""
	return activities.Fits(p, intent) && intent.AmountCapturable == 0 && (took == 0 || all)
}

// intentReader reads an intent at Stripe at most once.
type intentReader struct {
	applier *Applier
	payment payments.Payment
	intent  string
	read    *stripeapi.Intent
	begun   time.Time
}

func (r *intentReader) into(ctx context.Context, learnt *activities.Learnt) error {
	if r.read == nil {
		read, begun, err := r.applier.Activities.ReadAtStripe(ctx, r.payment, r.intent)
		if err != nil {
			return err
		}
		r.read, r.begun = &read, begun
	}
	learnt.Intent, learnt.BegunAt = r.read, r.begun
	return nil
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
