package recovery

import (
	"context"
	"log/slog"
	"time"
)

// Loop does a piece of work again and again: at once while there is more, else when nudged, else every interval.
type Loop struct {
	Name   string
	Every  time.Duration
	Nudge  <-chan struct{}                                 // may be nil
	Gather time.Duration                                   // waits so long after a nudge for what comes together to be there
	Work   func(ctx context.Context) (more int, err error) // more: positive when there may be more to do at once
	Log    *slog.Logger
}

// Run works until ctx ends. An error is logged and waits for the next round: the loop is what mends.
func (l Loop) Run(ctx context.Context) error {
	ticker := time.NewTicker(l.Every)
	defer ticker.Stop()
	for {
		more, err := l.Work(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			l.Log.Warn("recovery loop", "loop", l.Name, "error", err)
		}
		if more > 0 && err == nil {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-l.Nudge:
			if !l.gather(ctx) {
				return nil
			}
		case <-ticker.C:
		}
	}
}

// gather waits for what comes together; false when ctx ends.
func (l Loop) gather(ctx context.Context) bool {
	if l.Gather == 0 {
		return true
	}
	timer := time.NewTimer(l.Gather)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// Nudge is a signal that never blocks and is never lost: one is kept.
type Nudge chan struct{}

// NewNudge makes one.
func NewNudge() Nudge { return make(Nudge, 1) }

// Send nudges.
func (n Nudge) Send() {
	select {
	case n <- struct{}{}:
	default:
	}
}
