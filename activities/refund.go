package activities

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"payonce/boundaries"
	"payonce/internal/budget"
	"payonce/internal/paymentstore"
	"payonce/internal/stripeapi"
	"payonce/internal/tenants"
	"payonce/payments"
	"payonce/workflows"
)

// refunding is a refund with its payment and its command, read at one time.
type refunding struct {
	situation
	refund payments.Refund
	asked  *command // nil once it has its outcome
	waits  bool     // a refund of the payment that was asked for before has no answer yet: calls go one at a time
}

// step tells the refund's workflow where it stands.
func (r refunding) step() workflows.RefundStep {
	step := workflows.RefundStep{Version: 1, Stage: r.refund.Stage, Status: r.refund.Status, Over: r.refund.Status.Terminal() && r.asked == nil}
	if r.asked != nil && r.asked.status == boundaries.RecordInProgress {
		step.Next = payments.OperationRefund
	}
	return step
}

// readRefund reads the refund and what a call of it needs.
func (a *Activities) readRefund(ctx context.Context, id payments.RefundID) (refunding, error) {
	var r refunding
	var err error
	if r.refund, err = paymentstore.RefundByID(ctx, a.Pool, id); errors.Is(err, paymentstore.ErrNoRefund) {
		return refunding{}, neverRetry("unknown_refund", err)
	} else if err != nil {
		return refunding{}, err
	}
	batch := &pgx.Batch{}
	a.queueSituation(batch, r.refund.Payment, paymentstore.SelectByID, &r.situation)
	boundaries.QueueNewest(batch, r.refund.Payment, &r.calls)
	tenants.QueueKeyOf(batch, r.refund.Payment, &r.key)
	openRefund := selectCommand + `WHERE r.resource_kind = 'refund' AND r.resource_id = $1 AND r.status IN ('in_progress', 'unknown')`
	batch.Queue(openRefund, id.UUID).Query(func(rows pgx.Rows) error {
		open, err := pgx.CollectRows(rows, scanCommand)
		if err == nil && len(open) > 0 {
			r.asked = &open[0]
		}
		return err
	})
	batch.Queue(`
		SELECT EXISTS (
			SELECT FROM payonce.idempotency_records e JOIN payonce.idempotency_records r ON r.payment = e.payment AND e.number < r.number
			WHERE r.resource_kind = 'refund' AND r.resource_id = $1 AND e.resource_kind = 'refund' AND e.status = 'in_progress')`, id.UUID,
	).QueryRow(func(row pgx.Row) error { return row.Scan(&r.waits) })
	if err := a.Pool.SendBatch(ctx, batch).Close(); err != nil {
		return refunding{}, fmt.Errorf("read refund %s: %w", id, err)
	}
	return r, nil
}

// ReadRefund tells where a refund stands and what comes next, from Postgres.
func (a *Activities) ReadRefund(ctx context.Context, in workflows.RefundAct) (workflows.RefundStep, error) {
	r, err := a.readRefund(ctx, in.Refund)
	return r.step(), err
}

// CreateRefund makes the refund at Stripe. It carries our ids as metadata, by which it is found when its answer is lost.
func (a *Activities) CreateRefund(ctx context.Context, in workflows.RefundAct) (workflows.RefundStep, error) {
	r, err := a.readRefund(ctx, in.Refund)
	if err != nil || r.step().Next == "" {
		return r.step(), err
	}
	if r.waits {
		return workflows.RefundStep{}, notYet("another refund of the payment is under way", a.Timing.RetryInitial, errors.New("look again"))
	}
	if r.refund.ProviderID != "" { // the database had lost it, and Stripe brought it back before its caller did: it is not made again
		said, begun, err := a.ReadRefundAtStripe(ctx, r.payment, r.refund.ProviderID, budget.Reads)
		if err != nil {
			return workflows.RefundStep{}, notYet("read the refund", 0, err)
		}
		learnt := LearntRefund{Source: SourceRead, Refund: &said, Of: &r.refund.ID, BegunAt: begun, EffectiveAt: begun, Answers: true}
		if err := a.ApplyRefunds(ctx, r.refund.Payment, learnt); err != nil {
			return workflows.RefundStep{}, err
		}
		return a.ReadRefund(ctx, in)
	}
	act := workflows.Act{Version: in.Version, Payment: r.refund.Payment, Owner: in.Owner, Local: in.Local}
	result, err := a.send(ctx, act, r.situation, r.asked, "/v1/refunds", refundBody(r.payment, r.refund))
	switch {
	case errors.Is(err, boundaries.ErrSettled):
		return a.ReadRefund(ctx, in)
	case err != nil:
		return workflows.RefundStep{}, err
	case result.look:
		return a.findRefundAtStripe(ctx, in, r, result.call)
	}
	learnt := LearntRefund{
		Source: SourceAnswer, Refund: result.refund, Of: &r.refund.ID, BegunAt: result.learnt().BegunAt, EffectiveAt: result.call.LastSentAt,
		Answer: result.answered().asRefusal(),
	}
	if result.refusal != nil { // somebody else may have given the money back: what is left is known before the caller is told
		if _, err := a.SyncRefunds(ctx, r.payment, SourceRead, nil); err != nil {
			a.Log.Warn("refunds not read after a refusal: the next fact will", "payment", r.refund.Payment, "error", err)
		}
	}
	if err := a.ApplyRefunds(ctx, r.refund.Payment, learnt); err != nil {
		return workflows.RefundStep{}, err
	}
	return a.ReadRefund(ctx, in)
}

