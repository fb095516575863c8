package recovery_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/boundaries"
	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

// The API dies right after the claim, with its caller attended. However late that caller comes back, nothing but its answer to come stands in its
// way: first it is told to come again, and once the dead process cannot be attending any more its repeat takes that place and wakes the workflow.
func TestACallerOfADeadProcessIsNotLockedOut(t *testing.T) {
	t.Parallel()
	s := system.New(t)
	temporal := s.Config.TemporalAddress
	s.Config.TemporalAddress = nowhere
	dying := s.ServeProcess()
	ctx, giveUp := context.WithCancel(t.Context())
	posted := make(chan struct{})
	go func() {
		defer close(posted)
		_, _ = s.Post(ctx, s.APIKey, "/v1/payments", "K1", system.Order("order-1", 1000), "wait=30")
	}()
	s.Eventually("the claim is committed", func() bool { return s.Count(`SELECT count(*) FROM payonce.payments`) == 1 })
	dying.Kill()
	giveUp()
	<-posted

	s.Config.TemporalAddress = temporal
	s.App = s.Open()
	s.StartAPI() // and no worker: nothing is mended behind the caller's back
	var answer system.Answer
	var err error
	for _, later := range []time.Duration{time.Second, 29 * time.Second, 5*time.Minute - 30*time.Second} {
		s.DB.AdvanceClock(t, later)
		answer, err = s.Post(t.Context(), s.APIKey, "/v1/payments", "K1", system.Order("order-1", 1000), "wait=0")
		require.NoError(t, err)
		require.Contains(t, []int{http.StatusAccepted, http.StatusConflict}, answer.Status, "%s", answer.Body)
		require.NotEmpty(t, answer.Header.Get("Location"))
		require.NotEmpty(t, answer.Header.Get("Retry-After"))
	}
	require.Equal(t, http.StatusAccepted, answer.Status, "five minutes later nobody attends it")
	id := answer.Payment(t).ID
	woken, err := s.App.Temporal.DescribeWorkflow(t.Context(), boundaries.PaymentWorkflowID(id), "")
	require.NoError(t, err, "the repeat woke the workflow")
	require.Equal(t, boundaries.PaymentWorkflowID(id), woken.WorkflowExecution.ID)

	s.StartWorker()
	s.Eventually("the caller has its result", func() bool {
		answer = s.Create("K1", system.Order("order-1", 1000))
		return answer.Status == http.StatusCreated
	})
	require.Equal(t, payments.StatusSucceeded, answer.Payment(t).Status)
	require.EqualValues(t, 1000, s.Book(id).Captured)
}

// Every answer to the create is lost, then the worker dies: the next one asks with the same key and bytes, and Stripe's memory answers.
func TestALostAnswerIsAskedForAgainByTheNextWorker(t *testing.T) {
	t.Parallel()
	s := system.New(t)
	s.StartAPI()
	s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDrop})
	lost := s.Fault(control.Rule{Match: control.Match{Method: http.MethodPost, Path: "/v1/payment_intents"}, Fault: control.FaultAnswerLost})
	worker := s.WorkerProcess()
	answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments", "K1", system.Order("order-1", 1000), "wait=0")
	require.NoError(t, err)
	id := answer.Payment(t).ID
	s.Eventually("five tries were made", func() bool { return len(s.Requests(http.MethodPost, "/v1/payment_intents")) >= 5 })
	worker.Kill()
	require.NoError(t, s.Twin.DeleteFault(t.Context(), lost.ID))
	s.WorkerProcess()
	s.Eventually("the payment succeeds", func() bool { return s.Payment(id).Status == payments.StatusSucceeded })
	sends := s.Requests(http.MethodPost, "/v1/payment_intents")
	for _, send := range sends {
		require.Equal(t, sends[0].IdempotencyKey, send.IdempotencyKey)
		require.Equal(t, sends[0].Body, send.Body)
		require.Equal(t, send.Seq == sends[0].Seq, send.Executed)
	}
	last := sends[len(sends)-1]
	require.True(t, last.Replayed)
	require.NotEqual(t, sends[0].RequestID, last.RequestID)
	require.Equal(t, 1, s.Book(id).ConfirmsExecuted)
}

// A workflow without its payment, as after a restore, calls nobody and ends; it does not stand in the way of the payment when that is claimed.
func TestAWorkflowWithoutItsPaymentEndsWithoutACall(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	id := boundaries.PaymentID(s.Tenant, "order-1", 1)
	require.NoError(t, s.App.Activities.Waker.Wake(t.Context(), id))
	require.Error(t, s.App.Temporal.GetWorkflow(t.Context(), boundaries.PaymentWorkflowID(id), "").Get(t.Context(), nil))
	require.Empty(t, s.Requests(http.MethodPost, "/v1/*"))
	answer := s.Create("K1", system.Order("order-1", 1000))
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Body)
	require.Equal(t, id, answer.Payment(t).ID)
	require.Equal(t, 1, s.Book(id).ConfirmsExecuted)
}
