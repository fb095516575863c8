package payments

import "time"

// View is a payment as callers and receivers of messages see it.
type View struct {
	ID               PaymentID           `json:"id"`
	Object           string              `json:"object"` // always "payment"
	Reference        string              `json:"reference"`
	Attempt          int                 `json:"attempt"`
	Replaces         *PaymentID          `json:"replaces,omitempty"`
	Amount           int64               `json:"amount"`
	Currency         Currency            `json:"currency"`
	AmountCapturable int64               `json:"amount_capturable"`
	AmountCaptured   int64               `json:"amount_captured"`
	AmountRefunded   int64               `json:"amount_refunded"`
	CaptureMethod    CaptureMethod       `json:"capture_method"`
	Multicapture     bool                `json:"multicapture,omitempty"`
	HoldExpiry       HoldExpiry          `json:"hold_expiry,omitempty"`    // with a manual capture
	CaptureBefore    *time.Time          `json:"capture_before,omitempty"` // in requires_capture: when Stripe lets the hold go
	Destinations     []Destination       `json:"destinations,omitempty"`   // where the money goes; absent: all of it to the merchant
	Status           Status              `json:"status"`
	Stage            Stage               `json:"stage"`
	Stages           map[Stage]time.Time `json:"stages"`
	PaymentIntent    string              `json:"payment_intent,omitempty"`
	ClientSecret     string              `json:"client_secret,omitempty"`
	NextAction       *NextAction         `json:"next_action,omitempty"` // in requires_action
	ExpiresAt        *time.Time          `json:"expires_at,omitempty"`  // given up then, unless the payer or a command moves it
	LatestCharge     string              `json:"latest_charge,omitempty"`
	LastError        *ProviderError      `json:"last_error,omitempty"`
	Failure          *Failure            `json:"failure,omitempty"`
	Review           *Review             `json:"review,omitempty"`
	Description      *string             `json:"description,omitempty"`
	Metadata         map[string]string   `json:"metadata,omitempty"`
	Livemode         bool                `json:"livemode"`
	CreatedAt        time.Time           `json:"created_at"`
}

// View shows the payment without what is for nobody else: no e-mail. The client secret is shown only while the payer can use it.
func (p Payment) View() View {
	view := View{
		ID: p.ID, Object: "payment", Reference: p.Reference, Attempt: p.Attempt, Replaces: p.Replaces,
		Amount: p.Money.Amount, Currency: p.Money.Currency,
		AmountCapturable: p.AmountCapturable, AmountCaptured: p.AmountCaptured, AmountRefunded: p.AmountRefunded,
		CaptureMethod: p.CaptureMethod, Destinations: p.Destinations, Status: p.Status, Stage: p.Stage, Stages: p.Reached,
		PaymentIntent: p.IntentID, LatestCharge: p.LatestCharge,
		LastError: p.LastError, Failure: p.Failure, Review: p.Review,
		Description: p.Description, Metadata: p.Metadata, Livemode: p.Account.Livemode, CreatedAt: p.CreatedAt,
	}
	if p.Status == StatusRequiresPaymentMethod || p.Status == StatusRequiresAction {
		view.ClientSecret, view.ExpiresAt = p.ClientSecret, p.AbandonAt
	}
	if p.CaptureMethod == CaptureManual {
		view.Multicapture, view.HoldExpiry = p.Multicapture, p.HoldExpiry
	}
	if p.Status == StatusRequiresCapture {
		view.CaptureBefore = p.CaptureBefore
	}
	if p.Status == StatusRequiresAction {
		view.NextAction = p.NextAction
	}
	return view
}

// ForMessage is the view without what lets its holder act for the payer: a message leaves our hands.
func (v View) ForMessage() View {
	v.ClientSecret, v.NextAction = "", nil
	return v
}
