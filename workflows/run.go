package workflows

import (
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// Tries are the durations of an act's tries, taken from the configuration when the workflow starts.
type Tries struct {
	Local   time.Duration `json:"local"`   // start-to-close of the first, local try
	Try     time.Duration `json:"try"`     // start-to-close of every later try
	Initial time.Duration `json:"initial"` // first back-off
	Maximum time.Duration `json:"maximum"` // longest back-off
}

// run is one workflow execution.
type run struct {
	owner   string // its id
	wake    workflow.ReceiveChannel
	local   workflow.LocalActivityOptions
	regular workflow.ActivityOptions
}

func newRun(ctx workflow.Context, tries Tries) *run {
	return &run{
		owner: workflow.GetInfo(ctx).WorkflowExecution.ID,
		wake:  workflow.GetSignalChannel(ctx, SignalWake),
		local: workflow.LocalActivityOptions{
			StartToCloseTimeout: tries.Local,
			RetryPolicy:         &temporal.RetryPolicy{MaximumAttempts: 1},
		},
		regular: workflow.ActivityOptions{
			StartToCloseTimeout: tries.Try,
			RetryPolicy: &temporal.RetryPolicy{
				InitialInterval: tries.Initial, BackoffCoefficient: 2, MaximumInterval: tries.Maximum,
			},
		},
	}
}

// tryAct makes the first try as a short local activity; without a definite answer the same frozen request goes on as a regular activity, with
// back-off and without an end. A pause that the first try asks for is kept: Stripe's Retry-After counts from the first answer on.
func tryAct[S any](ctx workflow.Context, r *run, name string, in func(local bool) any) (S, error) {
	var step, none S
	err := workflow.ExecuteLocalActivity(workflow.WithLocalActivityOptions(ctx, r.local), name, in(true)).Get(ctx, &step)
	if err == nil {
		return step, nil
	}
	if pause := askedPause(err); pause > 0 {
		if err := workflow.Sleep(ctx, pause); err != nil {
			return none, err
		}
	}
	err = workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, r.regular), name, in(false)).Get(ctx, &step)
	return step, err
}

// askedPause is how long the failed try asks to wait; 0 when it leaves that to the back-off.
func askedPause(err error) time.Duration {
	var failed *temporal.ApplicationError
	if !errors.As(err, &failed) {
		return 0
	}
	return failed.NextRetryDelay()
}

// drained takes every wake-up that has arrived and tells whether there was one.
func (r *run) drained() bool {
	woken := false
	for r.wake.ReceiveAsync(nil) {
		woken = true
	}
	return woken
}

// sleep waits to be woken: by a command, by a fact that changed the payment, or by the relay.
func (r *run) sleep(ctx workflow.Context) { r.wake.Receive(ctx, nil) }

// long tells whether the history has grown enough to start afresh.
func (r *run) long(ctx workflow.Context) bool {
	return workflow.GetInfo(ctx).GetContinueAsNewSuggested()
}
