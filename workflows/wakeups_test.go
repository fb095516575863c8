package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/workflow"

	"payonce/payments"
	"payonce/workflows"
)

// A wake-up that arrives while the last act runs is not lost in the closing: what it came for is read, and acted on.
func TestAWakeUpAtTheClosingEdgeIsHeard(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.then(workflows.NameCreateIntent, func() workflows.Step {
		s.wake()
		return over()
	})
	s.then(workflows.NameReadPayment, next(payments.OperationCancel))
	s.then(workflows.NameCancel, over)
	require.Equal(t, []string{workflows.NameCreateIntent, workflows.NameReadPayment, workflows.NameCancel}, s.run(t))
	require.NoError(t, s.env.GetWorkflowError())
}

// However many wake-ups come together, Postgres is read for the first of them and once more for all that came meanwhile.
func TestAThousandWakeUpsAtOnceAreTwoReads(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.env.RegisterDelayedCallback(func() {
		for range 1000 {
			s.wake()
		}
	}, time.Hour)
	s.then(workflows.NameReadPayment, waits)
	s.then(workflows.NameReadPayment, over)
	require.Equal(t, []string{workflows.NameCreateIntent, workflows.NameReadPayment, workflows.NameReadPayment}, s.run(t))
	require.NoError(t, s.env.GetWorkflowError())
}

// A wake-up that brings nothing changes nothing: the workflow sleeps on, and only what it reads moves it.
func TestARepeatedWakeUpMovesNothing(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	for hours := range 3 {
		s.env.RegisterDelayedCallback(s.wake, time.Duration(1+hours)*time.Hour)
	}
	s.then(workflows.NameReadPayment, waits)
	s.then(workflows.NameReadPayment, waits)
	s.then(workflows.NameReadPayment, over)
	reads := []string{workflows.NameReadPayment, workflows.NameReadPayment, workflows.NameReadPayment}
	require.Equal(t, append([]string{workflows.NameCreateIntent}, reads...), s.run(t))
	require.NoError(t, s.env.GetWorkflowError())
}

// A history that has grown long starts afresh under the same id and with the same input, and no wake-up is left behind in the old run.
func TestALongHistoryStartsAfresh(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.env.SetContinueAsNewSuggested(true)
	s.then(workflows.NameCreateIntent, func() workflows.Step {
		s.wake()
		return waits()
	})
	require.Equal(t, []string{workflows.NameCreateIntent, workflows.NameReadPayment}, s.run(t))
	var afresh *workflow.ContinueAsNewError
	require.ErrorAs(t, s.env.GetWorkflowError(), &afresh)
	require.Equal(t, workflows.NamePayment, afresh.WorkflowType.Name)
}
