package ledger

import (
	"fmt"
	"time"

	"payonce/boundaries"
	"payonce/payments"
)

// Hold is the fact that what Stripe holds of a payer's money for a payment has become another amount.
type Hold struct {
	Tenant      payments.TenantID
	Payment     payments.PaymentID
	Currency    payments.Currency
	Held        int64     // what the book holds, minor units; read under the payment's lock
	Left        int64     // what is held now, minor units
	Source      string    // what brought the fact
	EffectiveAt time.Time // when Stripe held it, took of it or let it go
}

// HoldPlaced books an authorisation on the pending side: what Stripe would owe us and we the merchant. A payment has one, when none was held before.
func HoldPlaced(h Hold) Posting {
	return h.posting(boundaries.HoldPostingKey(h.Payment), "held", Pending, fmt.Sprintf("%d held", h.Left))
}

// HoldPosted takes what was captured out of the hold. The captured money itself is Captured's, whose content must not depend on a hold.
func HoldPosted(h Hold) Posting {
	return h.ended("hold_captured", Posted, fmt.Sprintf("%d of the hold captured", h.Held-h.Left))
}

// HoldVoided takes what was released out of the hold.
func HoldVoided(h Hold) Posting {
	return h.ended("hold_released", Void, fmt.Sprintf("%d of the hold released", h.Held-h.Left))
}

// ended books that the hold fell: its key names what is left, so each amount is fallen to once, whichever fact brings it.
func (h Hold) ended(rule string, phase Phase, memo string) Posting {
	posting := h.posting(boundaries.HoldLeftPostingKey(h.Payment, h.Left), rule, phase, memo)
	posting.Resolves = boundaries.HoldPostingKey(h.Payment)
	return posting
}

func (h Hold) posting(key boundaries.PostingKey, rule string, phase Phase, memo string) Posting {
	return Posting{
		Tenant: h.Tenant, Key: key, Rule: rule, Phase: phase, Payment: &h.Payment, Source: h.Source, Memo: memo, EffectiveAt: h.EffectiveAt,
		Entries: []Entry{
			{Account: StripeReceivablePending, Amount: h.Left - h.Held, Currency: h.Currency},
			{Account: MerchantBalancePending, Amount: h.Held - h.Left, Currency: h.Currency},
		},
	}
}
