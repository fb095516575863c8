package activities

import (
	"maps"
	"slices"
	"time"

	"payonce/internal/stripeapi"
	"payonce/ledger"
	"payonce/notifications"
	"payonce/payments"
)

// decideDispute says what a fact makes of a dispute, and of its payment. What a dispute cost follows its balance transactions, and never its status: an
// inquiry moves no money, and one that is opened is not lost.
func (ch *change) decideDispute(s situation, d *payments.Dispute, isNew bool, learnt LearntDispute) {
	said, before := *learnt.Dispute, *d
	d.Transactions = slices.Clone(before.Transactions)
	if isNew || !learnt.BegunAt.IsZero() {
		d.Money.Amount, d.Reason = said.Money.Amount, said.Reason
		if d.DueBy = nil; !said.DueBy.IsZero() {
			d.DueBy = &said.DueBy
		}
	}
	moved := ch.bookDispute(s, d, learnt)
	if isNew {
		ch.disputeTurns(d, d.Status)
		ch.tellDispute(notifications.DisputeOpened, d)
	} else if learnt.freshFor(*d) {
		ch.followDispute(d, learnt)
	}
	if !slices.Contains(payments.DisputeStatuses(), payments.DisputeStatus(said.Status)) {
		ch.reviewDispute(s, "unknown_dispute_status", said)
	}
	ch.bookLoss(s, d, learnt)
	d.Reached = disputeReached(s, *d, learnt)
	if kind, told := notifications.KindOfDispute(d.Status); told && (isNew || d.Status != before.Status || learnt.Event != nil) {
		ch.tellDispute(kind, d)
	}
	if isNew || moved || d.Status != before.Status || learnt.Event != nil && d.Status == payments.DisputeStatus(said.Status) {
		ch.verdict = VerdictApplied
	}
}

// freshFor tells whether the fact's status is ahead of the dispute's: one that is decided is true in any snapshot, any other only in a read begun later.
func (l LearntDispute) freshFor(d payments.Dispute) bool {
	return payments.DisputeStatus(l.Dispute.Status).Terminal() || !l.BegunAt.IsZero() && (d.ReadBegunAt == nil || !l.BegunAt.Before(*d.ReadBegunAt))
}

// followDispute goes along an edge of the transition table, or stays.
func (ch *change) followDispute(d *payments.Dispute, learnt LearntDispute) {
	if begun := learnt.BegunAt; !begun.IsZero() && (d.ReadBegunAt == nil || begun.After(*d.ReadBegunAt)) {
		d.ReadBegunAt = &begun
	}
	to := payments.DisputeStatus(learnt.Dispute.Status)
	if to == d.Status || !d.Status.CanBecome(to) {
		return
	}
	ch.disputeTurns(d, to)
}

func (ch *change) disputeTurns(d *payments.Dispute, to payments.DisputeStatus) {
	d.Status = to
	ch.facts = append(ch.facts, "dispute_"+string(to)+"/"+d.ProviderID)
	if stage := to.StageOf(); stage.Rank() > d.Stage.Rank() {
		d.Stage = stage
	}
}

// bookDispute books the balance transactions that are new, from a read: an event's snapshot moves no money. It answers whether there was one.
func (ch *change) bookDispute(s situation, d *payments.Dispute, learnt LearntDispute) (moved bool) {
	for _, t := range learnt.Dispute.Transactions {
		if slices.Contains(d.Transactions, t.ID) || learnt.BegunAt.IsZero() {
			continue
		}
		amount, told := disputedBy(t, *learnt.Dispute)
		if !told {
			ch.reviewDispute(s, "dispute_exchange_unclear", *learnt.Dispute)
		}
		d.Transactions = append(d.Transactions, t.ID)
		if amount < 0 {
			d.Withdrawn -= amount
		} else {
			d.Reinstated += amount
		}
		ch.postings = append(ch.postings, disputePostings(s.payment, *learnt.Dispute, t, amount, learnt.Source)...)
		moved = true
	}
	if !moved && learnt.Event != nil {
		ch.suppressedPostings += len(learnt.Dispute.Transactions)
	}
	return moved
}

// disputedBy is what a balance transaction of a dispute moved, in the currency of the dispute: negative is withdrawn. Where the account settles in
// another it is all that is disputed; false when the transaction before it moved another amount, so that a part came back.
func disputedBy(t stripeapi.BalanceTransaction, of stripeapi.Dispute) (amount int64, told bool) {
	if t.Money.Currency == of.Money.Currency {
		return t.Money.Amount, true
	}
	told = true
	for _, other := range of.Transactions {
		told = told && (other.Money.Amount == t.Money.Amount || other.Money.Amount == -t.Money.Amount)
	}
	if t.Money.Amount < 0 {
		return -of.Money.Amount, told
	}
	return of.Money.Amount, told
}

