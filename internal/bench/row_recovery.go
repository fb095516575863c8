package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"payonce/internal/bench/result"
	"payonce/internal/clock"
	"payonce/internal/timing"
)

const rowRecovery = "recovery_p99"

// recoveryMargin is what is allowed beyond the workflow task's time-out.
const recoveryMargin = 2 * time.Second

// measureRecovery kills one of two workers again and again, and takes how long after the kill each payment that was under way had its outcome.
func (s *session) measureRecovery(ctx context.Context) ([]result.Row, error) {
	api := s.grown.apart()[0]
	workers := []payonce{s.grown.worker(1), s.grown.worker(2)}
	var took []float64
	for n := range s.lengths.kills {
		if err := s.warm(ctx, s.grown, []payonce{api, workers[0], workers[1]}); err != nil {
			return nil, err
		}
		victim := workers[n%len(workers)].name
		samples, err := s.killUnderLoad(ctx, victim)
		if err != nil {
			return nil, fmt.Errorf("kill %d: %w", n+1, err)
		}
		took = append(took, samples...)
		s.say("kill %d of %d: %d payments were under way, the slowest had its outcome after %.1f s",
			n+1, s.lengths.kills, len(samples), result.Percentile(samples, 100))
	}
	bound := (timing.Production().WorkflowTask + recoveryMargin).Seconds()
	row := result.NewRow(rowRecovery, "s", []float64{result.Percentile(took, 99)}, "workflow task time-out + 2 s", []float64{bound}, result.AtMost(1))
	row.Note = fmt.Sprintf("%d payments that were under way in %d kills, from the kill to the outcome at the caller; p50 %.2f s, slowest %.2f s",
		len(took), s.lengths.kills, result.Median(took), result.Percentile(took, 100))
	return []result.Row{row}, nil
}

// underWay times the payments that were asked for before a kill and answered after it.
type underWay struct {
	mutex  sync.Mutex
	killed time.Time // zero: not yet
	after  []float64 // seconds from the kill to the answer
}

// begin tells whether one more may begin.
func (u *underWay) begin() bool {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	return u.killed.IsZero()
}

func (u *underWay) end() {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if !u.killed.IsZero() {
		u.after = append(u.after, clock.Wall().Sub(u.killed).Seconds())
	}
}

// kill notes the time at which nothing more may begin.
func (u *underWay) kill() {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	u.killed = clock.Wall()
}

// killUnderLoad kills a worker while payments are under way, lets nothing more begin, and returns how long each took from then on.
func (s *session) killUnderLoad(ctx context.Context, victim string) ([]float64, error) {
	state := &underWay{}
	answers := make(chan struct{}, inFlight)
	group, running := errgroup.WithContext(ctx)
	for range inFlight {
		group.Go(func() error {
			for running.Err() == nil && state.begin() {
				if err := s.payThroughKill(running, state); err != nil {
					return err
				}
				select {
				case answers <- struct{}{}:
				default:
				}
			}
			return nil
		})
	}
	group.Go(func() error {
		for range 2 * inFlight { // the load runs evenly
			select {
			case <-answers:
			case <-running.Done():
				return nil
			}
		}
		state.kill()
		return s.kill(victim, syscall.SIGKILL)
	})
	err := group.Wait()
	return state.after, err
}

// payThroughKill asks for a payment until it has its outcome, also when it is sent away meanwhile.
func (s *session) payThroughKill(ctx context.Context, state *underWay) error {
	o := s.grown.shop.order()
	defer state.end()
	for {
		status, err := s.grown.shop.submit(ctx, o, 30)
		if err != nil {
			return err
		}
		switch status {
		case http.StatusCreated:
			return nil
		case http.StatusAccepted, http.StatusConflict: // no outcome yet
			if err := pause(ctx, 50*time.Millisecond); err != nil {
				return err
			}
		default:
			return fmt.Errorf("order %s: answered %d", o.reference, status)
		}
	}
}
