package ledger

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"payonce/boundaries"
	"payonce/payments"
)

// Refund is the fact that money of a payment went back to the payer, or that it came back from there.
type Refund struct {
	Tenant      payments.TenantID
	Payment     payments.PaymentID
	Refund      uuid.UUID              // our id of it
	Currency    payments.Currency      // of the amounts
	Amount      int64                  // minor units
	From        []payments.Destination // who gives it back, as Shares.TakeBack said when the refund was made; none: the merchant all of it
	Source      string                 // what brought the fact
	EffectiveAt time.Time              // when it happened at Stripe
}

// RefundOut books that a refund took its money: Stripe owes us less, and we owe less to the merchant or to who else got it.
func RefundOut(r Refund) Posting {
	posting := r.posting(boundaries.RefundOutPostingKey(r.Refund), "refunded", 1)
	posting.Memo = fmt.Sprintf("refund %s took %d", r.Refund, r.Amount)
	return posting
}

// RefundBack books that the money of a refund came back, since it failed or was canceled after it had been taken: the reverse of RefundOut, which
// it resolves.
func RefundBack(r Refund) Posting {
	posting := r.posting(boundaries.RefundBackPostingKey(r.Refund), "refund_returned", -1)
	posting.Resolves = boundaries.RefundOutPostingKey(r.Refund)
	posting.Memo = fmt.Sprintf("refund %s gave %d back", r.Refund, r.Amount)
	return posting
}

func (r Refund) posting(key boundaries.PostingKey, rule string, sign int64) Posting {
	return Posting{
		Tenant: r.Tenant, Key: key, Rule: rule, Payment: &r.Payment, Source: r.Source, EffectiveAt: r.EffectiveAt,
		Entries: append(shared(r.From, r.Amount, sign, r.Currency), Entry{Account: StripeReceivable, Amount: -sign * r.Amount, Currency: r.Currency}),
	}
}
