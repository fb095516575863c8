package stripesim

import (
	"time"

	"payonce/stripesim/control"
)

// States of a payment intent.
const (
	requiresPaymentMethod = "requires_payment_method"
	requiresConfirmation  = "requires_confirmation"
	requiresAction        = "requires_action"
	processing            = "processing"
	requiresCapture       = "requires_capture"
	succeeded             = "succeeded"
	canceled              = "canceled"
)

// What the clock does to an intent when it is due.
const (
	dueSettle = "settle" // a bank debit ends
	dueExpire = "expire" // an authorisation ends
)

// intent is a payment intent in the books. Amounts are minor units of Currency, times Unix seconds. It is guarded by
// the lock of the books and written to the state file as it is.
type intent struct {
	Seq      int64
	ID       string
	Account  string
	Platform string // the account whose key acted through Stripe-Account; empty for the account's own
	Livemode bool
	Created  int64

	Amount, AmountCapturable, AmountReceived int64
	Currency, Status                         string
	CaptureMethod, ConfirmationMethod        string
	ClientSecret                             string
	CanceledAt                               int64
	CancellationReason                       string
	Customer, Description, ReceiptEmail      string
	StatementDescriptor                      string
	StatementDescriptorSuffix                string
	SetupFutureUsage, ReturnURL              string
	TransferDestination, TransferGroup       string
	OnBehalfOf                               string
	TransferAmount, ApplicationFee           *int64
	Metadata                                 map[string]string

	PaymentMethod      string
	PaymentMethodTypes []string
	Automatic          bool // automatic_payment_methods
	AllowRedirects     string
	LastError          *apiError
	Charges            []string // ids, oldest first
	NextAction         string   // "", use_stripe_sdk or redirect_to_url
	Challenge          string   // the payer's latest challenge; that of an earlier attempt is stale
	ChallengeURL       string   // its page
	OffSession         bool
	Multicapture       string `json:",omitempty"` // request_multicapture: "", if_available or never
	Authenticated      bool   // the payer passed a challenge that waits for a second confirm

	DueAt   int64
	DueWhat string

	Changed time.Time // when it last changed: search lags behind it

	UpdatesSince int64 // begin of the hour in which Updates are counted
	Updates      int

	Refunds    []string            `json:",omitempty"` // ids, oldest first
	Disputes   []string            `json:",omitempty"` // ids, oldest first
	NextRefund *control.RefundPlan `json:",omitempty"` // what becomes of the next refund; nil = as its payment method does

	Captured, Refunded, Disputed, Reinstated, Fees    int64
	SettledFees                                       map[string]int64 `json:",omitempty"` // fees in other currencies than Currency
	ConfirmsExecuted, PayerConfirms, CapturesExecuted int
	ChargesSucceeded, ChargesFailed                   int
}

func (in *intent) key() string      { return in.ID }
func (in *intent) owner() scope     { return scope{in.Account, in.Livemode} }
func (in *intent) createdAt() int64 { return in.Created }
func (in *intent) number() *int64   { return &in.Seq }

// latestCharge returns the id of the last charge, or "".
func (in *intent) latestCharge() string {
	if len(in.Charges) == 0 {
		return ""
	}
	return in.Charges[len(in.Charges)-1]
}

func (in *intent) in(states ...string) bool {
	for _, state := range states {
		if in.Status == state {
			return true
		}
	}
	return false
}

// updatesPerHour is how often an intent may be changed in an hour (Stripe docs, Rate limits).
const updatesPerHour = 1000

// countUpdate counts a request that would change the intent and says whether it is within the limit.
func (in *intent) countUpdate(now time.Time) bool {
	if now.Unix()-in.UpdatesSince >= int64(time.Hour/time.Second) {
		in.UpdatesSince, in.Updates = now.Unix(), 0
	}
	in.Updates++
	return in.Updates <= updatesPerHour
}

func (in *intent) due(at time.Time, what string) { in.DueAt, in.DueWhat = at.Unix(), what }

func (in *intent) notDue() { in.DueAt, in.DueWhat = 0, "" }

