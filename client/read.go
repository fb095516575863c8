package client

import (
	"context"
	"net/http"
)

// Payment reads a payment as it is now. The errors are ErrNoAnswer and *RefusedError.
func (c *Client) Payment(ctx context.Context, id PaymentID) (Payment, error) {
	return exchange(ctx, c, request{method: http.MethodGet, path: pathOf(id)}, func(r reply) (Payment, error) {
		if r.status != http.StatusOK {
			return Payment{}, r.refusal()
		}
		return r.payment()
	})
}
