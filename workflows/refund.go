package workflows

import (
	"go.temporal.io/sdk/workflow"

	"payonce/payments"
)

// RefundInput starts a refund's workflow: ids and durations, no content.
type RefundInput struct {
	Version int                `json:"version"` // 1
	Payment payments.PaymentID `json:"payment"`
	Refund  payments.RefundID  `json:"refund"`
	Tries   Tries              `json:"tries"`
}

// RefundAct names what an activity acts on. It crosses into Temporal: ids and enums only.
type RefundAct struct {
	Version int               `json:"version"` // 1
	Refund  payments.RefundID `json:"refund"`
	Owner   string            `json:"owner"` // the workflow's id: the owner of the record's lease
	Local   bool              `json:"local"` // the short first try
}

// RefundStep is where a refund stands after an act, and what comes next. It crosses into Temporal.
type RefundStep struct {
	Version int                   `json:"version"` // 1
	Stage   payments.Stage        `json:"stage"`
	Status  payments.RefundStatus `json:"status"`
	Next    payments.Operation    `json:"next,omitempty"` // create_refund while Stripe has not answered; empty: nothing to do
	Over    bool                  `json:"over,omitempty"` // terminal, and its command has its outcome
}

// Refund runs a refund through its stages: the claim has reserved the amount (submitted); the act commits the stage that Stripe's answer reaches. What
// happens to it days later is applied without a workflow.
func Refund(ctx workflow.Context, input RefundInput) error {
	run := newRun(ctx, input.Tries)
	act := RefundAct{Version: 1, Refund: input.Refund, Owner: run.owner}
	of := single{workflow: NameRefund, create: NameCreateRefund, read: NameReadRefund, input: input}
	return runSingle[RefundStep](ctx, run, of, func(local bool) any { act.Local = local; return act })
}
