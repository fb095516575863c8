package activities

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"

	"payonce/boundaries"
	"payonce/internal/budget"
	"payonce/internal/paymentstore"
	"payonce/internal/stripeapi"
	"payonce/internal/tenants"
	"payonce/payments"
	"payonce/workflows"
)

// provisioning is a provision with its command, read at one time.
type provisioning struct {
	situation // of no payment: the tenant and the account that the provision is pinned to
	provision payments.Provision
	asked     *command // nil once it has its outcome
}

// step tells the provision's workflow where it stands.
func (p provisioning) step() workflows.ProvisionStep {
	step := workflows.ProvisionStep{Version: 1, Status: p.provision.Status, Over: p.asked == nil}
	if p.asked != nil && p.asked.status == boundaries.RecordInProgress {
		step.Next = p.asked.operation
	}
	return step
}

// readProvision reads the provision and what a call of it needs.
func (a *Activities) readProvision(ctx context.Context, id payments.ProvisionID) (provisioning, error) {
	var p provisioning
	var err error
	if p.provision, err = paymentstore.ProvisionByID(ctx, a.Pool, id); errors.Is(err, paymentstore.ErrNoProvision) {
		return provisioning{}, neverRetry("unknown_provision", err)
	} else if err != nil {
		return provisioning{}, err
	}
	p.payment = payments.Payment{Tenant: p.provision.Tenant, Account: p.provision.Account}
	batch := &pgx.Batch{}
	tenants.QueueKeyOfAccount(batch, p.provision.Account, &p.key)
	batch.Queue(`SELECT payonce.clock()`).QueryRow(func(row pgx.Row) error { return row.Scan(&p.now) })
	batch.Queue(selectCommand+`WHERE r.id = $1 AND r.status IN ('in_progress', 'unknown')`, p.provision.Record.UUID).Query(func(rows pgx.Rows) error {
		open, err := pgx.CollectRows(rows, scanCommand)
		if err == nil && len(open) > 0 {
			p.asked = &open[0]
		}
		return err
	})
	if err := a.Pool.SendBatch(ctx, batch).Close(); err != nil {
		return provisioning{}, fmt.Errorf("read provision %s: %w", id, err)
	}
	if p.asked == nil {
		return p, nil
	}
	newest, err := a.Calls.Newest(ctx, p.asked.record)
	if newest != nil {
		p.calls = []boundaries.RecordCall{{Record: p.asked.record, Call: *newest}}
	}
	return p, err
}

// ReadProvision tells where a provision stands and what comes next, from Postgres.
func (a *Activities) ReadProvision(ctx context.Context, in workflows.ProvisionAct) (workflows.ProvisionStep, error) {
	p, err := a.readProvision(ctx, in.Provision)
	return p.step(), err
}

// CreateProvision makes the customer or the connected account at Stripe. It carries our ids as metadata, by which it is found when its answer is lost.
func (a *Activities) CreateProvision(ctx context.Context, in workflows.ProvisionAct) (workflows.ProvisionStep, error) {
	p, err := a.readProvision(ctx, in.Provision)
	if err != nil || p.step().Next == "" {
		return p.step(), err
	}
	command, err := openCommand[payments.ProvisionCommand](a, p.asked)
	if err != nil {
		return workflows.ProvisionStep{}, err
	}
	path, body := provisionRequest(p.provision, command)
	act := workflows.Act{Version: in.Version, Owner: in.Owner, Local: in.Local}
	result, err := a.send(ctx, act, p.situation, p.asked, path, body)
	switch {
	case errors.Is(err, boundaries.ErrSettled):
		return a.ReadProvision(ctx, in)
	case err != nil:
		return workflows.ProvisionStep{}, err
	case result.look:
		return a.findPartyAtStripe(ctx, in, p, result.call)
	}
	learnt := LearntProvision{Party: result.party, Answer: result.answered().asRefusal()}
	if result.refusal != nil {
		learnt.Party = nil
	}
	if err := a.ApplyProvision(ctx, in.Provision, learnt); err != nil {
		return workflows.ProvisionStep{}, err
	}
	return a.ReadProvision(ctx, in)
}

// provisionRequest is what is asked of Stripe. A connected account is an express one: its owner is onboarded on Stripe's pages
// (https://docs.stripe.com/api/accounts/create).
func provisionRequest(p payments.Provision, command payments.ProvisionCommand) (path string, body url.Values) {
	path, body = "/v1/customers", url.Values{}
	if p.Kind == payments.ProvisionConnectedAccount {
		path = "/v1/accounts"
		body.Set("type", "express")
		body.Set("country", p.Country)
		body.Set("default_currency", string(p.Currency))
	}
	if command.Email != nil {
		body.Set("email", *command.Email)
	}
	if command.Name != nil {
		body.Set("name", *command.Name)
	}
	body.Set("metadata["+p.Kind.Metadata()+"]", p.ID.String())
	body.Set("metadata["+payments.MetadataTenant+"]", p.Tenant.String())
	return path, body
}

