package workflows

import (
	"go.temporal.io/sdk/workflow"

	"payonce/payments"
)

// ProvisionInput starts the workflow of one attempt at a provision: ids and durations, no content.
type ProvisionInput struct {
	Version   int                  `json:"version"` // 1
	Provision payments.ProvisionID `json:"provision"`
	Tries     Tries                `json:"tries"`
}

// ProvisionAct names what an activity acts on. It crosses into Temporal: ids and enums only.
type ProvisionAct struct {
	Version   int                  `json:"version"` // 1
	Provision payments.ProvisionID `json:"provision"`
	Owner     string               `json:"owner"` // the workflow's id: the owner of the record's lease
	Local     bool                 `json:"local"` // the short first try
}

// ProvisionStep is where a provision stands after an act, and what comes next. It crosses into Temporal.
type ProvisionStep struct {
	Version int                      `json:"version"` // 1
	Status  payments.ProvisionStatus `json:"status"`
	Next    payments.Operation       `json:"next,omitempty"` // create_customer or create_connected_account while Stripe has not answered; empty: nothing to do
	Over    bool                     `json:"over,omitempty"` // linked or refused, and its command has its outcome
}

// Provision asks Stripe for what is to be linked to an owner, until it has answered. Nothing happens to it later.
func Provision(ctx workflow.Context, input ProvisionInput) error {
	run := newRun(ctx, input.Tries)
	act := ProvisionAct{Version: 1, Provision: input.Provision, Owner: run.owner}
	of := single{workflow: NameProvision, create: NameCreateProvision, read: NameReadProvision, input: input}
	return runSingle[ProvisionStep](ctx, run, of, func(local bool) any { act.Local = local; return act })
}
