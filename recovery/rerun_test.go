package recovery_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"

	"payonce/boundaries"
	"payonce/internal/app"
	"payonce/internal/testkit/system"
	"payonce/internal/timing"
	"payonce/payments"
	"payonce/stripesim/control"
	"payonce/workflows"
)

// historyOf is the history of the payment's workflow, of its newest run.
func historyOf(t *testing.T, s *system.System, payment payments.PaymentID) []*historypb.HistoryEvent {
	t.Helper()
	var history []*historypb.HistoryEvent
	events := s.App.Temporal.GetWorkflowHistory(t.Context(), boundaries.PaymentWorkflowID(payment), "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		require.NoError(t, err)
		history = append(history, event)
	}
	return history
}

// requireOnce requires that Stripe was asked to create and to confirm once, and that one journal and one message came of it.
func requireOnce(t *testing.T, s *system.System, payment payments.PaymentID) {
	t.Helper()
	require.Equal(t, payments.StatusSucceeded, s.Payment(payment).Status)
	book := s.Book(payment)
	require.Equal(t, 1, book.ConfirmsExecuted)
	require.EqualValues(t, 1000, book.Captured)
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.ledger_journals`))
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.notifications`))
	for _, path := range []string{"/v1/payment_intents", "/v1/payment_intents/*/confirm"} {
		for _, send := range s.Requests(http.MethodPost, path) {
			require.Equal(t, s.Requests(http.MethodPost, path)[0].IdempotencyKey, send.IdempotencyKey)
		}
	}
}

// The workflow is woken while its last act is under way, so that it would close with the wake-up unheard: it closes only after it has read what
// the wake-up came for.
func TestAWakeUpDuringTheLastActIsHeardBeforeTheEnd(t *testing.T) {
	t.Parallel()
	s := system.Start(t, func(c *app.Config) { c.Timing = timing.Production() })
	s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDrop})
	hold, err := s.Twin.Hold(t.Context(), control.Hold{Method: http.MethodPost, Path: "/v1/payment_intents/*/confirm", Point: control.AfterEffect})
	require.NoError(t, err)
	answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments", "K1", system.Order("order-1", 1000), "wait=0")
	require.NoError(t, err)
	id := answer.Payment(t).ID
	_, err = s.Twin.Held(t.Context(), 1)
	require.NoError(t, err)
	for range 3 { // as when a wake-up is repeated
		require.NoError(t, s.App.Activities.Waker.Wake(t.Context(), id))
	}
	require.NoError(t, s.Twin.Release(t.Context(), hold.ID))
	s.Settle()
	ended(t, s, id)
	heard, read := false, false
	for _, event := range historyOf(t, s, id) {
		if event.EventType == enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED {
			heard, read = true, false
		}
		if event.EventType == enumspb.EVENT_TYPE_MARKER_RECORDED || event.EventType == enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED {
			read = heard
		}
	}
	require.True(t, heard)
	require.True(t, read, "an act follows the last wake-up")
	requireOnce(t, s, id)
}

// An operator resets the workflow of a paid payment to its first step, and it is woken again and again: it runs anew, and finds everything done.
func TestAWorkflowResetToItsBeginningRepeatsNothing(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	first := s.Create("K1", system.Order("order-1", 1000))
	require.Equal(t, http.StatusCreated, first.Status, "%s", first.Body)
	id := first.Payment(t).ID
	s.Settle()
	ended(t, s, id)
	sends := len(s.Requests(http.MethodPost, "/v1/payment_intents")) + len(s.Requests(http.MethodPost, "/v1/payment_intents/*/confirm"))
	begun := runOf(t, s, id)
	reset, err := s.App.Temporal.ResetWorkflowExecution(t.Context(), &workflowservice.ResetWorkflowExecutionRequest{
		Namespace:                 s.Config.TemporalNamespace,
		WorkflowExecution:         &commonpb.WorkflowExecution{WorkflowId: boundaries.PaymentWorkflowID(id), RunId: begun},
		Reason:                    "a person begins again",
		WorkflowTaskFinishEventId: firstTask(t, s, id),
		RequestId:                 uuid.NewString(),
	})
	require.NoError(t, err)
	require.NotEqual(t, begun, reset.RunId)
	for range 3 {
		_ = s.App.Temporal.SignalWorkflow(t.Context(), boundaries.PaymentWorkflowID(id), "", workflows.SignalWake, nil) // it may have ended by now
	}
	ended(t, s, id)
	require.Equal(t, reset.RunId, runOf(t, s, id))
	s.Settle()
	requireOnce(t, s, id)
	require.Equal(t, sends,
		len(s.Requests(http.MethodPost, "/v1/payment_intents"))+len(s.Requests(http.MethodPost, "/v1/payment_intents/*/confirm")))
	require.Equal(t, first.Body, s.Create("K1", system.Order("order-1", 1000)).Body)
}

// firstTask is where the workflow's first task ended.
func firstTask(t *testing.T, s *system.System, payment payments.PaymentID) int64 {
	t.Helper()
	for _, event := range historyOf(t, s, payment) {
		if event.EventType == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
			return event.EventId
		}
	}
	require.FailNow(t, "no task was completed")
	return 0
}

// The workflow is terminated while Stripe is asked, and no caller comes back: what follows a payment is no child of it but rows, so another run
// takes it to its end and its message is sent.
func TestATerminatedWorkflowIsFollowedByAnother(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDrop})
	hold, err := s.Twin.Hold(t.Context(), control.Hold{Method: http.MethodPost, Path: "/v1/payment_intents", Point: control.AfterEffect})
	require.NoError(t, err)
	answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments", "K1", system.Order("order-1", 1000), "wait=0")
	require.NoError(t, err)
	id := answer.Payment(t).ID
	_, err = s.Twin.Held(t.Context(), 2) // the short first try has given up, and its workflow waits for the second
	require.NoError(t, err)
	terminated := runOf(t, s, id)
	require.NoError(t, s.App.Temporal.TerminateWorkflow(t.Context(), boundaries.PaymentWorkflowID(id), "", "by mistake"))
	require.NoError(t, s.Twin.Release(t.Context(), hold.ID))
	s.Eventually("the payment succeeds", func() bool { return s.Payment(id).Status == payments.StatusSucceeded })
	s.Settle()
	ended(t, s, id)
	require.NotEqual(t, terminated, runOf(t, s, id))
	requireOnce(t, s, id)
	require.Len(t, s.Receiver.Of(t, id.String()), 1)
}
