package notifications

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"
)

// mark stores what a try came to.
func (d *Dispatcher) mark(ctx context.Context, c claim, result outcome) error {
	if result.cause == causeNone {
		return d.markDelivered(ctx, c, result)
	}
	return d.markFailed(ctx, c, result)
}

// markDelivered needs no fence: whoever learns that the receiver took the message is right for ever.
func (d *Dispatcher) markDelivered(ctx context.Context, c claim, result outcome) error {
	_, err := d.pool.Exec(ctx, `
		UPDATE payonce.notifications
		SET status = 'delivered', next_try_at = NULL, lease_owner = NULL, last_status = $2, last_error = NULL,
			settled_at = payonce.clock()
		WHERE id = $1 AND status <> 'delivered'`, c.id, result.status)
	if err != nil {
		return fmt.Errorf("mark message %s delivered: %w", c.id, err)
	}
	return nil
}

// markFailed sets the next try, or parks the message when its tries or its age are used up. It is fenced: a try whose lease was taken over
// says nothing any more.
func (d *Dispatcher) markFailed(ctx context.Context, c claim, result outcome) error {
	wait := d.backoff(c.tries)
	parked := result.final || c.tries >= d.config.MaxTries || c.age+wait > d.config.MaxAge
	var status *int
	if result.status != 0 {
		status = &result.status
	}
	changed, err := d.pool.Exec(ctx, `
		UPDATE payonce.notifications
		SET last_status = $4, last_error = $5, lease_owner = NULL,
			status = CASE WHEN $6 THEN 'parked' ELSE 'queued' END,
			next_try_at = CASE WHEN $6 THEN NULL ELSE payonce.clock() + $7::interval END,
			settled_at = CASE WHEN $6 THEN payonce.clock() END
		WHERE id = $1 AND status = 'queued' AND lease_owner = $2 AND tries = $3`,
		c.id, d.owner, c.tries, status, string(result.cause), parked, wait)
	if err != nil {
		return fmt.Errorf("mark message %s failed: %w", c.id, err)
	}
	if parked && changed.RowsAffected() == 1 {
		d.log.LogAttrs(ctx, slog.LevelError, "message parked", slog.String("message", c.id.String()),
			slog.String("endpoint", c.endpoint.String()), slog.Int("tries", c.tries), slog.String("cause", string(result.cause)))
	}
	return nil
}

// backoff is the wait after the n-th try: it doubles up to the longest, and a random part of up to half is taken off, so that what failed
// together does not return together.
func (d *Dispatcher) backoff(tries int) time.Duration {
	wait := d.config.BackoffFirst
	for range tries - 1 {
		if wait >= d.config.BackoffMax/2 {
			wait = d.config.BackoffMax
			break
		}
		wait *= 2
	}
	return wait - rand.N(wait/2+1)
}
