package api_test

import (
	"errors"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"payonce/boundaries"
	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/workflows"
)

// A payment that is over gets no second run by any of our own wake-ups; a run that somebody else starts under its id finds nothing to do.
func TestWakingAFinishedPaymentStartsNothing(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	first := s.Create("K1", system.Order("order-1", 1000))
	require.Equal(t, http.StatusCreated, first.Status, "%s", first.Body)
	id := first.Payment(t).ID
	workflow := boundaries.PaymentWorkflowID(id)
	require.NoError(t, s.App.Temporal.GetWorkflow(t.Context(), workflow, "").Get(t.Context(), nil))
	run := func() string {
		described, err := s.App.Temporal.DescribeWorkflow(t.Context(), workflow, "")
		require.NoError(t, err)
		return described.WorkflowExecution.RunID
	}
	finished := run()
	waker := &workflows.Waker{Client: s.App.Temporal, TaskQueue: s.Config.TaskQueue, Timing: s.Config.Timing}
	var done sync.WaitGroup
	for range 5 {
		for _, wake := range []func() error{
			func() error { return waker.Start(t.Context(), id) }, func() error { return waker.Wake(t.Context(), id) },
		} {
			done.Go(func() {
				if err := wake(); err != nil && !errors.Is(err, workflows.ErrOver) {
					t.Error(err)
				}
			})
		}
	}
	done.Wait()
	require.Equal(t, finished, run())

	tries := workflows.Tries{
		Local: s.Config.Timing.LocalTry, Try: s.Config.Timing.Try, Initial: s.Config.Timing.RetryInitial, Maximum: s.Config.Timing.RetryMaximum,
	}
	stranger, err := s.App.Temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: workflow, TaskQueue: s.Config.TaskQueue},
		workflows.NamePayment, workflows.PaymentInput{Version: 1, Payment: id, Tries: tries})
	require.NoError(t, err)
	require.NoError(t, stranger.Get(t.Context(), nil))
	s.Settle()
	require.Equal(t, payments.StatusSucceeded, s.Payment(id).Status)
	require.Len(t, s.Requests(http.MethodPost, "/v1/payment_intents"), 1)
	require.Len(t, s.Requests(http.MethodPost, "/v1/payment_intents/*/confirm"), 1)
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.ledger_journals`))
	require.Len(t, s.Receiver.Of(t, id.String()), 1)
}
