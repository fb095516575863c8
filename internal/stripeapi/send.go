package stripeapi

import (
	"bytes"
	"context"
	"net/http"

	"github.com/google/uuid"
	"github.com/stripe/stripe-go/v76"
)

// Request is a frozen POST.
type Request struct {
	IdempotencyKey uuid.UUID
	Path           string // from /v1
	Body           []byte // form-encoded, sent as it is
	Version        string // Stripe-Version that it was frozen with
}

// Receipt is what a 2xx says beside its object.
type Receipt struct {
	RequestID string
	Replayed  bool // Stripe answered from its memory of the key
	Status    int
}

// Answer is a 2xx to a call about an intent.
type Answer struct {
	Receipt
	Intent Intent
}

// RefundAnswer is a 2xx to a call about a refund.
type RefundAnswer struct {
	Receipt
	Refund Refund
}

// PayoutAnswer is a 2xx to a call about a payout.
type PayoutAnswer struct {
	Receipt
	Payout Payout
}

// PartyAnswer is a 2xx to a call about a customer or a connected account.
type PartyAnswer struct {
	Receipt
	Party Party
}

// Send sends a frozen request about an intent once. It returns *Error for Stripe's refusals, *NotSentError when certainly nothing left this machine,
// and any other error when the outcome is not known.
func (c *Client) Send(ctx context.Context, credentials Credentials, request Request) (Answer, error) {
	intent := &stripe.PaymentIntent{}
	if err := c.send(ctx, credentials, request, intent); err != nil {
		return Answer{}, err
	}
	return Answer{Receipt: receiptOf(intent.LastResponse), Intent: intentOf(intent, credentials.Account)}, nil
}

// SendRefund is Send for a request about a refund: POST /v1/refunds, or /v1/refunds/{id}/cancel.
func (c *Client) SendRefund(ctx context.Context, credentials Credentials, request Request) (RefundAnswer, error) {
	refund := &stripe.Refund{}
	if err := c.send(ctx, credentials, request, refund); err != nil {
		return RefundAnswer{}, err
	}
	return RefundAnswer{Receipt: receiptOf(refund.LastResponse), Refund: refundOf(refund, credentials.Account)}, nil
}

// SendPayout is Send for a request about a payout: POST /v1/payouts, or /v1/payouts/{id}/cancel.
func (c *Client) SendPayout(ctx context.Context, credentials Credentials, request Request) (PayoutAnswer, error) {
	payout := &stripe.Payout{}
	if err := c.send(ctx, credentials, request, payout); err != nil {
		return PayoutAnswer{}, err
	}
	return PayoutAnswer{Receipt: receiptOf(payout.LastResponse), Payout: payoutOf(payout, credentials.Account)}, nil
}

// SendCustomer is Send for a request about a customer: POST /v1/customers.
func (c *Client) SendCustomer(ctx context.Context, credentials Credentials, request Request) (PartyAnswer, error) {
	customer := &stripe.Customer{}
	if err := c.send(ctx, credentials, request, customer); err != nil {
		return PartyAnswer{}, err
	}
	return PartyAnswer{Receipt: receiptOf(customer.LastResponse), Party: customerOf(customer, credentials.Account)}, nil
}

// SendConnectedAccount is Send for a request about a connected account: POST /v1/accounts.
func (c *Client) SendConnectedAccount(ctx context.Context, credentials Credentials, request Request) (PartyAnswer, error) {
	account := &stripe.Account{}
	if err := c.send(ctx, credentials, request, account); err != nil {
		return PartyAnswer{}, err
	}
	return PartyAnswer{Receipt: receiptOf(account.LastResponse), Party: connectedAccountOf(account, credentials.Account)}, nil
}

func (c *Client) send(ctx context.Context, credentials Credentials, request Request, into stripe.LastResponseSetter) error {
	key := request.IdempotencyKey.String()
	return c.call(ctx, http.MethodPost, request.Path, request.Version, credentials, &key, bytes.NewBuffer(request.Body), into)
}

func receiptOf(response *stripe.APIResponse) Receipt {
	return Receipt{RequestID: response.RequestID, Replayed: replayed(response.Header), Status: response.StatusCode}
}

func replayed(header http.Header) bool { return header.Get("Idempotent-Replayed") == "true" }
