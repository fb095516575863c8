package activities

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"payonce/boundaries"
	"payonce/internal/paymentstore"
	"payonce/internal/stripeapi"
	"payonce/payments"
)

// LearntDispute is what somebody brings of a dispute.
type LearntDispute struct {
	Source      Source
	Dispute     *stripeapi.Dispute
	BegunAt     time.Time // payonce.clock() when the read began; zero for an event's snapshot: its status counts only when it is decided, its money never
	EffectiveAt time.Time
	Event       *uuid.UUID // the stored event, to be marked in the same commit
}

// ApplyDisputes applies what Stripe says of disputes of a payment, whoever brings it, as ApplyRefunds does: one transaction locks the payment, takes up each
// dispute, books each balance transaction that is new, moves the status if the fact is ahead, queues the messages and marks the events. It needs
// no workflow, and a payment that was over long ago is as good as any.
func (a *Activities) ApplyDisputes(ctx context.Context, id payments.PaymentID, facts ...LearntDispute) error {
	var disputes []payments.Dispute
	return a.applyBeside(ctx, id, "disputes", func(reading *pgx.Batch) { paymentstore.QueueDisputes(reading, id, &disputes) },
		func(all *application, tx pgx.Tx) error {
			for _, learnt := range facts {
				if err := all.applyDispute(ctx, tx, &disputes, learnt); err != nil {
					return err
				}
			}
			queueDisputed(all.last, id, disputes)
			return nil
		})
}

// applyDispute applies one fact to the disputes as they stand.
func (all *application) applyDispute(ctx context.Context, tx pgx.Tx, disputes *[]payments.Dispute, learnt LearntDispute) error {
	s := all.at
	ch := change{after: s.payment, verdict: VerdictStale, before: s.payment.Status}
	fact := Learnt{Source: learnt.Source, EffectiveAt: learnt.EffectiveAt, Event: learnt.Event}
	if !disputeFits(s.payment, *learnt.Dispute) {
		all.Log.Error("a dispute does not fit its payment: quarantined", "payment", s.payment.ID, "dispute", learnt.Dispute.ID)
		ch.verdict = VerdictQuarantined
		ch.reviewDispute(s, "quarantined_dispute", *learnt.Dispute)
		return all.write(ctx, tx, s, fact, &ch)
	}
	before, isNew := takeUp(s, *disputes, *learnt.Dispute)
	after := before
	ch.decideDispute(s, &after, isNew, learnt)
	outside := all.outside
	if err := all.write(ctx, tx, s, fact, &ch); err != nil {
		return err
	}
	all.outside = outside // the payment's workflow waits for nothing of this
	all.queueDispute(before, after, isNew, learnt)
	*disputes = placedDispute(*disputes, after)
	all.at = s.after(ch)
	return nil
}

// disputeFits tells whether the dispute is one of the payment's money.
func disputeFits(p payments.Payment, said stripeapi.Dispute) bool {
	return said.Account == p.Account && said.Intent == p.IntentID && said.Money.Currency == p.Money.Currency
}

// takeUp finds the dispute, or takes it up as Stripe says it; true when it is new.
func takeUp(s situation, disputes []payments.Dispute, said stripeapi.Dispute) (payments.Dispute, bool) {
	for _, dispute := range disputes {
		if dispute.ProviderID == said.ID {
			return dispute, false
		}
	}
	p := s.payment
	return payments.Dispute{
		ID: boundaries.DisputeID(p.Tenant, p.Account, said.ID), Tenant: p.Tenant, Payment: p.ID, ProviderID: said.ID, Charge: said.Charge,
		Money: said.Money, Reason: said.Reason, Status: statusAtFirst(said), Stage: payments.StageExternalResourceCreated,
		Reached: map[payments.Stage]time.Time{}, CreatedAt: said.Created,
	}, true
}

// statusAtFirst is the status in which a dispute is taken up. One that we do not know (newer API versions have more) is that of a dispute that waits: its
// money is booked all the same, and it is read on.
func statusAtFirst(said stripeapi.Dispute) payments.DisputeStatus {
	status := payments.DisputeStatus(said.Status)
	switch {
	case slices.Contains(payments.DisputeStatuses(), status):
		return status
	case len(said.Transactions) > 0:
		return payments.DisputeNeedsResponse
	default:
		return payments.DisputeWarningNeedsResponse
	}
}

func placedDispute(disputes []payments.Dispute, dispute payments.Dispute) []payments.Dispute {
	for i := range disputes {
		if disputes[i].ID == dispute.ID {
			disputes[i] = dispute
			return disputes
		}
	}
	return append(disputes, dispute)
}

// reviewDispute marks the payment for a person, unless it is marked already.
func (ch *change) reviewDispute(s situation, reason string, said stripeapi.Dispute) {
	if ch.after.Review == nil {
		ch.after.Review = &payments.Review{Reason: reason, Since: s.now, Facts: map[string]any{"dispute": said.ID, "amount": said.Money.Amount}}
	}
}
