package recovery

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"payonce/activities"
	"payonce/internal/budget"
	"payonce/internal/paymentstore"
	"payonce/payments"
)

// tellsOfDisputes tells whether the event is about money that the payer's bank asks for.
func (e namedEvent) tellsOfDisputes() bool { return e.said.Kind == "dispute" }

// settleDisputes brings events about disputes to their payment. What they say of a dispute whose money we hold, and that is decided or in the status that we
// hold, is applied from the event; for anything else the dispute is read at Stripe, once for all of its events: a snapshot may be old.
func (a *Applier) settleDisputes(ctx context.Context, events []namedEvent, payment payments.Payment) error {
	var held []payments.Dispute
	batch := &pgx.Batch{}
	paymentstore.QueueDisputes(batch, payment.ID, &held)
	if err := a.Pool.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("read disputes of payment %s: %w", payment.ID, err)
	}
	read := map[string]activities.LearntDispute{}
	facts := make([]activities.LearntDispute, 0, len(events))
	for i := range events {
		event := &events[i]
		learnt := activities.LearntDispute{Source: activities.SourceEvent, Dispute: event.said.Dispute, EffectiveAt: event.said.Created, Event: &event.ID}
		if !event.saysWhatIsHeld(held) {
			if _, again := read[event.said.Object]; !again {
				said, begun, err := a.Activities.ReadDisputeAtStripe(ctx, payment, event.said.Object, budget.Reads)
				if err != nil {
					return err
				}
				read[event.said.Object] = activities.LearntDispute{Dispute: &said, BegunAt: begun}
			}
			learnt.Dispute, learnt.BegunAt = read[event.said.Object].Dispute, read[event.said.Object].BegunAt
		}
		facts = append(facts, learnt)
	}
	return a.Activities.ApplyDisputes(ctx, payment.ID, facts...)
}

// saysWhatIsHeld tells whether the event needs no read: all its money is held, and its dispute is decided, or is held in the status that it says.
func (e *namedEvent) saysWhatIsHeld(held []payments.Dispute) bool {
	said := e.said.Dispute
	if said == nil {
		return false
	}
	at := slices.IndexFunc(held, func(d payments.Dispute) bool { return d.ProviderID == said.ID })
	if at < 0 || held[at].Money != said.Money {
		return false
	}
	for _, t := range said.Transactions {
		if !slices.Contains(held[at].Transactions, t.ID) {
			return false
		}
	}
	return payments.DisputeStatus(said.Status).Terminal() || string(held[at].Status) == string(said.Status)
}
