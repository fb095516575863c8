package payments

// Status is what a payment is, in Stripe's words where Stripe has one.
type Status string

// The statuses. `submitted`, `failed` and `expired` are ours; the others mean what they mean on a PaymentIntent
// (https://docs.stripe.com/payments/paymentintents/lifecycle).
const (
	StatusSubmitted             Status = "submitted"
	StatusRequiresPaymentMethod Status = "requires_payment_method"
	StatusRequiresAction        Status = "requires_action"
	StatusProcessing            Status = "processing"
	StatusRequiresCapture       Status = "requires_capture"
	StatusSucceeded             Status = "succeeded"
	StatusFailed                Status = "failed"
	StatusCanceled              Status = "canceled"
	StatusExpired               Status = "expired"
)

// Statuses lists every status.
func Statuses() []Status {
	return []Status{
		StatusSubmitted, StatusRequiresPaymentMethod, StatusRequiresAction, StatusProcessing, StatusRequiresCapture,
		StatusSucceeded, StatusFailed, StatusCanceled, StatusExpired,
	}
}

// Terminal tells whether no later fact changes the status: succeeded absorbs, and so does each ending without money.
func (s Status) Terminal() bool {
	switch s {
	case StatusSucceeded, StatusFailed, StatusCanceled, StatusExpired:
		return true
	default:
		return false
	}
}

// EndedWithoutMoney tells whether the payment is over and took no money, so that a further attempt of its reference may replace it.
func (s Status) EndedWithoutMoney() bool { return s.Terminal() && s != StatusSucceeded }
