package ledger

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"payonce/boundaries"
	"payonce/payments"
)

// Payout is the fact that Stripe sends what it holds to the bank, or that it came back from there.
type Payout struct {
	Tenant      payments.TenantID
	Payout      uuid.UUID         // our id of it
	Currency    payments.Currency // of the amount
	Amount      int64             // minor units
	Source      string            // what brought the fact
	EffectiveAt time.Time         // when it happened at Stripe
}

// PaidOut books that a payout was created: Stripe takes the money out of what it holds then, not when the bank has it.
func PaidOut(p Payout) Posting {
	return p.posting(boundaries.PayoutOutPostingKey(p.Payout), "paid_out", 1)
}

// PayoutBack books that a payout failed or was canceled: the reverse of PaidOut, which it resolves.
func PayoutBack(p Payout) Posting {
	posting := p.posting(boundaries.PayoutBackPostingKey(p.Payout), "payout_returned", -1)
	posting.Resolves = boundaries.PayoutOutPostingKey(p.Payout)
	return posting
}

func (p Payout) posting(key boundaries.PostingKey, rule string, sign int64) Posting {
	return Posting{
		Tenant: p.Tenant, Key: key, Rule: rule, Source: p.Source, Memo: fmt.Sprintf("payout %s of %d", p.Payout, p.Amount), EffectiveAt: p.EffectiveAt,
		Entries: []Entry{
			{Account: BankSettlement, Amount: sign * p.Amount, Currency: p.Currency},
			{Account: StripeReceivable, Amount: -sign * p.Amount, Currency: p.Currency},
		},
	}
}
