package workflows

import (
	"go.temporal.io/sdk/workflow"

	"payonce/payments"
)

// single is the workflow of what one command makes, a refund, a payout or a provision: the names of the act that makes it and of the one that reads where
// it stands, and what the workflow is started with.
type single struct {
	workflow, create, read string
	input                  any
}

// singleStep is where it stands after an act.
type singleStep interface {
	due() bool  // Stripe has not answered
	over() bool // terminal, and its command has its outcome
}

func (s RefundStep) due() bool  { return s.Next == payments.OperationRefund }
func (s RefundStep) over() bool { return s.Over }

func (s PayoutStep) due() bool  { return s.Next == payments.OperationPayout }
func (s PayoutStep) over() bool { return s.Over }

func (s ProvisionStep) due() bool  { return s.Next != "" }
func (s ProvisionStep) over() bool { return s.Over }

// runSingle makes it at Stripe, then sleeps and reads, until it is over.
func runSingle[S singleStep](ctx workflow.Context, run *run, of single, in func(local bool) any) error {
	var step S
	for due := true; ; due = step.due() { // submitted
		name := of.read
		switch {
		case due:
			name = of.create
		case !run.drained():
			if step.over() {
				return nil
			}
			if run.long(ctx) {
				return workflow.NewContinueAsNewError(ctx, of.workflow, of.input)
			}
			run.sleep(ctx)
		}
		var err error
		if step, err = tryAct[S](ctx, run, name, in); err != nil {
			return err
		}
	}
}
