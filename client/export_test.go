package client

import (
	"context"
	"time"
)

// Pauses lets a test see the pauses between tries instead of living them, with a chance that is always the same.
func Pauses(see func(time.Duration)) Option {
	return func(c *Client) {
		c.backoff.random = func() float64 { return 0.5 }
		c.sleep = func(ctx context.Context, pause time.Duration) error {
			see(pause)
			return ctx.Err()
		}
	}
}
