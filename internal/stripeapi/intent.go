package stripeapi

import (
	"context"
	"net/url"
	"strconv"
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
	Charge             *Charge // the latest charge, when it came expanded
	LastError          *payments.ProviderError
	CancellationReason string
	Metadata           map[string]string
	Created            time.Time
}

// PaymentMetadata is the payment that the intent says it was made for; empty for an intent that is not ours.
func (i Intent) PaymentMetadata() string { return i.Metadata[payments.MetadataPayment] }

// ReadIntent reads a PaymentIntent by its id; strongly consistent, unlike search. expand names what comes in full, for instance latest_charge.
func (c *Client) ReadIntent(ctx context.Context, credentials Credentials, id string, expand ...string) (Intent, error) {
	intent := &stripe.PaymentIntent{}
	if err := c.read(ctx, credentials, "/v1/payment_intents/"+url.PathEscape(id), expanding(expand), intent); err != nil {
		return Intent{}, err
	}
	return intentOf(intent, credentials.Account), nil
}

// expanding is the query that asks for objects in full; nil for none.
func expanding(expand []string) url.Values {
	if len(expand) == 0 {
		return nil
	}
	return url.Values{"expand[]": expand}
}

// Page is a page of intents, newest first.
type Page struct {
	Intents []Intent
	More    bool
}

// ListIntents lists the intents created within [from, to], newest first, after the one named (empty: from the newest). A list call, unlike
// search, reads its own account's writes, so it can prove absence.
func (c *Client) ListIntents(ctx context.Context, credentials Credentials, from, to time.Time, after string) (Page, error) {
	query := url.Values{
		"limit":        {strconv.Itoa(PageLimit)},
		"created[gte]": {strconv.FormatInt(from.Unix(), 10)},
		"created[lte]": {strconv.FormatInt(to.Unix()+1, 10)},
	}
	if after != "" {
		query.Set("starting_after", after)
	}
	list := &stripe.PaymentIntentList{}
	if err := c.read(ctx, credentials, "/v1/payment_intents", query, list); err != nil {
		return Page{}, err
	}
	page := Page{More: list.HasMore, Intents: make([]Intent, 0, len(list.Data))}
	for _, intent := range list.Data {
		page.Intents = append(page.Intents, intentOf(intent, credentials.Account))
	}
	return page, nil
}

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
		intent.Charge = expandedCharge(from.LatestCharge, account)
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
