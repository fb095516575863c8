package main_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/internal/app"
	"payonce/internal/testkit/system"
	"payonce/internal/timing"
	"payonce/payments"
	"payonce/stripesim/control"
)

// Told to stop, `payonce serve` takes no new connection, lets the caller who waits have the outcome, and ends well.
func TestServeAnswersWhoWaitsBeforeItEnds(t *testing.T) {
	t.Parallel()
	s := system.New(t)
	serve := s.ServeProcess()
	s.StartWorker()
	hold, err := s.Twin.Hold(t.Context(), control.Hold{Method: http.MethodPost, Path: "/v1/payment_intents/*/confirm", Point: control.BeforeEffect})
	require.NoError(t, err)
	type outcome struct {
		answer system.Answer
		err    error
	}
	waited := make(chan outcome, 1)
	go func() {
		answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments", "K1", system.Order("order-1", 1000), "wait=30")
		waited <- outcome{answer, err}
	}()
	_, err = s.Twin.Held(t.Context(), 1)
	require.NoError(t, err)
	serve.Terminate()
	s.Eventually("no new connection is taken", func() bool { return !s.Listening() })
	require.NoError(t, s.Twin.Release(t.Context(), hold.ID))
	got := <-waited
	require.NoError(t, got.err)
	require.Equal(t, http.StatusCreated, got.answer.Status, "%s", got.answer.Body)
	require.Equal(t, payments.StatusSucceeded, got.answer.Payment(t).Status)
	require.Zero(t, serve.Ended())
}

// Told to stop, `payonce worker` lets the call that is under way come back, applies its answer, and ends well.
func TestWorkerAppliesTheAnswerUnderWayBeforeItEnds(t *testing.T) {
	t.Parallel()
	s := system.New(t, func(c *app.Config) { c.Timing = timing.Production() }) // a try waits 30 s: the held one is still there when it is let go
	s.StartAPI()
	s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDrop})
	worker := s.WorkerProcess()
	hold, err := s.Twin.Hold(t.Context(), control.Hold{Method: http.MethodPost, Path: "/v1/payment_intents/*/confirm", Point: control.AfterEffect})
	require.NoError(t, err)
	answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments", "K1", system.Order("order-1", 1000), "wait=0")
	require.NoError(t, err)
	id := answer.Payment(t).ID
	_, err = s.Twin.Held(t.Context(), 2) // the short first try has given up, and Stripe holds the long second one
	require.NoError(t, err)
	worker.Terminate()
	require.NoError(t, s.Twin.Release(t.Context(), hold.ID))
	require.Zero(t, worker.Ended())
	require.Equal(t, payments.StatusSucceeded, s.Payment(id).Status, "nobody else works")
	require.Equal(t, 1, s.Book(id).ConfirmsExecuted)
}

// With nothing under way both end at once and well.
func TestIdleProcessesEndWellWhenTold(t *testing.T) {
	t.Parallel()
	s := system.New(t)
	for _, process := range []*system.Process{s.ServeProcess(), s.WorkerProcess()} {
		process.Terminate()
		require.Zero(t, process.Ended())
	}
}
