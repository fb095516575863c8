package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/google/uuid"

	"payonce/payments"
)

// Refund is a refund as the API shows it; payments has the words of its status.
type Refund = payments.RefundView

// RefundID names a refund.
type RefundID = payments.RefundID

// CreateRefund asks to give money back.
type CreateRefund struct {
	Amount    int64             `json:"amount,omitempty"` // minor units; 0: all that may still be given back
	Reference string            `json:"reference"`        // yours, for instance a returned item: two equal refunds have two references
	Reason    RefundReason      `json:"reason,omitempty"`
	Metadata  map[string]string `json:"metadata,omitempty"`
}

// RefundReason is why, in Stripe's words (https://docs.stripe.com/api/refunds/create).
type RefundReason string

// The reasons; none need be given.
const (
	RefundDuplicate           RefundReason = "duplicate"
	RefundFraudulent          RefundReason = "fraudulent"
	RefundRequestedByCustomer RefundReason = "requested_by_customer"
)

// RefundAnswer is what CreateRefund was answered when it was not refused: a refund or, when all of a hold was asked back, the payment, whose hold
// was let go instead.
type RefundAnswer struct {
	Refund    Refund   // as of the answer, perhaps still pending; an old one when Replayed. Zero with Released
	Released  *Payment // nil but of a hold
	Status    int      // HTTP: 201 of a refund, 200 of a hold and after the replay window, 202 while unsettled
	Settled   bool     // there is an outcome. Otherwise repeat the call with the same key, or AwaitRefund (of a hold: AwaitEnd)
	Replayed  bool     // the stored answer of an earlier request, byte for byte
	RequestID string   // for whoever reads our logs
}

// CreateRefund gives money back once per reference, whatever the key. Its outcome may be a refund that is pending, for days: see AwaitRefund. More
// than may still be given back refuses with CodeAmountTooLarge. The errors are ErrNoReference and those of CreatePayment.
func (c *Client) CreateRefund(ctx context.Context, key Key, id PaymentID, refund CreateRefund) (RefundAnswer, error) {
	if refund.Reference == "" {
		return RefundAnswer{}, fmt.Errorf("%w: a refund may rightly be made twice", ErrNoReference)
	}
	if err := checkReference(refund.Reference); err != nil {
		return RefundAnswer{}, err
	}
	command, err := c.write(pathOf(id)+"/refunds", key, refund)
	if err != nil {
		return RefundAnswer{}, err
	}
	return exchange(ctx, c, *command, reply.refundAnswer)
}

// Refund reads a refund as it is now. The errors are ErrNoAnswer and *RefusedError.
func (c *Client) Refund(ctx context.Context, id RefundID) (Refund, error) {
	return exchange(ctx, c, request{method: http.MethodGet, path: "/v1/refunds/" + id.String()}, func(r reply) (Refund, error) {
		if r.status != http.StatusOK {
			return Refund{}, r.refusal()
		}
		return r.refund()
	})
}

// Refunds lists the refunds of a payment, the oldest first, also those that were made elsewhere. The errors are ErrNoAnswer and *RefusedError.
func (c *Client) Refunds(ctx context.Context, id PaymentID) ([]Refund, error) {
	return exchange(ctx, c, request{method: http.MethodGet, path: pathOf(id) + "/refunds"}, reply.refunds)
}

// AwaitRefund waits until the refund is over: succeeded, failed (a refused one too: see LastError) or canceled. It waits as long as the context: a
// refund may be pending for days. One that has succeeded can still fail, days later; a message tells. The errors are *RefusedError and the
// context's.
func (c *Client) AwaitRefund(ctx context.Context, id RefundID) (Refund, error) {
	return poll(ctx, c, func(ctx context.Context) (Refund, error) { return c.Refund(ctx, id) }, func(r Refund) bool { return r.Status.Terminal() })
}

// refundAnswer reads an answer to CreateRefund.
func (r reply) refundAnswer() (RefundAnswer, error) {
	switch r.status {
	case http.StatusOK, http.StatusCreated, http.StatusAccepted:
	default:
		return RefundAnswer{}, r.refusal()
	}
	answer := RefundAnswer{Status: r.status, Settled: r.status != http.StatusAccepted, Replayed: r.replayed(), RequestID: r.requestID()}
	payment, err := r.payment()
	if err == nil {
		answer.Released = &payment
		return answer, nil
	}
	answer.Refund, err = r.refund()
	return answer, err
}

// refund reads a refund. What is none was cut, or written by something between us.
func (r reply) refund() (Refund, error) {
	var refund Refund
	if err := json.Unmarshal(r.body, &refund); err != nil {
		return Refund{}, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	if refund.Object != "refund" || refund.ID.UUID == uuid.Nil {
		return Refund{}, fmt.Errorf("%w: not a refund", errUnreadable)
	}
	return refund, nil
}

func (r reply) refunds() ([]Refund, error) {
	all, _, err := readList[Refund](r)
	return all, err
}
