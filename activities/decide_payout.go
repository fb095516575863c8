package activities

import (
	"maps"
	"time"

	"payonce/internal/stripeapi"
	"payonce/ledger"
	"payonce/payments"
)

// payoutChange is what a fact makes of a payout.
type payoutChange struct {
	after    payments.Payout
	verdict  Verdict
	misfit   string // why what Stripe says is not of this payout; empty: it is
	postings []ledger.Posting
}

// decidePayout says what a fact makes of a payout.
func decidePayout(before payments.Payout, learnt LearntPayout, now time.Time) payoutChange {
	ch := payoutChange{after: before, verdict: VerdictStale}
	said := learnt.Payout
	switch {
	case said == nil && learnt.Answer != nil && learnt.Answer.Refusal != nil && before.ProviderID == "":
		ch.after.LastError = learnt.Answer.Refusal
		ch.move(payments.PayoutFailed)
	case said == nil:
		return ch
	case payoutMisfit(before, *said) != "":
		ch.misfit, ch.verdict = payoutMisfit(before, *said), VerdictQuarantined
		if before.Review == nil {
			ch.after.Review = &payments.Review{Reason: "quarantined_payout", Since: now, Facts: map[string]any{
				"payout": said.ID, "amount": said.Money.Amount, "why": ch.misfit,
			}}
		}
		return ch
	default:
		ch.follow(learnt, *said)
	}
	ch.after.Reached = payoutReached(ch.after, learnt.EffectiveAt, now)
	return ch
}

// FitsPayout tells whether an object of Stripe's belongs to the payout.
func FitsPayout(p payments.Payout, said stripeapi.Payout) bool { return payoutMisfit(p, said) == "" }

// payoutMisfit says why an object of Stripe's does not belong to the payout, or nothing. It is bound once, by id.
func payoutMisfit(p payments.Payout, said stripeapi.Payout) string {
	switch {
	case said.Account != p.Account:
		return "another account or mode"
	case p.ProviderID != "" && p.ProviderID != said.ID:
		return "the payout is bound to another"
	case said.Money != p.Money:
		return "another amount or currency"
	default:
		return ""
	}
}

// follow binds the payout, moves the status if Stripe's is ahead and books the money that moved: it leaves when the payout is made, not when the bank has
// it.
func (ch *payoutChange) follow(learnt LearntPayout, said stripeapi.Payout) {
	p := &ch.after
	if p.ProviderID == "" {
		p.ProviderID, ch.verdict = said.ID, VerdictApplied
		if p.Review != nil && p.Review.Reason == "outcome_unknown" {
			p.Review = nil // now it is known
		}
	}
	to := payments.PayoutStatus(said.Status)
	if fresh := !learnt.BegunAt.IsZero() && (p.ReadBegunAt == nil || !learnt.BegunAt.Before(*p.ReadBegunAt)); fresh {
		p.ReadBegunAt, p.Automatic = &learnt.BegunAt, said.Automatic
		if !said.ArrivalDate.IsZero() {
			p.ArrivalDate = &said.ArrivalDate
		}
		ch.move(to)
	} else if to.CameBack() {
		ch.move(to)
	}
	if said.Failure != nil && p.Status == payments.PayoutFailed {
		p.FailureReason = said.Failure.Code
	}
	if learnt.Event != nil && to == p.Status {
		ch.verdict = VerdictApplied // it says what we hold
	}
	fact := ledger.Payout{
		Tenant: p.Tenant, Payout: p.ID.UUID, Currency: p.Money.Currency, Amount: p.Money.Amount, Source: string(learnt.Source), EffectiveAt: said.Created,
	}
	if !p.Moved {
		p.Moved = true
		ch.postings = append(ch.postings, ledger.PaidOut(fact))
	}
	if p.Status.CameBack() && !p.Returned {
		p.Returned, fact.EffectiveAt = true, learnt.EffectiveAt
		ch.postings = append(ch.postings, ledger.PayoutBack(fact))
	}
}

// move goes along an edge of the payout's transition table, or stays.
func (ch *payoutChange) move(to payments.PayoutStatus) {
	p := &ch.after
	if to == p.Status || !p.Status.CanBecome(to) {
		return
	}
	p.Status, ch.verdict = to, VerdictApplied
	if stage := to.StageOf(); stage.Rank() > p.Stage.Rank() {
		p.Stage = stage
	}
}

// payoutReached times the stages that the payout has reached: terminal has the time of the fact, ledger_applied the commit's.
func payoutReached(p payments.Payout, fact, now time.Time) map[payments.Stage]time.Time {
	if fact.IsZero() {
		fact = now
	}
	reached := maps.Clone(p.Reached)
	for stage, when := range map[payments.Stage]time.Time{
		payments.StageExternalResourceCreated: now, payments.StageProcessing: now, payments.StageTerminal: fact, payments.StageLedgerApplied: now,
	} {
		external := stage == payments.StageExternalResourceCreated || stage == payments.StageProcessing
		if _, timed := reached[stage]; !timed && stage.Rank() <= p.Stage.Rank() && (p.ProviderID != "" || !external) {
			reached[stage] = when.UTC()
		}
	}
	return reached
}
