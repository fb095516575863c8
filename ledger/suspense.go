package ledger

import (
	"fmt"
	"time"

	"payonce/boundaries"
	"payonce/payments"
)

// Quarantined is the fact that a charge that fits none of our payments took money.
type Quarantined struct {
	Tenant        payments.TenantID
	Charge        string            // ch_…
	Currency      payments.Currency // as Stripe says it, whatever a payment said
	NewTotal      int64             // the charge's running amount_captured, minor units
	PreviousTotal int64             // what is posted to suspense already; 0 when nothing was
	Source        string            // what brought the fact
	EffectiveAt   time.Time         // when Stripe took it
}

// Suspense books money that Stripe holds for us and that no payment explains, until a person says whose it is. It answers false, and
// nothing to post, when the total is not above what is posted.
func Suspense(q Quarantined) (Posting, bool) {
	if q.NewTotal <= q.PreviousTotal {
		return Posting{}, false
	}
	difference := q.NewTotal - q.PreviousTotal
	return Posting{
		Tenant:      q.Tenant,
		Key:         boundaries.SuspensePostingKey(q.Charge, q.NewTotal),
		Rule:        "suspense",
		Source:      q.Source,
		Memo:        fmt.Sprintf("charge %s, quarantined, took %d in all", q.Charge, q.NewTotal),
		EffectiveAt: q.EffectiveAt,
		Entries: []Entry{
			{Account: StripeReceivable, Amount: difference, Currency: q.Currency},
			{Account: SuspenseMoney, Amount: -difference, Currency: q.Currency},
		},
	}, true
}
