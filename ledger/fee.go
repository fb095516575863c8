package ledger

import (
	"fmt"
	"time"

	"payonce/boundaries"
	"payonce/payments"
)

// Fee is the fact that Stripe kept part of what a balance transaction moved.
type Fee struct {
	Tenant             payments.TenantID
	Payment            *payments.PaymentID // nil when the money belongs to no payment
	BalanceTransaction string              // txn_…; not one of a dispute, whose fee Disputed books
	Currency           payments.Currency   // of the balance transaction
	Amount             int64               // as Stripe says it, minor units: positive is kept, negative given back
	Source             string              // what brought the fact
	EffectiveAt        time.Time           // when Stripe made the balance transaction
}

// FeeTaken books what Stripe kept, or gave back. It answers false, and nothing to post, when that is nothing.
func FeeTaken(f Fee) (Posting, bool) {
	return Posting{
		Tenant: f.Tenant, Key: boundaries.FeePostingKey(f.BalanceTransaction), Rule: "fee", Payment: f.Payment, Source: f.Source,
		Memo:        fmt.Sprintf("fee of %s", f.BalanceTransaction),
		EffectiveAt: f.EffectiveAt,
		Entries: []Entry{
			{Account: StripeFees, Amount: f.Amount, Currency: f.Currency},
			{Account: StripeReceivable, Amount: -f.Amount, Currency: f.Currency},
		},
	}, f.Amount != 0
}

// Exchange is the fact that a balance transaction settled in another currency than the one that it was presented in.
type Exchange struct {
	Tenant             payments.TenantID
	Payment            *payments.PaymentID // nil when the money belongs to no payment
	BalanceTransaction string              // txn_…
	Presented          payments.Money      // as the object says it: what a charge took; negative for what a refund gave back
	Settled            payments.Money      // as the balance transaction says it, before its fee, with the same sign
	Source             string              // what brought the fact
	EffectiveAt        time.Time           // when Stripe made the balance transaction
}

// Exchanged books that what Stripe holds for us in one currency became another: nobody's money changed, only what Stripe owes it in. Both ways go
// through the one account that is named by what was presented and what settles. It answers false, and nothing to post, when the currencies
// are the same or nothing moved.
func Exchanged(x Exchange) (Posting, bool) {
	from, to := x.Presented, x.Settled
	through := FX(from.Currency, to.Currency)
	var moved []Entry
	for _, side := range []struct {
		money payments.Money
		sign  int64
	}{{from, -1}, {to, 1}} {
		if side.money.Amount != 0 {
			moved = append(moved,
				Entry{Account: StripeReceivable, Amount: side.sign * side.money.Amount, Currency: side.money.Currency},
				Entry{Account: through, Amount: -side.sign * side.money.Amount, Currency: side.money.Currency})
		}
	}
	return Posting{
		Tenant: x.Tenant, Key: boundaries.FXPostingKey(x.BalanceTransaction), Rule: "exchanged", Payment: x.Payment, Source: x.Source,
		Memo:        fmt.Sprintf("%s settled as %s", from, to),
		EffectiveAt: x.EffectiveAt, Entries: moved,
	}, from.Currency != to.Currency && len(moved) > 0
}