// refundBody names the intent: of several charges Stripe gives back the one that succeeded.
func refundBody(p payments.Payment, r payments.Refund) url.Values {
	body := url.Values{"payment_intent": {p.IntentID}, "amount": {strconv.FormatInt(r.Money.Amount, 10)}}
	if r.Reason != nil {
		body.Set("reason", *r.Reason)
	}
	for name, value := range r.Metadata {
		body.Set("metadata["+name+"]", value)
	}
	for name, value := range refundMetadata(r) {
		body.Set("metadata["+name+"]", value)
	}
	return body
}

// findRefundAtStripe looks for a refund whose answer is not known, in the list of its intent: our metadata prove it. Absence counts only from a list begun
// SafetyAge or more after the last send ended; then the next generation may go.
func (a *Activities) findRefundAtStripe(ctx context.Context, in workflows.RefundAct, r refunding, call boundaries.Call) (workflows.RefundStep, error) {
	refunds, err := a.SyncRefunds(ctx, r.payment, SourceRead, nil)
	if err != nil {
		return workflows.RefundStep{}, notYet("list refunds", 0, err)
	}
	if oursAmong(refunds, r.refund.ID) == nil {
		if _, err := a.notExecuted(ctx, r.situation, r.asked, call); err != nil {
			return workflows.RefundStep{}, err
		}
	}
	return a.ReadRefund(ctx, in)
}

// SyncRefunds lists the refunds of the payment's intent at Stripe and applies each: whoever made it. events are marked with the last of them.
func (a *Activities) SyncRefunds(ctx context.Context, p payments.Payment, source Source, events []uuid.UUID) ([]stripeapi.Refund, error) {
	credentials, err := a.credentials(ctx, p.Account)
	if err != nil {
		return nil, err
	}
	if err := a.mayRead(ctx, p.Account, budget.ListRefunds, budget.Reads); err != nil {
		return nil, err
	}
	begun, err := a.clock(ctx)
	if err != nil {
		return nil, err
	}
	reading, cancel := context.WithTimeout(ctx, a.Timing.Send)
	defer cancel()
	refunds, err := a.Stripe.ListRefunds(reading, credentials, p.IntentID)
	if err == nil {
		refunds, err = a.withoutReleased(reading, credentials, p, refunds)
	}
	if err != nil {
		return nil, a.refusedAccount(ctx, p.Account, err)
	}
	facts := make([]LearntRefund, 0, len(refunds)+len(events))
	for i := range refunds {
		facts = append(facts, LearntRefund{Source: source, Refund: &refunds[i], BegunAt: begun, EffectiveAt: refunds[i].Created})
	}
	for i := range events {
		facts = append(facts, LearntRefund{Source: source, Event: &events[i], EffectiveAt: begun})
	}
	return refunds, a.ApplyRefunds(ctx, p.ID, facts...)
}

// ReadRefundAtStripe reads a refund and says when the read began.
func (a *Activities) ReadRefundAtStripe(ctx context.Context, p payments.Payment, refund string, priority budget.Priority) (stripeapi.Refund, time.Time, error) {
	credentials, err := a.credentials(ctx, p.Account)
	if err != nil {
		return stripeapi.Refund{}, time.Time{}, err
	}
	if err := a.mayRead(ctx, p.Account, budget.ReadRefund, priority); err != nil {
		return stripeapi.Refund{}, time.Time{}, err
	}
	begun, err := a.clock(ctx)
	if err != nil {
		return stripeapi.Refund{}, time.Time{}, err
	}
	reading, cancel := context.WithTimeout(ctx, a.Timing.Send)
	defer cancel()
	said, err := a.Stripe.ReadRefund(reading, credentials, refund)
	return said, begun, a.refusedAccount(ctx, p.Account, err)
}

// PollRefund reads a refund that is under way and applies what it is now: for what no event ever told.
func (a *Activities) PollRefund(ctx context.Context, id payments.RefundID) error {
	r, err := paymentstore.RefundByID(ctx, a.Pool, id)
	if err != nil || r.ProviderID == "" || r.Status.Terminal() {
		return err
	}
	p, err := paymentstore.ByID(ctx, a.Pool, a.Sealer, r.Payment)
	if err != nil {
		return err
	}
	said, begun, err := a.ReadRefundAtStripe(ctx, p, r.ProviderID, budget.Backlog)
	if errors.Is(err, errLimited) {
		return nil // commands go first, and the next poll is due already
	}
	if err != nil {
		return err
	}
	return a.ApplyRefunds(ctx, r.Payment, LearntRefund{Source: SourcePoll, Refund: &said, BegunAt: begun, EffectiveAt: begun})
}

// clock is payonce.clock().
func (a *Activities) clock(ctx context.Context) (now time.Time, err error) {
	if err = a.Pool.QueryRow(ctx, `SELECT payonce.clock()`).Scan(&now); err != nil {
		return now, fmt.Errorf("read clock: %w", err)
	}
	return now, nil
}
