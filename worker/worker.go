// Package worker registers the workflows and activities: one function for the binary, the tests and the replays.
//
// It may import workflows and activities. It must not know how they are built.
package worker

import (
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"payonce/activities"
	"payonce/workflows"
)

// Register registers everything that a payment needs, under the names that workflows pin.
func Register(registry worker.Registry, acts *activities.Activities) {
	registry.RegisterWorkflowWithOptions(workflows.Payment, workflow.RegisterOptions{Name: workflows.NamePayment})
	registry.RegisterWorkflowWithOptions(workflows.Refund, workflow.RegisterOptions{Name: workflows.NameRefund})
	registry.RegisterWorkflowWithOptions(workflows.Payout, workflow.RegisterOptions{Name: workflows.NamePayout})
	registry.RegisterWorkflowWithOptions(workflows.Provision, workflow.RegisterOptions{Name: workflows.NameProvision})
	registry.RegisterWorkflowWithOptions(workflows.Backfill, workflow.RegisterOptions{Name: workflows.NameBackfill})
	for name, act := range map[string]any{
		workflows.NameCreateIntent: acts.CreateIntent,
		workflows.NameConfirm:      acts.ConfirmIntent,
		workflows.NameCancel:       acts.CancelIntent,
		workflows.NameCapture:      acts.CaptureIntent,
		workflows.NameReadPayment:  acts.ReadPayment,
		workflows.NameCreateRefund: acts.CreateRefund,
		workflows.NameReadRefund:   acts.ReadRefund,
		workflows.NameCreatePayout: acts.CreatePayout,
		workflows.NameReadPayout:   acts.ReadPayout,

		workflows.NameCreateProvision: acts.CreateProvision,
		workflows.NameReadProvision:   acts.ReadProvision,

		workflows.NameBackfillEvents: acts.Backfill,
	} {
		registry.RegisterActivityWithOptions(act, activity.RegisterOptions{Name: name})
	}
}

// Options of a worker.
type Options struct {
	TaskQueue string
	Grace     time.Duration // how long running activities may finish when the worker stops; the SDK's default is none
	OnFatal   func(error)   // called when the worker stops by itself, for instance because its namespace is gone
	Sticky    time.Duration // how long a task waits for the worker that has the workflow in memory: part of the recovery time after a kill
}

// New makes a worker with everything registered.
func New(c client.Client, options Options, acts *activities.Activities) worker.Worker {
	w := worker.New(c, options.TaskQueue, worker.Options{
		WorkerStopTimeout:                options.Grace,
		OnFatalError:                     options.OnFatal,
		StickyScheduleToStartTimeout:     options.Sticky,
		MaxConcurrentWorkflowTaskPollers: 4,
		MaxConcurrentActivityTaskPollers: 4,
	})
	Register(w, acts)
	return w
}