// disputePostings are the journals of a balance transaction of a dispute. Where the account settles in another currency, what it moved is exchanged, and
// the fee is one of that currency.
func disputePostings(p payments.Payment, said stripeapi.Dispute, t stripeapi.BalanceTransaction, amount int64, source Source) (postings []ledger.Posting) {
	id, moved := p.ID, ledger.DisputeMove{
		Tenant: p.Tenant, Dispute: said.ID, BalanceTransaction: t.ID, Currency: said.Money.Currency, Amount: amount, Source: string(source), EffectiveAt: t.Created,
	}
	moved.Payment = &id
	elsewhere := t.Money.Currency != said.Money.Currency
	if !elsewhere {
		moved.Fee = t.Fee
	}
	if posting, due := ledger.Disputed(moved); due {
		postings = append(postings, posting)
	}
	if !elsewhere {
		return postings
	}
	exchange, due := ledger.Exchanged(ledger.Exchange{
		Tenant: p.Tenant, Payment: &id, BalanceTransaction: t.ID, Presented: payments.Money{Amount: amount, Currency: said.Money.Currency}, Settled: t.Money,
		Source: string(source), EffectiveAt: t.Created,
	})
	if due {
		postings = append(postings, exchange)
	}
	fee, due := ledger.FeeTaken(ledger.Fee{
		Tenant: p.Tenant, Payment: &id, BalanceTransaction: t.ID, Currency: t.Money.Currency, Amount: t.Fee, Source: string(source), EffectiveAt: t.Created,
	})
	if due {
		postings = append(postings, fee)
	}
	return postings
}

// bookLoss books what a lost dispute holds as gone, once, and takes that back once Stripe has given money back after all.
func (ch *change) bookLoss(s situation, d *payments.Dispute, learnt LearntDispute) {
	if back := d.Lost - max(d.Taken(), 0); back > 0 {
		d.Lost -= back
		ch.postings = append(ch.postings, ledger.DisputeRegained(ledger.DisputeRegain{
			Tenant: d.Tenant, Payment: &s.payment.ID, Dispute: d.ProviderID, Currency: d.Money.Currency, Amount: back, Left: d.Lost,
			Source: string(learnt.Source), EffectiveAt: learnt.EffectiveAt,
		}))
	}
	ch.reviewReversal(s, *d, *learnt.Dispute)
	if d.Status != payments.DisputeLost || d.Lost != 0 {
		return
	}
	id := s.payment.ID
	posting, due := ledger.DisputeLost(ledger.DisputeLoss{
		Tenant: d.Tenant, Payment: &id, Dispute: d.ProviderID, Currency: d.Money.Currency, Held: d.Taken(),
		Source: string(learnt.Source), EffectiveAt: learnt.EffectiveAt,
	})
	if due {
		d.Lost = d.Taken()
		ch.postings = append(ch.postings, posting)
	}
}

// reversed is the review of a dispute that was lost and is won, without its money.
const reversed = "dispute_reversed"

// reviewReversal asks a person about a dispute that was lost and is won without its money, until Stripe shows that.
func (ch *change) reviewReversal(s situation, d payments.Dispute, said stripeapi.Dispute) {
	review := ch.after.Review
	switch {
	case d.Status == payments.DisputeWon && d.Lost > 0:
		ch.reviewDispute(s, reversed, said)
	case review != nil && review.Reason == reversed && review.Facts["dispute"] == d.ProviderID:
		ch.after.Review = nil
	}
}

// tellDispute adds a message about the dispute.
func (ch *change) tellDispute(kind notifications.Kind, d *payments.Dispute) {
	subject, err := kind.Subject(ch.after.ID, notifications.Of{Dispute: d.ID.String()})
	if err != nil {
		return
	}
	view := d.View()
	ch.messages = append(ch.messages, message{kind: kind, subject: subject, dispute: &view})
}

// disputeReached times the stages that the dispute has reached: terminal has the time of the fact, ledger_applied the commit's.
func disputeReached(s situation, d payments.Dispute, learnt LearntDispute) map[payments.Stage]time.Time {
	fact := learnt.EffectiveAt
	if fact.IsZero() {
		fact = s.now
	}
	reached := maps.Clone(d.Reached)
	for stage, when := range map[payments.Stage]time.Time{
		payments.StageExternalResourceCreated: d.CreatedAt, payments.StageProcessing: s.now, payments.StageTerminal: fact, payments.StageLedgerApplied: s.now,
	} {
		if _, timed := reached[stage]; !timed && stage.Rank() <= d.Stage.Rank() {
			reached[stage] = when.UTC()
		}
	}
	return reached
}
