package ledger

import (
	"fmt"
	"time"

	"payonce/boundaries"
	"payonce/payments"
)

// DisputeMove is the fact that a balance transaction of a dispute moved money: withdrawn when it was opened, reinstated when it was won.
type DisputeMove struct {
	Tenant             payments.TenantID
	Payment            *payments.PaymentID // nil while it is not known whose it is
	Dispute            string              // dp_…
	BalanceTransaction string              // txn_…
	Currency           payments.Currency   // of the balance transaction
	Amount             int64               // as Stripe says it, minor units: negative is withdrawn, positive reinstated
	Fee                int64               // as Stripe says it, minor units: positive is taken, negative given back
	Source             string              // what brought the fact
	EffectiveAt        time.Time           // when Stripe moved it
}

// Disputed books what a balance transaction of a dispute moved, its fee too. What is withdrawn is held apart until the dispute is decided. It answers
// false, and nothing to post, when it moved nothing.
func Disputed(d DisputeMove) (Posting, bool) {
	var moved []Entry
	for _, entry := range []Entry{
		{Account: DisputesHeld, Amount: -d.Amount, Currency: d.Currency},
		{Account: StripeFees, Amount: d.Fee, Currency: d.Currency},
		{Account: StripeReceivable, Amount: d.Amount - d.Fee, Currency: d.Currency},
	} {
		if entry.Amount != 0 {
			moved = append(moved, entry)
		}
	}
	return Posting{
		Tenant: d.Tenant, Key: boundaries.DisputePostingKey(d.Dispute, d.BalanceTransaction), Rule: "disputed", Payment: d.Payment, Source: d.Source,
		Memo:        fmt.Sprintf("dispute %s moved %d, fee %d", d.Dispute, d.Amount, d.Fee),
		EffectiveAt: d.EffectiveAt, Entries: moved,
	}, len(moved) > 0
}

// DisputeLoss is the fact that a dispute was lost.
type DisputeLoss struct {
	Tenant      payments.TenantID
	Payment     *payments.PaymentID // nil while it is not known whose it is
	Dispute     string              // dp_…
	Currency    payments.Currency   // of the amount
	Held        int64               // withdrawn and not reinstated, minor units; read under the payment's lock
	Source      string              // what brought the fact
	EffectiveAt time.Time           // when Stripe closed it
}

// DisputeLost books that what a dispute holds is gone. Its balance transactions are posted before. It answers false, and nothing to post, when it
// holds nothing.
func DisputeLost(d DisputeLoss) (Posting, bool) {
	if d.Held <= 0 {
		return Posting{}, false
	}
	return Posting{
		Tenant: d.Tenant, Key: boundaries.DisputeLostPostingKey(d.Dispute), Rule: "dispute_lost", Payment: d.Payment, Source: d.Source,
		Memo:        fmt.Sprintf("dispute %s lost", d.Dispute),
		EffectiveAt: d.EffectiveAt,
		Entries: []Entry{
			{Account: DisputesLost, Amount: d.Held, Currency: d.Currency},
			{Account: DisputesHeld, Amount: -d.Held, Currency: d.Currency},
		},
	}, true
}

// DisputeRegain is the fact that Stripe gave money back of a dispute that was lost: the bank changed its mind.
type DisputeRegain struct {
	Tenant      payments.TenantID
	Payment     *payments.PaymentID // nil while it is not known whose it is
	Dispute     string              // dp_…
	Currency    payments.Currency   // of the amounts
	Amount      int64               // of what was booked as lost, minor units
	Left        int64               // what is lost after it
	Source      string              // what brought the fact
	EffectiveAt time.Time           // when it was learnt
}

// DisputeRegained takes what DisputeLost booked back, or a part of it: the journal of the loss stands, beside this one that resolves it. The balance
// transaction that gave the money back is posted before.
func DisputeRegained(d DisputeRegain) Posting {
	return Posting{
		Tenant: d.Tenant, Key: boundaries.DisputeRegainedPostingKey(d.Dispute, d.Left), Rule: "dispute_regained", Payment: d.Payment, Source: d.Source,
		Resolves:    boundaries.DisputeLostPostingKey(d.Dispute),
		Memo:        fmt.Sprintf("dispute %s gave %d of its loss back", d.Dispute, d.Amount),
		EffectiveAt: d.EffectiveAt,
		Entries: []Entry{
			{Account: DisputesHeld, Amount: d.Amount, Currency: d.Currency},
			{Account: DisputesLost, Amount: -d.Amount, Currency: d.Currency},
		},
	}
}
