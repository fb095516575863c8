package recovery

import (
	"context"
	"log/slog"
	"time"
)

// Loop does a piece of work again and again: at once while there is more, else when nudged, else every interval.
type Loop struct {
	Name  string
	Every time.Duration
	Nudge <-chan struct{} // may be nil
	Work  func(ctx context.Context) (done int, err error)
	Log   *slog.Logger
}

// Run works until ctx ends. An error is logged and waits for the next round: the loop is what mends.
func (l Loop) Run(ctx context.Context) error {
	ticker := time.NewTicker(l.Every)
	defer ticker.Stop()
	for {
		done, err := l.Work(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			l.Log.Warn("recovery loop", "loop", l.Name, "error", err)
		}
		if done > 0 && err == nil {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-l.Nudge:
		case <-ticker.C:
		}
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
