package activities

import (
	"context"
	"errors"
	"net/url"

	"payonce/boundaries"
	"payonce/internal/budget"
	"payonce/internal/paymentstore"
	"payonce/internal/stripeapi"
	"payonce/payments"
	"payonce/workflows"
)

// provisioning is a provision with its command, read at one time.
type provisioning struct {
	lone
	provision payments.Provision
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
	p.lone, err = a.readLone(ctx, p.provision.Tenant, p.provision.Account, &p.provision.Record.UUID)
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
		err = a.absent(ctx, provisionSubject(p.provision.ID), p.now, p.asked, call)
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
