package activities

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"payonce/internal/paymentstore"
	"payonce/internal/stripeapi"
	"payonce/payments"
)

// LearntRefund is what somebody brings of a refund: what Stripe says of it, or that Stripe refused to make it.
type LearntRefund struct {
	Source      Source
	Refund      *stripeapi.Refund  // nil with a refusal, and with a fact that only marks its event
	Of          *payments.RefundID // the refund that a call of ours was about
	BegunAt     time.Time          // payonce.clock() when the read or the send began; zero for an event's snapshot, which counts only when absorbing
	EffectiveAt time.Time
	Answer      *AnsweredCall // the call of ours that this answers
	Answers     bool          // it is what the command that is open asked for, and answers it
	Event       *uuid.UUID    // the stored event, to be marked in the same commit
}

// ApplyRefunds applies what Stripe says of refunds of a payment, whoever brings it, as Apply does for the payment itself: one transaction locks the
// payment, binds or adopts each refund, moves it if the fact is ahead, posts the money that moved, queues the messages, completes the commands and marks
// the events.
func (a *Activities) ApplyRefunds(ctx context.Context, id payments.PaymentID, facts ...LearntRefund) error {
	var refunds []payments.Refund
	return a.applyBeside(ctx, id, "refunds", func(reading *pgx.Batch) { paymentstore.QueueRefunds(reading, id, &refunds) },
		func(all *application, tx pgx.Tx) error {
			for _, learnt := range facts {
				if err := all.applyRefund(ctx, tx, &refunds, learnt); err != nil {
					return err
				}
			}
			return nil
		})
}

// applyRefund applies one fact to the refunds as they stand.
func (all *application) applyRefund(ctx context.Context, tx pgx.Tx, refunds *[]payments.Refund, learnt LearntRefund) error {
	s := all.at
	ch := change{after: s.payment, verdict: VerdictStale, before: s.payment.Status}
	before, place, err := all.findRefund(ctx, tx, &ch, s, *refunds, learnt)
	if err != nil {
		return err
	}
	after := before
	if place != nowhere {
		ch.decideRefund(s, &after, learnt)
	}
	fact := Learnt{Source: learnt.Source, EffectiveAt: learnt.EffectiveAt, Event: learnt.Event, Answer: learnt.Answer}
	if err := all.write(ctx, tx, s, fact, &ch); err != nil {
		return err
	}
	if place != nowhere {
		if err := all.writeRefund(before, after, place == adopted, learnt); err != nil {
			return err
		}
		*refunds = placed(*refunds, after)
	}
	all.at = s.after(ch)
	return nil
}

// placed puts the refund in the place of the one with its id, or at the end.
func placed(refunds []payments.Refund, refund payments.Refund) []payments.Refund {
	for i := range refunds {
		if refunds[i].ID == refund.ID {
			refunds[i] = refund
			return refunds
		}
	}
	return append(refunds, refund)
}

// place is where a fact of a refund belongs.
type place int

const (
	nowhere place = iota // it tells of no refund, or of none that is the payment's
	held                 // a refund that we hold
	adopted              // one that was made elsewhere, seen for the first time
)

// findRefund finds the refund that a fact tells of: by our call, by Stripe's id, or by the metadata that we put on it, while ours is not bound. Any other
// refund of the payment's intent was made elsewhere, or was ours before the database was restored.
func (all *application) findRefund(ctx context.Context, tx pgx.Tx, ch *change, s situation, refunds []payments.Refund, learnt LearntRefund,
) (payments.Refund, place, error) {
	said := learnt.Refund
	for _, refund := range refunds {
		ours := learnt.Of != nil && refund.ID == *learnt.Of && (said == nil || refund.ProviderID == "" || refund.ProviderID == said.ID)
		if ours || said != nil && refund.ProviderID == said.ID {
			return refund, held, nil
		}
	}
	if said == nil {
		return payments.Refund{}, nowhere, nil
	}
	if said.Account != s.payment.Account || said.Intent != s.payment.IntentID || said.Money.Currency != s.payment.Money.Currency {
		all.Log.Error("a refund does not fit its payment: quarantined", "payment", s.payment.ID, "refund", said.ID)
		ch.verdict = VerdictQuarantined
		ch.review(s, "quarantined_refund", said)
		return payments.Refund{}, nowhere, nil
	}
	for _, refund := range refunds {
		if said.Metadata[payments.MetadataRefund] != refund.ID.String() {
			continue
		}
		if refund.ProviderID == "" && refund.Money.Amount == said.Money.Amount {
			return refund, held, nil
		}
		all.Log.Error("Stripe has a refund too many: it names one of ours that is bound to another", "payment", s.payment.ID, "refund", said.ID)
		ch.review(s, "surplus_refund", said)
	}
	made, err := adoptedRefund(ctx, tx, s, refunds, *said)
	if err != nil {
		return payments.Refund{}, nowhere, err
	}
	return made, adopted, nil
}

// adoptedRefund is the row of a refund that was made elsewhere, or was ours before the database was restored.
func adoptedRefund(ctx context.Context, tx pgx.Tx, s situation, refunds []payments.Refund, said stripeapi.Refund) (payments.Refund, error) {
	id, lost, err := lostRefund(ctx, tx, s.payment, said)
	if err != nil {
		return payments.Refund{}, err
	}
	if !lost {
		id = externalRefundID(s.payment, said.ID)
	}
	reason := &said.Reason
	if said.Reason == "" {
		reason = nil
	}
	return payments.Refund{
		ID: id, Tenant: s.payment.Tenant, Payment: s.payment.ID, Money: said.Money, Reason: reason,
		Metadata: map[string]string{}, Status: payments.RefundSubmitted, Stage: payments.StageSubmitted, CreatedAt: s.now.UTC(),
		TakenFrom: takenFrom(s.payment, refunds, said.Money.Amount), Reached: map[payments.Stage]time.Time{payments.StageSubmitted: said.Created},
	}, nil
}

// review marks the payment for a person, unless it is marked already.
func (ch *change) review(s situation, reason string, said *stripeapi.Refund) {
	if ch.after.Review == nil {
		ch.after.Review = &payments.Review{Reason: reason, Since: s.now, Facts: map[string]any{"refund": said.ID, "amount": said.Money.Amount}}
	}
}
