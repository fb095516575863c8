package payments

import "time"

// Payment is a row of payments: the business attempt `Reference#Attempt` of a tenant.
type Payment struct {
	ID               PaymentID
	Tenant           TenantID
	Reference        string
	Attempt          int
	Replaces         *PaymentID
	Account          Account
	Money            Money
	CaptureMethod    CaptureMethod
	Multicapture     bool          // the intent was asked to allow several captures
	HoldExpiry       HoldExpiry    // what becomes of a hold that runs out
	Destinations     []Destination // where its money goes, in amounts that sum to its own; nil: all of it to the merchant
	Description      *string
	Metadata         map[string]string
	ReceiptEmail     *string
	Status           Status
	Stage            Stage
	Reached          map[Stage]time.Time // when each stage was reached, by payonce.clock()
	IntentID         string              // empty until bound
	ClientSecret     string              // empty until bound; for the payer's browser alone
	NextAction       *NextAction         // what the payer is asked to do, in requires_action
	AbandonAt        *time.Time          // when it is given up unless the payer or a command moves it; nil: it waits for nobody
	LatestCharge     string
	AmountCapturable int64
	AmountHeld       int64      // what the pending journals hold
	CaptureBefore    *time.Time // when Stripe lets the hold go
	HoldDueAt        *time.Time // when the hold is next seen to: warned of, then captured or voided; nil: it waits for nobody
	HoldWarned       bool       // that it runs out was told
	AmountCaptured   int64
	AmountRefunded   int64
	LastError        *ProviderError // of the last refused attempt
	Failure          *Failure       // why it ended, or is to end, as failed or expired
	ReadBegunAt      *time.Time
	LastCommand      int
	LastMessage      int
	Review           *Review
	CreatedAt        time.Time
	UpdatedAt        time.Time
}

// NextAction is what the payer is asked to do, as Stripe's next_action says (https://docs.stripe.com/api/payment_intents/object).
type NextAction struct {
	Type          string         `json:"type"` // redirect_to_url, use_stripe_sdk, or another word of Stripe's
	RedirectToURL *RedirectToURL `json:"redirect_to_url,omitempty"`
}

// RedirectToURL is where the payer is to be sent, and where Stripe sends the payer afterwards.
type RedirectToURL struct {
	URL       string `json:"url"`
	ReturnURL string `json:"return_url,omitempty"`
}

// ProviderError is a refusal in Stripe's words, fit to be shown to the caller.
type ProviderError struct {
	Code        string `json:"code"`
	DeclineCode string `json:"decline_code,omitempty"`
	Message     string `json:"message,omitempty"`
	Charge      string `json:"charge,omitempty"`
	Attempt     int    `json:"attempt,omitempty"` // n of the confirm that was open then; 0: none of ours
}

// SameAttempt tells whether both tell of one refused attempt: the same charge or, where Stripe made none, the same confirm.
func (e ProviderError) SameAttempt(other ProviderError) bool {
	if e.Charge != "" || other.Charge != "" {
		return e.Charge == other.Charge
	}
	return e.Attempt == other.Attempt
}

// Failure says why a payment ends without money although nobody canceled it.
type Failure struct {
	Code    FailureCode `json:"code"`
	Message string      `json:"message,omitempty"`
}

// FailureCode is a stable word for the cause of a failure.
type FailureCode string

// The causes of failure.
const (
	FailureProviderRefused FailureCode = "provider_refused" // a definite refusal that is no decline
	FailureExpiredUnsent   FailureCode = "expired_unsent"   // the command was not sent before its not_after
	FailureAbandoned       FailureCode = "abandoned"        // the payer did not come back in time
	FailureHoldExpired     FailureCode = "hold_expired"     // the hold ran out, or was voided because it was about to
)

// Review is the mark of a payment that needs a person; it stands beside the status.
type Review struct {
	Reason string         `json:"reason"`
	Since  time.Time      `json:"since"`
	Facts  map[string]any `json:"evidence,omitempty"`
}

// EndedAs is the status of the payment once its intent is canceled: as what it was to end, or canceled.
func (p Payment) EndedAs() Status {
	switch {
	case p.Failure == nil:
		return StatusCanceled
	case p.Failure.Code == FailureExpiredUnsent, p.Failure.Code == FailureAbandoned, p.Failure.Code == FailureHoldExpired:
		return StatusExpired
	default:
		return StatusFailed
	}
}

// Shares divide what the payment takes and gives back among its destinations.
func (p Payment) Shares() Shares { return sharesOf(p.Destinations) }

// ReachedAt is when the stage was reached, or nil.
func (p Payment) ReachedAt(stage Stage) *time.Time {
	at, reached := p.Reached[stage]
	if !reached {
		return nil
	}
	return &at
}
