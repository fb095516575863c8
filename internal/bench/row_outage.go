package main

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"payonce/internal/bench/result"
	"payonce/internal/clock"
)

const rowOutage = "outage_drain"

// Bounds of the outage.
const (
	queueing    = 256              // callers at a time that have their command accepted while Temporal is away
	drainWithin = 14 * time.Minute // what has not drained by then fails the row; a command's deadline is 15
)

// measureOutage takes Temporal away, lets commands be accepted and queue, brings Temporal back, and compares how long live callers wait for their
// first answer while the backlog drains with how long they do without one.
func (s *session) measureOutage(ctx context.Context) ([]result.Row, error) {
	if err := s.ready(ctx, s.grown, s.grown.together()); err != nil {
		return nil, err
	}
	without, err := s.live(ctx, func() bool { return false }, 2*s.lengths.answers)
	if err != nil {
		return nil, fmt.Errorf("without a backlog: %w", err)
	}
	if err := s.stop(procTemporal); err != nil {
		return nil, err
	}
	accepted, err := s.queueCommands(ctx)
	if err != nil {
		return nil, fmt.Errorf("while Temporal was away: %w", err)
	}
	s.say("%d commands accepted in %.0f s while Temporal was away (%.0f/s)", s.lengths.backlog, accepted, float64(s.lengths.backlog)/accepted)
	if err := s.startTemporal(ctx); err != nil {
		return nil, err
	}
	began := clock.Wall()
	during, err := s.liveUntilDrained(ctx)
	if err != nil {
		return nil, err
	}
	drained := clock.Wall().Sub(began).Seconds()
	values, baselines, backlog := []float64{result.Median(during)}, []float64{result.Median(without)}, float64(s.lengths.backlog)
	row := result.NewRow(rowOutage, "ms", values, "p50 of first answers without a backlog", baselines, result.AtMost(2))
	row.Note = fmt.Sprintf("one live payment at a time, %d of them, p99 %.0f ms, while %.0f commands drained in %.0f s (%.0f/s) after Temporal was back; "+
		"they had been accepted at %.0f/s", len(during), result.Percentile(during, 99), backlog, drained, backlog/drained, backlog/accepted)
	return []result.Row{row}, nil
}

// queueCommands has the backlog accepted and returns in how many seconds.
func (s *session) queueCommands(ctx context.Context) (float64, error) {
	began := clock.Wall()
	group, running := errgroup.WithContext(ctx)
	var left atomic.Int64
	left.Store(int64(s.lengths.backlog))
	for range queueing {
		group.Go(func() error {
			for left.Add(-1) >= 0 {
				o := s.grown.shop.order()
				status, err := s.grown.shop.submit(running, o, 0)
				if err != nil {
					return err
				}
				if status != http.StatusAccepted {
					return fmt.Errorf("order %s: answered %d", o.reference, status)
				}
			}
			return nil
		})
	}
	err := group.Wait()
	return clock.Wall().Sub(began).Seconds(), err
}

// live makes one payment after the other until over, or for a while, and returns how long each first answer took, in milliseconds.
func (s *session) live(ctx context.Context, over func() bool, during time.Duration) ([]float64, error) {
	var answered series
	began := clock.Wall()
	for !over() && clock.Wall().Sub(began) < during {
		o := s.grown.shop.order()
		asked := clock.Wall()
		status, err := s.grown.shop.submit(ctx, o, 30)
		if err != nil {
			return nil, err
		}
		if status != http.StatusCreated && status != http.StatusAccepted {
			return nil, fmt.Errorf("order %s: answered %d", o.reference, status)
		}
		answered.add(milliseconds(asked))
	}
	return answered.all(), nil
}

// liveUntilDrained makes live payments until no command of the backlog is open.
func (s *session) liveUntilDrained(ctx context.Context) ([]float64, error) {
	var drained atomic.Bool
	ctx, cancel := context.WithTimeoutCause(ctx, drainWithin, fmt.Errorf("the backlog did not drain within %s", drainWithin))
	defer cancel()
	group, running := errgroup.WithContext(ctx)
	group.Go(func() error {
		for {
			var open int
			// One live payment is under way at a time.
			if err := s.grown.system.QueryRow(running, `SELECT count(*) FROM payonce.idempotency_records WHERE next_wake_at IS NOT NULL`).Scan(&open); err != nil {
				return fmt.Errorf("count the backlog: %w", err)
			}
			if open <= 1 {
				drained.Store(true)
				return nil
			}
			if err := pause(running, 500*time.Millisecond); err != nil {
				return fmt.Errorf("%w: %d commands open", err, open)
			}
		}
	})
	var answered []float64
	group.Go(func() (err error) {
		answered, err = s.live(running, drained.Load, drainWithin)
		return err
	})
	err := group.Wait()
	return answered, err
}
