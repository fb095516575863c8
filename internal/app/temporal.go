package app

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"go.temporal.io/sdk/client"
)

// How often a running worker looks whether Temporal answers, how long a look waits, and how often the log repeats that it does not.
const (
	lookEvery  = 5 * time.Second
	lookWithin = 5 * time.Second
	remindOnce = time.Minute
)

// temporal tells the log when Temporal goes away and when it is back, each once; between them a reminder now and then. Safe for concurrent use.
type temporal struct {
	log     *slog.Logger
	address string
	now     func() time.Time

	mu    sync.Mutex
	since time.Time // when it went away; zero while it answers
	told  time.Time // when that was last said
}

// look asks Temporal, and notes what came of it.
func (t *temporal) look(ctx context.Context, c client.Client) {
	looking, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	_, err := c.CheckHealth(looking, &client.CheckHealthRequest{})
	if ctx.Err() == nil { // else we are told to stop, and know nothing
		t.note(err)
	}
}

// note takes the outcome of a call; nil tells that Temporal answered.
func (t *temporal) note(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	switch {
	case err == nil && !t.since.IsZero():
		t.log.Info("Temporal answers again: what waited goes on", "address", t.address, "away", now.Sub(t.since).Round(time.Second))
		t.since = time.Time{}
	case err != nil && t.since.IsZero():
		t.since, t.told = now, now
		t.log.Warn("Temporal does not answer: commands are accepted and wait in Postgres; start it, or correct --temporal and --namespace",
			"address", t.address, "error", err)
	case err != nil && now.Sub(t.told) >= remindOnce:
		t.told = now
		t.log.Warn("Temporal still does not answer", "address", t.address, "away", now.Sub(t.since).Round(time.Second), "error", err)
	}
}

// away tells whether it did not answer when last asked.
func (t *temporal) away() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.since.IsZero()
}
