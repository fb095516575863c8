package activities

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
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

// payingOut is a payout with its command, read at one time.
type payingOut struct {
	situation // of no payment: the tenant and the account that the payout is pinned to
	payout    payments.Payout
	asked     *command // nil once it has its outcome
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
	p.payment = payments.Payment{Tenant: p.payout.Tenant, Account: p.payout.Account}
	batch := &pgx.Batch{}
	tenants.QueueKeyOfAccount(batch, p.payout.Account, &p.key)
	batch.Queue(`SELECT payonce.clock()`).QueryRow(func(row pgx.Row) error { return row.Scan(&p.now) })
	batch.Queue(selectCommand+`WHERE r.resource_kind = 'payout' AND r.resource_id = $1 AND r.id = $2 AND r.status IN ('in_progress', 'unknown')`,
		id.UUID, recordOf(p.payout)).Query(func(rows pgx.Rows) error {
		open, err := pgx.CollectRows(rows, scanCommand)
		if err == nil && len(open) > 0 {
			p.asked = &open[0]
		}
		return err
	})
	if err := a.Pool.SendBatch(ctx, batch).Close(); err != nil {
		return payingOut{}, fmt.Errorf("read payout %s: %w", id, err)
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
	if err := a.payoutNotExecuted(ctx, p, call); err != nil {
		return workflows.PayoutStep{}, err
	}
	return a.ReadPayout(ctx, in)
}

// payoutNotExecuted is notExecuted for a payout.
func (a *Activities) payoutNotExecuted(ctx context.Context, p payingOut, call boundaries.Call) error {
	if cause(call.Code) == causeKeyReused || call.Status == boundaries.CallAnswered {
		return a.markPayoutUnknown(ctx, p, call)
	}
	provenAt := call.LastSendEnd(a.Timing.Send).Add(a.Timing.SafetyAge)
	if p.now.Before(provenAt) {
		return notYet("too early to count as absent", min(provenAt.Sub(p.now)+10*time.Millisecond, time.Minute), errors.New("look again"))
	}
	a.Log.Warn("a call to Stripe had no effect: the next generation goes",
		"payout", p.payout.ID, "operation", call.Operation, "generation", call.Generation, "idempotency_key", call.Key)
	return a.Calls.Absent(ctx, call.Key)
}

// markPayoutUnknown takes the command out of the queue and marks the payout for review: nothing more can be learnt by machine. Its amount stays reserved.
func (a *Activities) markPayoutUnknown(ctx context.Context, p payingOut, call boundaries.Call) error {
	a.Log.Error("the outcome of a command cannot be learnt: the payout is marked for review", "payout", p.payout.ID, "idempotency_key", call.Key)
	facts := evidence(map[string]any{"record": p.asked.record, "idempotency_key": call.Key, "operation": call.Operation, "last_answer": call.Code})
	err := pgx.BeginFunc(ctx, a.Pool, func(tx pgx.Tx) error {
		batch := &pgx.Batch{}
		batch.Queue(`UPDATE payonce.payouts SET review_reason = 'outcome_unknown', review_since = payonce.clock(), review_evidence = $2
			WHERE id = $1 AND review_reason IS NULL`, p.payout.ID.UUID, facts)
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
