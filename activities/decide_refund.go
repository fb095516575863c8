package activities

import (
	"maps"
	"time"

	"payonce/boundaries"
	"payonce/internal/stripeapi"
	"payonce/ledger"
	"payonce/notifications"
	"payonce/payments"
)

func externalRefundID(p payments.Payment, refund string) payments.RefundID {
	return boundaries.ExternalRefundID(p.Tenant, p.Account, refund)
}

// decideRefund says what a fact makes of a refund, and of its payment.
func (ch *change) decideRefund(s situation, r *payments.Refund, learnt LearntRefund) {
	before := *r
	switch {
	case learnt.Refund != nil:
		ch.followRefund(s, r, learnt, *learnt.Refund)
	case learnt.Answer != nil && learnt.Answer.Refusal != nil && r.ProviderID == "":
		r.LastError = learnt.Answer.Refusal
		ch.moveRefund(r, payments.RefundFailed)
	}
	r.Reached = reachedBy(s, *r, learnt)
	if r.Status != before.Status {
		ch.verdict = VerdictApplied
		ch.announceRefund(r)
	} else if learnt.Event != nil && learnt.Refund != nil && before.ProviderID != "" {
		ch.offerRefundAgain(r)
	}
}

// followRefund binds the refund, books the money that moved and moves the status if Stripe's is ahead.
func (ch *change) followRefund(s situation, r *payments.Refund, learnt LearntRefund, said stripeapi.Refund) {
	if r.ProviderID == "" {
		r.ProviderID, r.Charge = said.ID, said.Charge
		ch.facts = append(ch.facts, "refund_created/"+r.ID.String())
		ch.verdict = VerdictApplied
	}
	over := said.Status == stripeapi.RefundFailed || said.Status == stripeapi.RefundCanceled
	fresh := over || !learnt.BegunAt.IsZero() && (r.ReadBegunAt == nil || !learnt.BegunAt.Before(*r.ReadBegunAt))
	if fresh {
		if begun := learnt.BegunAt; !begun.IsZero() && (r.ReadBegunAt == nil || begun.After(*r.ReadBegunAt)) {
			r.ReadBegunAt = &begun
		}
		ch.moveRefund(r, payments.RefundStatus(said.Status))
		if said.FailureReason != "" {
			r.FailureReason = said.FailureReason
		}
	}
	ch.bookRefund(s, r, learnt, said)
}

// moveRefund goes along an edge of the refund's transition table, or stays.
func (ch *change) moveRefund(r *payments.Refund, to payments.RefundStatus) {
	if to == r.Status || !r.Status.CanBecome(to) {
		return
	}
	r.Status = to
	ch.facts = append(ch.facts, "refund_"+string(to)+"/"+r.ID.String())
	if stage := to.StageOf(); stage.Rank() > r.Stage.Rank() {
		r.Stage = stage
	}
}

// bookRefund posts the money that moved, and that it came back: what happened at Stripe, whichever of it we saw.
func (ch *change) bookRefund(s situation, r *payments.Refund, learnt LearntRefund, said stripeapi.Refund) {
	moved := r.Status == payments.RefundSucceeded || said.BalanceTransaction != "" && !learnt.BegunAt.IsZero()
	fact := ledger.Refund{
		Tenant: s.payment.Tenant, Payment: s.payment.ID, Refund: r.ID.UUID, Currency: r.Money.Currency, Amount: r.Money.Amount,
		From: r.TakenFrom, Source: string(learnt.Source), EffectiveAt: learnt.EffectiveAt,
	}
	if moved && !r.Moved {
		r.Moved = true
		ch.after.AmountRefunded += r.Money.Amount
		ch.postings = append(ch.postings, ledger.RefundOut(fact))
	}
	if r.Moved && !r.Status.Reserves() && !r.Returned {
		r.Returned = true
		ch.after.AmountRefunded -= r.Money.Amount
		ch.postings = append(ch.postings, ledger.RefundBack(fact))
	}
}

// announceRefund adds the message of a refund's new status: none while it is under way.
func (ch *change) announceRefund(r *payments.Refund) {
	kind, told := notifications.KindOfRefund(r.Status)
	if !told {
		return
	}
	ch.tell(kind, notifications.Of{Refund: r.ID.String()})
	view := r.View()
	ch.messages[len(ch.messages)-1].refund = &view
}

// offerRefundAgain offers what the refund that we hold already implies: the unique keys decide, and count.
func (ch *change) offerRefundAgain(r *payments.Refund) {
	ch.verdict = VerdictApplied
	ch.announceRefund(r)
	if r.Moved && len(ch.postings) == 0 {
		ch.suppressedPostings++
	}
}

// reachedBy times the stages that the refund has reached: terminal has the time of the fact, ledger_applied the commit's.
func reachedBy(s situation, r payments.Refund, learnt LearntRefund) map[payments.Stage]time.Time {
	fact := learnt.EffectiveAt
	if fact.IsZero() {
		fact = s.now
	}
	reached := maps.Clone(r.Reached)
	for stage, when := range map[payments.Stage]time.Time{
		payments.StageExternalResourceCreated: s.now, payments.StageProcessing: s.now, payments.StageTerminal: fact, payments.StageLedgerApplied: s.now,
	} {
		external := stage == payments.StageExternalResourceCreated || stage == payments.StageProcessing
		if _, timed := reached[stage]; !timed && stage.Rank() <= r.Stage.Rank() && (r.ProviderID != "" || !external) {
			reached[stage] = when.UTC()
		}
	}
	return reached
}
