package workflows_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"payonce/payments"
	"payonce/workflows"
)

// script runs a payment's workflow with acts that do nothing but say what comes next.
type script struct {
	env *testsuite.TestWorkflowEnvironment

	mutex sync.Mutex
	acts  []string                           // in the order in which they ran
	steps map[string][]func() workflows.Step // of each act, one after the other
}

func newScript(t *testing.T) *script {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	s := &script{env: suite.NewTestWorkflowEnvironment(), steps: map[string][]func() workflows.Step{}}
	s.env.RegisterWorkflowWithOptions(workflows.Payment, workflow.RegisterOptions{Name: workflows.NamePayment})
	for _, name := range []string{workflows.NameCreateIntent, workflows.NameConfirm, workflows.NameCancel, workflows.NameReadPayment} {
		s.env.RegisterActivityWithOptions(func(context.Context, workflows.Act) (workflows.Step, error) { return s.act(name), nil },
			activity.RegisterOptions{Name: name})
	}
	return s
}

// then says what the act's next call comes to.
func (s *script) then(act string, step func() workflows.Step) {
	s.steps[act] = append(s.steps[act], step)
}

func (s *script) act(name string) workflows.Step {
	s.mutex.Lock()
	s.acts = append(s.acts, name)
	step := func() workflows.Step { return waits() }
	if left := s.steps[name]; len(left) > 0 {
		step, s.steps[name] = left[0], left[1:]
	}
	s.mutex.Unlock()
	return step()
}

// wake signals the workflow as everybody does: without content.
func (s *script) wake() { s.env.SignalWorkflow(workflows.SignalWake, nil) }

// run runs the workflow to its end and returns the acts.
func (s *script) run(t *testing.T) []string {
	t.Helper()
	s.env.ExecuteWorkflow(workflows.NamePayment, workflows.PaymentInput{
		Version: 1, Payment: payments.PaymentID{UUID: uuid.New()},
		Tries: workflows.Tries{Local: time.Second, Try: time.Minute, Initial: time.Second, Maximum: time.Minute},
	})
	require.True(t, s.env.IsWorkflowCompleted())
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.acts
}

// over is where nothing comes next.
func over() workflows.Step {
	return workflows.Step{Version: 1, Stage: payments.StageLedgerApplied, Status: payments.StatusSucceeded, Over: true}
}

// waits is where the next command or fact is waited for.
func waits() workflows.Step {
	return workflows.Step{Version: 1, Stage: payments.StageExternalResourceCreated, Status: payments.StatusRequiresPaymentMethod}
}

// next is where an open command of the operation comes next.
func next(operation payments.Operation) func() workflows.Step {
	return func() workflows.Step {
		step := waits()
		step.Next = operation
		return step
	}
}
