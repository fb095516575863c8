package workflows

import (
	"go.temporal.io/sdk/workflow"

	"payonce/payments"
)

// PayoutInput starts a payout's workflow: ids and durations, no content.
type PayoutInput struct {
	Version int               `json:"version"` // 1
	Payout  payments.PayoutID `json:"payout"`
	Tries   Tries             `json:"tries"`
}

// PayoutAct names what an activity acts on. It crosses into Temporal: ids and enums only.
type PayoutAct struct {
	Version int               `json:"version"` // 1
	Payout  payments.PayoutID `json:"payout"`
	Owner   string            `json:"owner"` // the workflow's id: the owner of the record's lease
	Local   bool              `json:"local"` // the short first try
}

// PayoutStep is where a payout stands after an act, and what comes next. It crosses into Temporal.
type PayoutStep struct {
	Version int                   `json:"version"` // 1
	Stage   payments.Stage        `json:"stage"`
	Status  payments.PayoutStatus `json:"status"`
	Next    payments.Operation    `json:"next,omitempty"` // create_payout while Stripe has not answered; empty: nothing to do
	Over    bool                  `json:"over,omitempty"` // terminal, and its command has its outcome
}

// Payout runs a payout through its stages: the claim has reserved the amount (submitted); the act commits the stage that Stripe's answer reaches. What
// the bank does days later is applied without a workflow.
func Payout(ctx workflow.Context, input PayoutInput) error {
	run := newRun(ctx, input.Tries)
	act := PayoutAct{Version: 1, Payout: input.Payout, Owner: run.owner}
	of := single{workflow: NamePayout, create: NameCreatePayout, read: NameReadPayout, input: input}
	return runSingle[PayoutStep](ctx, run, of, func(local bool) any { act.Local = local; return act })
}
