package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/google/uuid"

	"payonce/payments"
)

// Dispute is what the payer's bank asks back, as the API and messages show it; payments has the words of its status. Its Fees are not in messages.
type Dispute = payments.DisputeView

// DisputeID names a dispute.
type DisputeID = payments.DisputeID

// Dispute reads a dispute as it is now. The errors are ErrNoAnswer and *RefusedError.
func (c *Client) Dispute(ctx context.Context, id DisputeID) (Dispute, error) {
	return exchange(ctx, c, request{method: http.MethodGet, path: "/v1/disputes/" + id.String()}, reply.dispute)
}

// Disputes lists the disputes of a payment, the oldest first. The errors are ErrNoAnswer and *RefusedError.
func (c *Client) Disputes(ctx context.Context, id PaymentID) ([]Dispute, error) {
	return exchange(ctx, c, request{method: http.MethodGet, path: pathOf(id) + "/disputes"}, reply.disputes)
}

// dispute reads a dispute. What is none was cut, or written by something between us.
func (r reply) dispute() (Dispute, error) {
	if r.status != http.StatusOK {
		return Dispute{}, r.refusal()
	}
	var dispute Dispute
	if err := json.Unmarshal(r.body, &dispute); err != nil {
		return Dispute{}, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	if dispute.Object != "dispute" || dispute.ID.UUID == uuid.Nil {
		return Dispute{}, fmt.Errorf("%w: not a dispute", errUnreadable)
	}
	return dispute, nil
}

func (r reply) disputes() ([]Dispute, error) {
	all, _, err := readList[Dispute](r)
	return all, err
}
