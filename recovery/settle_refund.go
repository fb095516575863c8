package recovery

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"payonce/activities"
	"payonce/internal/paymentstore"
	"payonce/payments"
)

// tellsOfRefunds tells whether the event is about money given back: a refund of any version's events, or a charge whose total of refunds has changed.
func (e namedEvent) tellsOfRefunds() bool {
	return e.said.Kind == "refund" || e.Type == "charge.refunded"
}

// settleRefunds brings events about refunds to their payment. What they say of a refund that we hold in that status is applied from the event; for
// anything else the intent's refunds are listed at Stripe, once for all of them: a charge's total never posts, and an event's snapshot may be old.
func (a *Applier) settleRefunds(ctx context.Context, events []namedEvent, payment payments.Payment) error {
	if events[0].said.IntentID != payment.IntentID {
		for _, event := range events {
			if err := a.close(ctx, event.storedEvent, eventQuarantined, "a refund of an intent that the payment is not bound to"); err != nil {
				return err
			}
		}
		return nil
	}
	held, err := a.refundsOf(ctx, payment.ID)
	if err != nil {
		return err
	}
	var facts []activities.LearntRefund
	var hints []uuid.UUID
	for i := range events {
		if events[i].hints(payment, held) {
			hints = append(hints, events[i].ID)
			continue
		}
		facts = append(facts, activities.LearntRefund{
			Source: activities.SourceEvent, Refund: events[i].said.Refund, EffectiveAt: events[i].said.Created, Event: &events[i].ID,
		})
	}
	if len(hints) > 0 {
		if _, err := a.Activities.SyncRefunds(ctx, payment, activities.SourceEvent, hints); err != nil {
			return err
		}
	}
	if len(facts) == 0 {
		return nil
	}
	return a.Activities.ApplyRefunds(ctx, payment.ID, facts...)
}

// hints tells whether the event says something that we do not hold.
func (e namedEvent) hints(payment payments.Payment, held []payments.Refund) bool {
	if charge := e.said.Charge; e.Type == "charge.refunded" && charge != nil {
		released := charge.Money.Amount - charge.AmountCaptured // of a hold: it was never taken
		return max(charge.AmountRefunded-released, 0) != payment.AmountRefunded
	}
	said := e.said.Refund
	return said == nil || !slices.ContainsFunc(held, func(r payments.Refund) bool {
		return r.ProviderID == said.ID && string(r.Status) == string(said.Status) && (r.Moved || said.BalanceTransaction == "")
	})
}

func (a *Applier) refundsOf(ctx context.Context, payment payments.PaymentID) (held []payments.Refund, err error) {
	batch := &pgx.Batch{}
	paymentstore.QueueRefunds(batch, payment, &held)
	if err := a.Pool.SendBatch(ctx, batch).Close(); err != nil {
		return nil, fmt.Errorf("read refunds of payment %s: %w", payment, err)
	}
	return held, nil
}
