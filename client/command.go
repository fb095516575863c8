package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"unicode/utf8"

	"payonce/payments"
)

// CreatePayment asks for a payment of an order.
type CreatePayment struct {
	Reference     string                 `json:"reference"`                // the order; 1 to 255 printable characters
	Replaces      *PaymentID             `json:"replaces,omitempty"`       // the ended payment of the reference that this attempt follows
	Amount        int64                  `json:"amount"`                   // minor units
	Currency      payments.Currency      `json:"currency"`                 // ISO 4217
	PaymentMethod string                 `json:"payment_method,omitempty"` // pm_…: the payment is confirmed at once
	Customer      *ProvisionID           `json:"customer,omitempty"`       // who pays: one that CreateCustomer linked
	Destinations  []Destination          `json:"destinations,omitempty"`   // where the money goes; they sum to Amount. None: all to the merchant
	CaptureMethod payments.CaptureMethod `json:"capture_method,omitempty"`
	Multicapture  bool                   `json:"multicapture,omitempty"` // the hold may be captured in several parts
	HoldExpiry    payments.HoldExpiry    `json:"hold_expiry,omitempty"`  // what becomes of a hold that runs out
	Description   string                 `json:"description,omitempty"`
	ReceiptEmail  string                 `json:"receipt_email,omitempty"`
	ReturnURL     string                 `json:"return_url,omitempty"`  // https; where the payer comes back to
	OffSession    bool                   `json:"off_session,omitempty"` // the payer is not there
	Metadata      map[string]string      `json:"metadata,omitempty"`
}

// Destination is merchant:balance or one of your wallets, wallet:<owner>:<network>, and what it gets, in minor units. Of what is captured and given back
// each has its share; a payment and a refund show theirs.
type Destination = payments.Destination

// ConfirmPayment asks to take the money with a method.
type ConfirmPayment struct {
	PaymentMethod string `json:"payment_method"`        // pm_…
	ReturnURL     string `json:"return_url,omitempty"`  // https; where the payer comes back to
	OffSession    bool   `json:"off_session,omitempty"` // the payer is not there
}

// CapturePayment asks to take money that is held. The zero value takes all of it.
type CapturePayment struct {
	Amount    int64  `json:"amount,omitempty"`    // minor units; 0: all that is held
	Reference string `json:"reference,omitempty"` // required with an amount, for instance a shipment: two equal parts have two references
	KeepRest  bool   `json:"-"`                   // what is left stays held, of a payment that was created with Multicapture; else it is let go
}

// ErrNoReference says that something which may rightly happen twice was given no reference of its own. Nothing was sent.
var ErrNoReference = errors.New("payonce: no reference")

// MarshalJSON writes KeepRest as the API's "final": false; without it final is left out, which means true.
func (c CapturePayment) MarshalJSON() ([]byte, error) {
	type plain CapturePayment
	var final *bool
	if c.KeepRest {
		final = new(bool)
	}
	return json.Marshal(struct {
		plain
		Final *bool `json:"final,omitempty"`
	}{plain(c), final})
}

// CancelPayment asks to end a payment without money.
type CancelPayment struct {
	Reason CancelReason `json:"cancellation_reason,omitempty"`
}

// CancelReason is why, in Stripe's words (https://docs.stripe.com/api/payment_intents/cancel).
type CancelReason string

// The reasons; none need be given.
const (
	CancelRequestedByCustomer CancelReason = "requested_by_customer"
	CancelDuplicate           CancelReason = "duplicate"
	CancelFraudulent          CancelReason = "fraudulent"
	CancelAbandoned           CancelReason = "abandoned"
)

const pathPayments = "/v1/payments"

// CreatePayment creates a payment once per key, and once per attempt of its reference whatever the key: a payer who comes back with another
// key to the same order gets the same payment. The errors are ErrNoKey, ErrNoAnswer and *RefusedError.
func (c *Client) CreatePayment(ctx context.Context, key Key, create CreatePayment) (Answer, error) {
	if err := checkReference(create.Reference); err != nil {
		return Answer{}, err
	}
	return c.command(ctx, pathPayments, key, create)
}

// ConfirmPayment confirms a payment, again after a decline. The errors are those of CreatePayment.
func (c *Client) ConfirmPayment(ctx context.Context, key Key, id PaymentID, confirm ConfirmPayment) (Answer, error) {
	return c.command(ctx, pathOf(id)+"/confirm", key, confirm)
}

// CapturePayment takes money that is held. All of it is taken once, whoever asks; a part has its own reference and key (PartialCaptureKey). The errors
// are ErrNoReference and those of CreatePayment.
func (c *Client) CapturePayment(ctx context.Context, key Key, id PaymentID, capture CapturePayment) (Answer, error) {
	if capture.Amount != 0 && capture.Reference == "" {
		return Answer{}, fmt.Errorf("%w: a part may rightly be captured twice", ErrNoReference)
	}
	if err := checkReference(capture.Reference); err != nil {
		return Answer{}, err
	}
	return c.command(ctx, pathOf(id)+"/capture", key, capture)
}

// CancelPayment cancels a payment. One that has succeeded refuses with CodePaymentSucceeded. The errors are those of CreatePayment.
func (c *Client) CancelPayment(ctx context.Context, key Key, id PaymentID, cancel CancelPayment) (Answer, error) {
	return c.command(ctx, pathOf(id)+"/cancel", key, cancel)
}

// checkReference refuses what JSON would give the name of something else.
func checkReference(reference string) error {
	if !utf8.ValidString(reference) {
		return fmt.Errorf("payonce: reference %q is not UTF-8", reference)
	}
	return nil
}

func pathOf(id PaymentID) string { return pathPayments + "/" + id.String() }

func (c *Client) command(ctx context.Context, path string, key Key, body any) (Answer, error) {
	command, err := c.write(path, key, body)
	if err != nil {
		return Answer{}, err
	}
	return c.ask(ctx, command)
}

// write makes the request of a command: what is sent at every try.
func (c *Client) write(path string, key Key, body any) (*request, error) {
	if err := key.check(); err != nil {
		return nil, err
	}
	encoded, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("payonce: encode command: %w", err)
	}
	return &request{method: http.MethodPost, path: path, key: key, body: encoded, wait: c.wait}, nil
}

// ask sends a command, for the first time or again.
func (c *Client) ask(ctx context.Context, command *request) (Answer, error) {
	answer, err := exchange(ctx, c, *command, reply.answer)
	if err != nil {
		return Answer{}, err
	}
	answer.request = command
	return answer, nil
}
