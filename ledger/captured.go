package ledger

import (
	"time"

	"payonce/boundaries"
	"payonce/payments"
)

// Capture is the fact that a charge has now taken a total.
type Capture struct {
	Tenant        payments.TenantID
	Payment       payments.PaymentID
	Charge        string            // ch_…
	Currency      payments.Currency // of the amounts
	NewTotal      int64             // Stripe's running amount_captured of the charge, minor units
	PreviousTotal int64             // what is posted already; read under the payment's lock
	Destinations  payments.Shares   // who gets it, as the payment says; zero: the merchant all of it
	Source        string            // what brought the fact
	EffectiveAt   time.Time         // when Stripe took it
}

// Captured books what a charge took since the last total: Stripe owes it to us, and we to the merchant or to each destination its part. It books the
// difference under a key that names the charge and the new total, so each total is reached once, whichever fact brings it. It answers false, and
// nothing to post, when the total is not above what is posted: that repeat counts as suppressed.
func Captured(c Capture) (Posting, bool) {
	if c.NewTotal <= c.PreviousTotal {
		return Posting{}, false
	}
	difference := c.NewTotal - c.PreviousTotal
	owed := shared(c.Destinations.Between(c.PreviousTotal, c.NewTotal), difference, -1, c.Currency)
	return Posting{
		Tenant:      c.Tenant,
		Key:         boundaries.CapturePostingKey(c.Charge, c.NewTotal),
		Rule:        "captured",
		Payment:     &c.Payment,
		Source:      c.Source,
		EffectiveAt: c.EffectiveAt,
		Entries:     append([]Entry{{Account: StripeReceivable, Amount: difference, Currency: c.Currency}}, owed...),
	}, true
}