// wireIntent is a payment intent as API version 2023-10-16 writes it.
type wireIntent struct {
	ID                        string            `json:"id"`
	Object                    string            `json:"object"`
	Amount                    int64             `json:"amount"`
	AmountCapturable          int64             `json:"amount_capturable"`
	AmountDetails             any               `json:"amount_details"`
	AmountReceived            int64             `json:"amount_received"`
	Application               *string           `json:"application"`
	ApplicationFeeAmount      *int64            `json:"application_fee_amount"`
	AutomaticPaymentMethods   any               `json:"automatic_payment_methods"`
	CanceledAt                *int64            `json:"canceled_at"`
	CancellationReason        *string           `json:"cancellation_reason"`
	CaptureMethod             string            `json:"capture_method"`
	ClientSecret              string            `json:"client_secret"`
	ConfirmationMethod        string            `json:"confirmation_method"`
	Created                   int64             `json:"created"`
	Currency                  string            `json:"currency"`
	Customer                  *string           `json:"customer"`
	Description               *string           `json:"description"`
	Invoice                   *string           `json:"invoice"`
	LastPaymentError          *apiError         `json:"last_payment_error"`
	LatestCharge              any               `json:"latest_charge"`
	Livemode                  bool              `json:"livemode"`
	Metadata                  map[string]string `json:"metadata"`
	NextAction                any               `json:"next_action"`
	OnBehalfOf                *string           `json:"on_behalf_of"`
	PaymentMethod             any               `json:"payment_method"`
	PaymentMethodOptions      any               `json:"payment_method_options"`
	PaymentMethodTypes        []string          `json:"payment_method_types"`
	Processing                any               `json:"processing"`
	ReceiptEmail              *string           `json:"receipt_email"`
	Review                    *string           `json:"review"`
	SetupFutureUsage          *string           `json:"setup_future_usage"`
	Shipping                  any               `json:"shipping"`
	Source                    *string           `json:"source"`
	StatementDescriptor       *string           `json:"statement_descriptor"`
	StatementDescriptorSuffix *string           `json:"statement_descriptor_suffix"`
	Status                    string            `json:"status"`
	TransferData              any               `json:"transfer_data"`
	TransferGroup             *string           `json:"transfer_group"`
}

// renderIntent writes an intent as the API shows it, with what expand names in full.
func (b *books) renderIntent(in *intent, expand expansion) wireIntent {
	w := wireIntent{
		ID: in.ID, Object: "payment_intent", Amount: in.Amount, AmountCapturable: in.AmountCapturable,
		AmountDetails: map[string]any{"tip": map[string]any{}}, AmountReceived: in.AmountReceived,
		ApplicationFeeAmount: in.ApplicationFee, CanceledAt: orNil(in.CanceledAt), CancellationReason: orNil(in.CancellationReason),
		CaptureMethod: in.CaptureMethod, ClientSecret: in.ClientSecret, ConfirmationMethod: in.ConfirmationMethod,
		Created: in.Created, Currency: in.Currency, Customer: orNil(in.Customer), Description: orNil(in.Description),
		LastPaymentError: in.LastError, LatestCharge: orNil(in.latestCharge()), Livemode: in.Livemode, Metadata: in.Metadata,
		PaymentMethod: orNil(in.PaymentMethod), PaymentMethodOptions: methodOptions(in), PaymentMethodTypes: in.PaymentMethodTypes,
		ReceiptEmail: orNil(in.ReceiptEmail), SetupFutureUsage: orNil(in.SetupFutureUsage),
		StatementDescriptor: orNil(in.StatementDescriptor), StatementDescriptorSuffix: orNil(in.StatementDescriptorSuffix),
		Status: in.Status, OnBehalfOf: orNil(in.OnBehalfOf), TransferGroup: orNil(in.TransferGroup), NextAction: nextAction(in),
	}
	if in.Automatic {
		w.AutomaticPaymentMethods = map[string]any{"allow_redirects": orDefault(in.AllowRedirects, "always"), "enabled": true}
	}
	if in.TransferDestination != "" {
		w.TransferData = wireTransferData{in.TransferAmount, in.TransferDestination}
	}
	if inner := expand["latest_charge"]; inner != nil && in.latestCharge() != "" {
		w.LatestCharge = b.renderCharge(b.charges.byID[in.latestCharge()], inner)
	}
	if expand["payment_method"] != nil && in.PaymentMethod != "" {
		w.PaymentMethod = renderMethod(b.methods.byID[in.PaymentMethod])
	}
	return w
}

type wireTransferData struct {
	Amount      *int64 `json:"amount,omitempty"`
	Destination string `json:"destination"`
}

func methodOptions(in *intent) map[string]any {
	options := map[string]any{}
	for _, kind := range in.PaymentMethodTypes {
		switch kind {
		case card:
			of := map[string]any{"installments": nil, "mandate_options": nil, "network": nil, "request_three_d_secure": "automatic"}
			if in.Multicapture != "" {
				of["request_multicapture"] = in.Multicapture
			}
			options[kind] = of
		case usBankAccount:
			options[kind] = map[string]any{"verification_method": "automatic"}
		case sepaDebit, becsDebit:
			options[kind] = map[string]any{}
		}
	}
	return options
}

func nextAction(in *intent) any {
	switch in.NextAction {
	case "use_stripe_sdk":
		return map[string]any{"type": "use_stripe_sdk", "use_stripe_sdk": map[string]any{"type": "three_d_secure_redirect", "stripe_js": in.ChallengeURL}}
	case "redirect_to_url":
		return map[string]any{"type": "redirect_to_url", "redirect_to_url": map[string]any{
			"return_url": in.ReturnURL, "url": in.ChallengeURL}}
	}
	return nil
}

// orNil returns nil for the zero value: the API writes null where there is nothing.
func orNil[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}
