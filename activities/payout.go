package activities

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"time"

	"payonce/boundaries"
	"payonce/internal/budget"
	"payonce/internal/paymentstore"
	"payonce/internal/stripeapi"
	"payonce/payments"
	"payonce/workflows"
)

// payingOut is a payout with its command, read at one time.
type payingOut struct {
	lone
	payout payments.Payout
}

// step tells the payout's workflow where it stands.
func (p payingOut) step() workflows.PayoutStep {
	step := workflows.PayoutStep{Version: 1, Stage: p.payout.Stage, Status: p.payout.Status, Over: p.payout.Status.Terminal() && p.asked == nil}
	if p.asked != nil && p.asked.status == boundaries.RecordInProgress {
		step.Next = payments.OperationPayout
	}
	return step
}

// readPayout reads the payout and what a call of it needs.
func (a *Activities) readPayout(ctx context.Context, id payments.PayoutID) (payingOut, error) {
	var p payingOut
	var err error
	if p.payout, err = paymentstore.PayoutByID(ctx, a.Pool, id); errors.Is(err, paymentstore.ErrNoPayout) {
		return payingOut{}, neverRetry("unknown_payout", err)
	} else if err != nil {
		return payingOut{}, err
	}
	p.lone, err = a.readLone(ctx, p.payout.Tenant, p.payout.Account, recordOf(p.payout))
	return p, err
}

// ReadPayout tells where a payout stands and what comes next, from Postgres.
func (a *Activities) ReadPayout(ctx context.Context, in workflows.PayoutAct) (workflows.PayoutStep, error) {
	p, err := a.readPayout(ctx, in.Payout)
	return p.step(), err
}

// CreatePayout makes the payout at Stripe. It carries our ids as metadata, by which it is found when its answer is lost.
func (a *Activities) CreatePayout(ctx context.Context, in workflows.PayoutAct) (workflows.PayoutStep, error) {
	p, err := a.readPayout(ctx, in.Payout)
	if err != nil || p.step().Next == "" {
		return p.step(), err
	}
	if p.payout.ProviderID != "" { // the database had lost it, and Stripe brought it back before its caller did: it is not made again
		said, begun, err := a.ReadPayoutAtStripe(ctx, p.payout.Account, p.payout.ProviderID, budget.Reads)
		if err != nil {
			return workflows.PayoutStep{}, notYet("read the payout", 0, err)
		}
		learnt := LearntPayout{Source: SourceRead, Payout: &said, BegunAt: begun, EffectiveAt: begun, Answers: true}
		if err := a.ApplyPayout(ctx, in.Payout, learnt); err != nil {
			return workflows.PayoutStep{}, err
		}
		return a.ReadPayout(ctx, in)
	}
	act := workflows.Act{Version: in.Version, Owner: in.Owner, Local: in.Local}
	result, err := a.send(ctx, act, p.situation, p.asked, "/v1/payouts", payoutBody(p.payout))
	switch {
	case errors.Is(err, boundaries.ErrSettled):
		return a.ReadPayout(ctx, in)
	case err != nil:
		return workflows.PayoutStep{}, err
	case result.look:
		return a.findPayoutAtStripe(ctx, in, p, result.call)
	}
	learnt := LearntPayout{
		Source: SourceAnswer, Payout: result.payout, BegunAt: result.learnt().BegunAt, EffectiveAt: result.call.LastSentAt,
		Answer: result.answered().asRefusal(),
	}
	if result.refusal != nil {
		learnt.Payout = nil
	}
	if err := a.ApplyPayout(ctx, in.Payout, learnt); err != nil {
		return workflows.PayoutStep{}, err
	}
	return a.ReadPayout(ctx, in)
}

func payoutBody(p payments.Payout) url.Values {
	body := url.Values{"amount": {strconv.FormatInt(p.Money.Amount, 10)}, "currency": {string(p.Money.Currency)}}
	if p.Description != nil {
		body.Set("description", *p.Description)
	}
	for name, value := range p.Metadata {
		body.Set("metadata["+name+"]", value)
	}
	body.Set("metadata["+payments.MetadataPayout+"]", p.ID.String())
	body.Set("metadata["+payments.MetadataTenant+"]", p.Tenant.String())
	return body
}

// findPayoutAtStripe looks for a payout whose answer is not known, in the list of the account's payouts since it was first sent: our metadata prove it.
// Absence counts only from a list begun SafetyAge or more after the last send ended; then the next generation may go.
func (a *Activities) findPayoutAtStripe(ctx context.Context, in workflows.PayoutAct, p payingOut, call boundaries.Call) (workflows.PayoutStep, error) {
	credentials, err := a.credentialsOf(p.situation)
	if err != nil {
		return workflows.PayoutStep{}, err
	}
	if err := a.mayRead(ctx, p.payout.Account, budget.ListPayouts, budget.Reads); err != nil {
		return workflows.PayoutStep{}, err
	}
	listing, cancel := context.WithTimeout(ctx, a.Timing.Send)
	defer cancel()
	made, err := a.Stripe.ListPayouts(listing, credentials, call.FirstSentAt.Add(-lookMargin), p.now.Add(lookMargin))
	if err != nil {
		return workflows.PayoutStep{}, notYet("list payouts", 0, a.refusedAccount(ctx, p.payout.Account, err))
	}
	for i := range made {
		if made[i].Metadata[payments.MetadataPayout] != in.Payout.String() {
			continue
		}
		learnt := LearntPayout{Source: SourceRead, Payout: &made[i], BegunAt: p.now, EffectiveAt: p.now}
		if err := a.ApplyPayout(ctx, in.Payout, learnt); err != nil {
			return workflows.PayoutStep{}, err
		}
		return a.ReadPayout(ctx, in)
	}
	if err := a.absent(ctx, payoutSubject(p.payout.ID), p.now, p.asked, call); err != nil {
		return workflows.PayoutStep{}, err
	}
	return a.ReadPayout(ctx, in)
}

// ReadPayoutAtStripe reads a payout and says when the read began.
func (a *Activities) ReadPayoutAtStripe(ctx context.Context, account payments.Account, payout string, priority budget.Priority,
) (stripeapi.Payout, time.Time, error) {
	credentials, err := a.credentials(ctx, account)
	if err != nil {
		return stripeapi.Payout{}, time.Time{}, err
	}
	if err := a.mayRead(ctx, account, budget.ReadPayout, priority); err != nil {
		return stripeapi.Payout{}, time.Time{}, err
	}
	begun, err := a.clock(ctx)
	if err != nil {
		return stripeapi.Payout{}, time.Time{}, err
	}
	reading, cancel := context.WithTimeout(ctx, a.Timing.Send)
	defer cancel()
	said, err := a.Stripe.ReadPayout(reading, credentials, payout)
	return said, begun, a.refusedAccount(ctx, account, err)
}

// PollPayout reads a payout that is under way and applies what it is now: for what no event ever told.
func (a *Activities) PollPayout(ctx context.Context, id payments.PayoutID) error {
	p, err := paymentstore.PayoutByID(ctx, a.Pool, id)
	if err != nil || p.ProviderID == "" || p.Status.Terminal() {
		return err
	}
	said, begun, err := a.ReadPayoutAtStripe(ctx, p.Account, p.ProviderID, budget.Backlog)
	if errors.Is(err, errLimited) {
		return nil // commands go first, and the next poll is due already
	}
	if err != nil {
		return err
	}
	return a.ApplyPayout(ctx, id, LearntPayout{Source: SourcePoll, Payout: &said, BegunAt: begun, EffectiveAt: begun})
}
