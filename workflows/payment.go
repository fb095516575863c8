package workflows

import (
	"go.temporal.io/sdk/workflow"

	"payonce/payments"
)

// PaymentInput starts a payment's workflow: ids and durations, no content.
type PaymentInput struct {
	Version int                `json:"version"` // 1
	Payment payments.PaymentID `json:"payment"`
	Tries   Tries              `json:"tries"`
}

// Payment runs a payment through its five stages. The claim has committed (submitted); each act below commits the stage that it reaches, with
// whatever it posts and queues; the last one commits terminal and ledger_applied together.
func Payment(ctx workflow.Context, input PaymentInput) error {
	run := newRun(ctx, input.Tries)
	in := Act{Version: 1, Payment: input.Payment, Owner: run.owner}
	act := func(name string) (Step, error) {
		return tryAct[Step](ctx, run, name, func(local bool) any { in.Local = local; return in })
	}
	step := Step{Next: payments.OperationCreate} // submitted
	for {
		var err error
		switch step.Next {
		case payments.OperationCreate: // → external_resource_created
			step, err = act(NameCreateIntent)
		case payments.OperationConfirm: // → processing, or → terminal → ledger_applied
			step, err = act(NameConfirm)
		case payments.OperationCancel: // → terminal → ledger_applied
			step, err = act(NameCancel)
		case payments.OperationCapture: // → terminal → ledger_applied, or still processing while more may be captured
			step, err = act(NameCapture)
		default:
			woken := run.drained()
			if step.Over && !woken {
				return nil
			}
			if !woken {
				if run.long(ctx) {
					return workflow.NewContinueAsNewError(ctx, NamePayment, input)
				}
				run.sleep(ctx)
			}
			step, err = act(NameReadPayment)
		}
		if err != nil {
			return err
		}
	}
}
