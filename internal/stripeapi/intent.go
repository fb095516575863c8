package stripeapi

import (
	"time"

	"github.com/stripe/stripe-go/v76"

	"payonce/payments"
)

// IntentStatus is a PaymentIntent's status, in Stripe's words.
type IntentStatus string

// The statuses of a PaymentIntent (https://docs.stripe.com/payments/paymentintents/lifecycle).
const (
	IntentRequiresPaymentMethod IntentStatus = "requires_payment_method"
	IntentRequiresConfirmation  IntentStatus = "requires_confirmation"
	IntentRequiresAction        IntentStatus = "requires_action"
	IntentProcessing            IntentStatus = "processing"
	IntentRequiresCapture       IntentStatus = "requires_capture"
	IntentSucceeded             IntentStatus = "succeeded"
	IntentCanceled              IntentStatus = "canceled"
)

// Absorbing tells whether no later state of the intent exists, so that even an old snapshot of it is true.
func (s IntentStatus) Absorbing() bool { return s == IntentSucceeded || s == IntentCanceled }

// Intent is what the engine needs to know of a PaymentIntent.
type Intent struct {
	ID                 string
	Account            payments.Account // where it was read; the mode is the object's own
	Status             IntentStatus
	Money              payments.Money
	AmountCapturable   int64
	AmountReceived     int64 // captured in all, minor units
	CaptureMethod      payments.CaptureMethod
	ClientSecret       string
	NextAction         *payments.NextAction
	LatestCharge       string
	LastError          *payments.ProviderError
	CancellationReason string
	Metadata           map[string]string
	Created            time.Time
}

// PaymentMetadata is the payment that the intent says it was made for; empty for an intent that is not ours.
func (i Intent) PaymentMetadata() string { return i.Metadata[payments.MetadataPayment] }

func intentOf(from *stripe.PaymentIntent, account payments.Account) Intent {
	intent := Intent{
		ID:                 from.ID,
		Account:            payments.Account{ID: account.ID, Livemode: from.Livemode},
		Status:             IntentStatus(from.Status),
		Money:              payments.Money{Amount: from.Amount, Currency: payments.Currency(from.Currency)},
		AmountCapturable:   from.AmountCapturable,
		AmountReceived:     from.AmountReceived,
		CaptureMethod:      payments.CaptureMethod(from.CaptureMethod),
		ClientSecret:       from.ClientSecret,
		CancellationReason: string(from.CancellationReason),
		Metadata:           from.Metadata,
		Created:            time.Unix(from.Created, 0).UTC(),
	}
	// automatic_async is how newer API versions render automatic (https://docs.stripe.com/changelog, 2024-04-10).
	if from.CaptureMethod == stripe.PaymentIntentCaptureMethodAutomaticAsync {
		intent.CaptureMethod = payments.CaptureAutomatic
	}
	if from.LatestCharge != nil {
		intent.LatestCharge = from.LatestCharge.ID
	}
	intent.NextAction = nextActionOf(from.NextAction)
	if from.LastPaymentError != nil {
		intent.LastError = providerErrorOf(from.LastPaymentError)
	}
	return intent
}

func nextActionOf(from *stripe.PaymentIntentNextAction) *payments.NextAction {
	if from == nil {
		return nil
	}
	action := &payments.NextAction{Type: string(from.Type)}
	if from.RedirectToURL != nil {
		action.RedirectToURL = &payments.RedirectToURL{URL: from.RedirectToURL.URL, ReturnURL: from.RedirectToURL.ReturnURL}
	}
	return action
}

func providerErrorOf(from *stripe.Error) *payments.ProviderError {
	return &payments.ProviderError{
		Code: string(from.Code), DeclineCode: string(from.DeclineCode), Message: from.Msg, Charge: from.ChargeID,
	}
}
