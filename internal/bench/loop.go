package main

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"payonce/internal/clock"
)

// loop does one thing again and again, inFlight at a time, for a while; what has begun then is finished. It returns how often it was done in how many
// seconds, the finishing included. The first error ends it.
func loop(ctx context.Context, inFlight int, during time.Duration, one func(ctx context.Context) error) (done int, seconds float64, err error) {
	began := clock.Wall()
	var count atomic.Int64
	group, running := errgroup.WithContext(ctx)
	for range inFlight {
		group.Go(func() error {
			for running.Err() == nil && clock.Wall().Sub(began) < during {
				if err := one(running); err != nil {
					return err
				}
				count.Add(1)
			}
			return nil
		})
	}
	err = group.Wait()
	if err == nil {
		err = ctx.Err()
	}
	return int(count.Load()), clock.Wall().Sub(began).Seconds(), err
}

// series collects figures from several goroutines.
type series struct {
	mutex  sync.Mutex
	values []float64
}

func (s *series) add(value float64) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.values = append(s.values, value)
}

// all are the figures so far.
func (s *series) all() []float64 {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return append([]float64(nil), s.values...)
}

// milliseconds since a time.
func milliseconds(since time.Time) float64 { return clock.Wall().Sub(since).Seconds() * 1000 }