// findPartyAtStripe looks for a customer or a connected account whose answer is not known, in the list of those made since it was first sent: our metadata
// prove it, and an equal e-mail does not. Absence counts only from a list begun SafetyAge or more after the last send ended; then the next generation may
// go.
func (a *Activities) findPartyAtStripe(ctx context.Context, in workflows.ProvisionAct, p provisioning, call boundaries.Call) (workflows.ProvisionStep, error) {
	ours, err := a.partyAtStripe(ctx, p, call)
	switch {
	case err != nil:
	case ours != nil:
		err = a.ApplyProvision(ctx, in.Provision, LearntProvision{Party: ours})
	default:
		err = a.provisionNotExecuted(ctx, p, call)
	}
	if err != nil {
		return workflows.ProvisionStep{}, err
	}
	return a.ReadProvision(ctx, in)
}

// partyAtStripe is what Stripe has made for the provision since its call was first sent, by our metadata, or nil.
func (a *Activities) partyAtStripe(ctx context.Context, p provisioning, call boundaries.Call) (*stripeapi.Party, error) {
	credentials, err := a.credentialsOf(p.situation)
	if err != nil {
		return nil, err
	}
	list, endpoint := a.Stripe.ListCustomers, budget.ListCustomers
	if p.provision.Kind == payments.ProvisionConnectedAccount {
		list, endpoint = a.Stripe.ListConnectedAccounts, budget.ListConnectedAccounts
	}
	if err := a.mayRead(ctx, p.provision.Account, endpoint, budget.Reads); err != nil {
		return nil, err
	}
	listing, cancel := context.WithTimeout(ctx, a.Timing.Send)
	defer cancel()
	made, err := list(listing, credentials, call.FirstSentAt.Add(-lookMargin), p.now.Add(lookMargin))
	if err != nil {
		return nil, notYet(string(endpoint), 0, a.refusedAccount(ctx, p.provision.Account, err))
	}
	var ours *stripeapi.Party
	for i := range made { // the newest first: the oldest of ours is the one to keep
		if made[i].Metadata[p.provision.Kind.Metadata()] == p.provision.ID.String() && made[i].Account == p.provision.Account {
			ours = &made[i]
		}
	}
	return ours, nil
}

// provisionNotExecuted is notExecuted for a provision.
func (a *Activities) provisionNotExecuted(ctx context.Context, p provisioning, call boundaries.Call) error {
	if cause(call.Code) == causeKeyReused || call.Status == boundaries.CallAnswered {
		return a.markProvisionUnknown(ctx, p, call)
	}
	provenAt := call.LastSendEnd(a.Timing.Send).Add(a.Timing.SafetyAge)
	if p.now.Before(provenAt) {
		return notYet("too early to count as absent", min(provenAt.Sub(p.now)+10*time.Millisecond, time.Minute), errors.New("look again"))
	}
	a.Log.Warn("a call to Stripe had no effect: the next generation goes",
		"provision", p.provision.ID, "operation", call.Operation, "generation", call.Generation, "idempotency_key", call.Key)
	return a.Calls.Absent(ctx, call.Key)
}

// markProvisionUnknown takes the command out of the queue and marks the provision for review: nothing more can be learnt by machine, and nothing else is
// made for the owner.
func (a *Activities) markProvisionUnknown(ctx context.Context, p provisioning, call boundaries.Call) error {
	a.Log.Error("the outcome of a command cannot be learnt: the provision is marked for review", "provision", p.provision.ID, "idempotency_key", call.Key)
	facts := evidence(map[string]any{"record": p.asked.record, "idempotency_key": call.Key, "operation": call.Operation, "last_answer": call.Code})
	err := pgx.BeginFunc(ctx, a.Pool, func(tx pgx.Tx) error {
		batch := &pgx.Batch{}
		batch.Queue(`UPDATE payonce.provisions SET review_reason = 'outcome_unknown', review_since = payonce.clock(), review_evidence = $2
			WHERE id = $1 AND review_reason IS NULL`, p.provision.ID.UUID, facts)
		batch.Queue(`UPDATE payonce.idempotency_records SET status = 'unknown', lease_until = NULL, next_wake_at = NULL
			WHERE id = $1 AND status = 'in_progress'`, p.asked.record.UUID)
		batch.Queue(`UPDATE payonce.provider_calls SET status = 'unknown' WHERE idempotency_key = $1 AND status = 'sent'`, call.Key)
		return tx.SendBatch(ctx, batch).Close()
	})
	if err != nil {
		return fmt.Errorf("mark unknown: %w", err)
	}
	return nil
}
