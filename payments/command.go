package payments

// CreateCommand asks for a payment: what the caller sent, normalised, and nothing else (no defaults). Its JSON form is what is hashed.
type CreateCommand struct {
	Reference     string            `json:"reference"`                // the order: 1 to 255 characters; names the business attempt
	Replaces      *PaymentID        `json:"replaces,omitempty"`       // the ended payment that this attempt follows
	Amount        int64             `json:"amount"`                   // minor units
	Currency      Currency          `json:"currency"`                 // lower case
	PaymentMethod *string           `json:"payment_method,omitempty"` // pm_…; present: the payment is confirmed at once
	CaptureMethod *CaptureMethod    `json:"capture_method,omitempty"`
	Multicapture  *bool             `json:"multicapture,omitempty"`         // true: with a manual capture, the hold may be captured in several parts
	HoldExpiry    *HoldExpiry       `json:"hold_expiry,omitempty"`          // with a manual capture: what becomes of a hold that runs out; absent: it is voided
	MethodTypes   []string          `json:"payment_method_types,omitempty"` // Stripe's names; absent: card
	Customer      *ProvisionID      `json:"customer,omitempty"`             // who pays: one of the tenant's that is linked
	Destinations  []Destination     `json:"destinations,omitempty"`         // where the money goes; absent: all of it to the merchant
	Description   *string           `json:"description,omitempty"`
	ReceiptEmail  *string           `json:"receipt_email,omitempty"`
	ReturnURL     *string           `json:"return_url,omitempty"`
	OffSession    *bool             `json:"off_session,omitempty"`
	Metadata      map[string]string `json:"metadata,omitempty"`
}

// ConfirmCommand asks to confirm a payment with a method.
type ConfirmCommand struct {
	Payment       PaymentID `json:"payment"`
	PaymentMethod string    `json:"payment_method"`
	ReturnURL     *string   `json:"return_url,omitempty"`
	OffSession    *bool     `json:"off_session,omitempty"`
}

// CaptureCommand asks to take money of a hold.
type CaptureCommand struct {
	Payment   PaymentID `json:"payment"`
	Amount    *int64    `json:"amount,omitempty"`    // minor units; absent: all that is held
	Reference *string   `json:"reference,omitempty"` // names a part: what may rightly be taken twice has two references
	Final     *bool     `json:"final,omitempty"`     // false: what is left stays held, where the intent allows several captures
}

// CancelCommand asks to cancel a payment; the engine issues it too, when a payment must end without money.
type CancelCommand struct {
	Payment PaymentID `json:"payment"`
	Reason  *string   `json:"cancellation_reason,omitempty"` // Stripe's word for why
}

// MetadataPrefix is reserved: names that begin with it are ours.
const MetadataPrefix = "payonce_"

// Names of the metadata that we put on an intent to find it again.
const (
	MetadataPayment = MetadataPrefix + "payment"
	MetadataTenant  = MetadataPrefix + "tenant"
	MetadataRefund  = MetadataPrefix + "refund" // on a refund
	MetadataPayout  = MetadataPrefix + "payout" // on a payout
)
