package main

import (
	"context"
	"fmt"
	"time"
)

// quietWithin bounds the wait for quiet: longer than the longest lease, that of an event whose applier was killed.
const quietWithin = 150 * time.Second

// openWork counts what is still under way; every part of it reads a partial index that holds nothing else.
const openWork = `
	SELECT (SELECT count(*) FROM payonce.provider_events WHERE next_try_at IS NOT NULL)
	     + (SELECT count(*) FROM payonce.notifications WHERE next_try_at IS NOT NULL)
	     + (SELECT count(*) FROM payonce.idempotency_records WHERE next_wake_at IS NOT NULL)
	     + (SELECT count(*) FROM payonce.payments WHERE next_poll_at IS NOT NULL)`

// awaitQuiet waits until the twin has delivered every event, and payonce has applied and told everything. It returns how many events the twin has
// delivered so far.
func (s *site) awaitQuiet(ctx context.Context) (delivered int, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, quietWithin, fmt.Errorf("%s is not quiet within %s", s.name, quietWithin))
	defer cancel()
	for flushed := false; ; {
		var open int
		if err := s.system.QueryRow(ctx, openWork).Scan(&open); err != nil {
			return 0, fmt.Errorf("look for open work: %w", err)
		}
		switch {
		case open > 0:
			flushed = false
			if err := pause(ctx, 20*time.Millisecond); err != nil {
				return 0, fmt.Errorf("%w: %d things open", err, open)
			}
		case flushed:
			return delivered, nil
		default: // the twin may hold what has not been delivered yet
			counts, err := s.twin.Flush(ctx, true) // one that was refused goes again at once, and not in Stripe's ten minutes
			if err != nil {
				return 0, fmt.Errorf("flush the twin's deliveries: %w", err)
			}
			flushed, delivered = counts.Pending+counts.Scheduled == 0, counts.Delivered
		}
	}
}

// pause waits, or until ctx ends, which is an error.
func pause(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
