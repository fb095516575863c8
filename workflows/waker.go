package workflows

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"payonce/boundaries"
	"payonce/internal/timing"
	"payonce/payments"
)

// ErrOver says that a payment's workflow has run to its end: the payment is over, and a command of it is decided in Postgres.
var ErrOver = errors.New("the payment's workflow has ended")

// Waker starts and wakes payment workflows, without content: a wake-up lost, doubled or late changes nothing. None takes longer than a workflow
// task may, so that what is done in Postgres goes on while Temporal is down.
type Waker struct {
	Client    client.Client
	TaskQueue string
	Timing    timing.Timing

	eager atomic.Bool // a worker of this queue runs in this process, on the same client
	anew  bool        // also one that has completed
}

// Anew is a waker that also starts again what has completed: Temporal may remember the end of what a restored database has still to do.
func (w *Waker) Anew() *Waker {
	return &Waker{Client: w.Client, TaskQueue: w.TaskQueue, Timing: w.Timing, anew: true}
}

// SetEager says whether a worker of this queue runs in this process, on the same client, so that a new payment may go straight to it.
func (w *Waker) SetEager(eager bool) { w.eager.Store(eager) }

// Start starts the workflow of a payment just claimed; one that runs already, or has ended, is left alone.
func (w *Waker) Start(ctx context.Context, payment payments.PaymentID) error {
	ctx, cancel := context.WithTimeout(ctx, w.Timing.WorkflowTask)
	defer cancel()
	options := w.options(boundaries.PaymentWorkflowID(payment))
	options.EnableEagerStart = w.eager.Load()
	_, err := w.Client.ExecuteWorkflow(ctx, options, NamePayment, w.input(payment))
	return w.ended(err)
}

// Wake signals the payment's workflow and starts it if it is not there. It returns ErrOver when the
// workflow has completed.
func (w *Waker) Wake(ctx context.Context, payment payments.PaymentID) error {
	ctx, cancel := context.WithTimeout(ctx, w.Timing.WorkflowTask)
	defer cancel()
	id := boundaries.PaymentWorkflowID(payment)
	_, err := w.Client.SignalWithStartWorkflow(ctx, id, SignalWake, nil, w.options(id),
		NamePayment, w.input(payment))
	return w.ended(err)
}

// WakeRefund signals the refund's workflow and starts it if it is not there. It returns ErrOver when the workflow has completed.
func (w *Waker) WakeRefund(ctx context.Context, payment payments.PaymentID, refund payments.RefundID) error {
	ctx, cancel := context.WithTimeout(ctx, w.Timing.WorkflowTask)
	defer cancel()
	id := boundaries.RefundWorkflowID(refund)
	_, err := w.Client.SignalWithStartWorkflow(ctx, id, SignalWake, nil, w.options(id),
		NameRefund, RefundInput{Version: 1, Payment: payment, Refund: refund, Tries: w.tries()})
	return w.ended(err)
}

// WakePayout signals the payout's workflow and starts it if it is not there. It returns ErrOver when the workflow has completed.
func (w *Waker) WakePayout(ctx context.Context, payout payments.PayoutID) error {
	ctx, cancel := context.WithTimeout(ctx, w.Timing.WorkflowTask)
	defer cancel()
	id := boundaries.PayoutWorkflowID(payout)
	_, err := w.Client.SignalWithStartWorkflow(ctx, id, SignalWake, nil, w.options(id),
		NamePayout, PayoutInput{Version: 1, Payout: payout, Tries: w.tries()})
	return w.ended(err)
}

// WakeProvision signals the workflow of the record's attempt at a provision and starts it if it is not there. It returns ErrOver when the workflow has
// completed.
func (w *Waker) WakeProvision(ctx context.Context, provision payments.ProvisionID, record payments.RecordID) error {
	ctx, cancel := context.WithTimeout(ctx, w.Timing.WorkflowTask)
	defer cancel()
	id := boundaries.ProvisionWorkflowID(record)
	_, err := w.Client.SignalWithStartWorkflow(ctx, id, SignalWake, nil, w.options(id),
		NameProvision, ProvisionInput{Version: 1, Provision: provision, Tries: w.tries()})
	return w.ended(err)
}

func (w *Waker) options(id string) client.StartWorkflowOptions {
	reuse := enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY
	if w.anew {
		reuse = enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE
	}
	return client.StartWorkflowOptions{
		ID:                       id,
		TaskQueue:                w.TaskQueue,
		WorkflowTaskTimeout:      w.Timing.WorkflowTask,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		WorkflowIDReusePolicy:    reuse,
	}
}

func (w *Waker) input(payment payments.PaymentID) PaymentInput {
	return PaymentInput{Version: 1, Payment: payment, Tries: w.tries()}
}

func (w *Waker) tries() Tries {
	return Tries{Local: w.Timing.LocalTry, Try: w.Timing.Try, Initial: w.Timing.RetryInitial, Maximum: w.Timing.RetryMaximum}
}

// ended takes AlreadyStarted for what it says.
func (w *Waker) ended(err error) error {
	var already *serviceerror.WorkflowExecutionAlreadyStarted
	if err == nil {
		return nil
	}
	if errors.As(err, &already) {
		return ErrOver
	}
	return fmt.Errorf("wake workflow: %w", err)
}
