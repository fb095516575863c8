package activities

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"payonce/boundaries"
	"payonce/internal/paymentstore"
	"payonce/internal/stripeapi"
	"payonce/payments"
	"payonce/workflows"
)

// Verdicts of a person on what cannot be learnt by machine.
const (
	ResolvedExecuted    = "executed"     // the call took effect: Stripe shows it
	ResolvedNotExecuted = "not_executed" // it did not, and cannot any more: it may be sent again, under another key
	ResolvedSeen        = "seen"         // nothing is unknown; the mark was looked at
)

// Resolution is what a person says of a payment, a payout or a provision under review, and why.
type Resolution struct {
	As     string // ResolvedExecuted, ResolvedNotExecuted or ResolvedSeen
	Reason string
	By     string // who says so
	Intent string // pi_… that a create made, which the payment is not bound to; else empty
}

// Refusals of a resolution.
var (
	ErrNoReason       = errors.New("say why, and who says so: it is kept for ever")
	ErrNothingUnknown = errors.New("no command of it has an unknown outcome")
	ErrStillUnknown   = errors.New("a command of it has an unknown outcome: say whether it was executed")
	ErrNotShown       = errors.New("not shown by Stripe: the call took no effect yet")
	ErrShown          = errors.New("shown by Stripe: the call took effect")
	ErrTooEarly       = errors.New("the call may still take effect: its last send is not old enough")
)

// fits refuses a word on an outcome that is known, one that leaves an outcome unknown, and one that nobody gives or gives no reason for.
func (r Resolution) fits(unknown bool) error {
	switch {
	case strings.TrimSpace(r.Reason) == "" || strings.TrimSpace(r.By) == "":
		return ErrNoReason
	case r.As == ResolvedSeen && unknown:
		return ErrStillUnknown
	case r.As != ResolvedSeen && !unknown:
		return ErrNothingUnknown
	default:
		return nil
	}
}

// against refuses a word that what Stripe shows does not bear out.
func (r Resolution) against(shown bool) error {
	switch {
	case r.As == ResolvedExecuted && !shown:
		return ErrNotShown
	case r.As == ResolvedNotExecuted && shown:
		return ErrShown
	default:
		return nil
	}
}

// Resolve settles what only a person can. It reads at Stripe first and believes what that says: executed is refused while Stripe shows no effect, not
// executed while it shows one. What was said, by whom, why and what Stripe showed is kept as a fact of the payment.
func (a *Activities) Resolve(ctx context.Context, id payments.PaymentID, said Resolution) error {
	unknown, err := a.unknownOf(ctx, id)
	if err == nil {
		err = said.fits(unknown != nil)
	}
	if err != nil {
		return err
	}
	if unknown == nil {
		return a.resolved(ctx, id, said, nil)
	}
	shown, err := a.show(ctx, id, *unknown, said)
	if err != nil {
		return err
	}
	executed, err := a.borneOut(ctx, id, *unknown)
	if err == nil {
		err = said.against(executed)
	}
	if err != nil {
		return err
	}
	if said.As == ResolvedNotExecuted {
		if err := a.sendAgain(ctx, id, *unknown); err != nil {
			return err
		}
	}
	return a.resolved(ctx, id, said, map[string]any{"record": unknown.record, "operation": unknown.operation, "stripe": shown})
}

// unknownCommand is a command whose outcome nobody knows.
type unknownCommand struct {
	record    payments.RecordID
	operation payments.Operation
	kind      string
	resource  uuid.UUID
	lastSend  *time.Time // when its newest send had certainly ended
	now       time.Time
}

// mayTakeEffect tells whether its newest send is too young for absence to prove anything.
func (c unknownCommand) mayTakeEffect(safetyAge time.Duration) bool {
	return c.lastSend != nil && c.now.Before(c.lastSend.Add(safetyAge))
}

// unknownOf is the payment's oldest command with an unknown outcome, or nil.
func (a *Activities) unknownOf(ctx context.Context, id payments.PaymentID) (*unknownCommand, error) {
	var c unknownCommand
	err := a.Pool.QueryRow(ctx, `
		SELECT r.id, r.operation, r.resource_kind, r.resource_id, payonce.clock(),
		       (SELECT max(coalesce(c.ended_at, c.last_sent_at + $2::interval)) FROM payonce.provider_calls c WHERE c.record = r.id)
		FROM payonce.idempotency_records r
		WHERE r.payment = $1 AND r.status = 'unknown' AND EXISTS (
			SELECT FROM payonce.provider_calls c WHERE c.record = r.id) -- the confirm that was to answer a create only follows it
		ORDER BY r.number LIMIT 1`, id.UUID, a.Timing.Send).Scan(&c.record.UUID, &c.operation, &c.kind, &c.resource, &c.now, &c.lastSend)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read unknown commands: %w", err)
	}
	return &c, nil
}

// borneOut tells whether what was read settled the command, or bound the intent that a create made: then what was to come after it goes on.
func (a *Activities) borneOut(ctx context.Context, id payments.PaymentID, c unknownCommand) (bool, error) {
	if settled, err := a.settledNow(ctx, c); err != nil || settled {
		return settled, err
	}
	if c.operation != payments.OperationCreate {
		return false, nil
	}
	p, err := paymentstore.ByID(ctx, a.Pool, a.Sealer, id)
	if err != nil || p.IntentID == "" {
		return false, err
	}
	return true, a.putBack(ctx, id, c, boundaries.CallAnswered)
}

// settledNow tells whether the command has its outcome now. When somebody else had it sent again meanwhile it has none, and nothing of it is unknown.
func (a *Activities) settledNow(ctx context.Context, c unknownCommand) (bool, error) {
	var status boundaries.RecordStatus
	err := a.Pool.QueryRow(ctx, `SELECT status FROM payonce.idempotency_records WHERE id = $1`, c.record.UUID).Scan(&status)
	switch {
	case err != nil:
		return false, fmt.Errorf("read the command: %w", err)
	case status == boundaries.RecordInProgress:
		return false, ErrNothingUnknown
	default:
		return status == boundaries.RecordCompleted, nil
	}
}

// show reads at Stripe what the command was about and applies it: what Stripe shows settles the command without anybody's word.
func (a *Activities) show(ctx context.Context, id payments.PaymentID, c unknownCommand, said Resolution) (map[string]any, error) {
	p, err := paymentstore.ByID(ctx, a.Pool, a.Sealer, id)
	if err != nil {
		return nil, err
	}
	if c.kind == boundaries.ResourceRefund {
		refunds, err := a.SyncRefunds(ctx, p, SourceOperator, nil)
		return map[string]any{"refunds": len(refunds), "ours": oursAmong(refunds, payments.RefundID{UUID: c.resource})}, err
	}
	intent := p.IntentID
	if intent == "" {
		intent = said.Intent
	}
	if intent == "" {
		if intent, err = a.madeBy(ctx, p, c); err != nil || intent == "" {
			return map[string]any{"intent": nil}, err
		}
	}
	read, begun, err := a.ReadAtStripe(ctx, p, intent)
	if err != nil {
		return nil, err
	}
	learnt := Learnt{Source: SourceOperator, Intent: &read, BegunAt: begun, EffectiveAt: begun, LastSendEnd: c.lastSend}
	if said.As == ResolvedExecuted {
		learnt.Executed = &c.record
	}
	applied, err := a.Apply(ctx, id, learnt)
	if err == nil && applied.Verdict == VerdictQuarantined {
		err = fmt.Errorf("intent %s does not fit the payment: %w", intent, ErrNotShown)
	}
	return shownBy(read), err
}

// madeBy is the intent that a create made and that fits its payment; empty when Stripe's list has none.
func (a *Activities) madeBy(ctx context.Context, p payments.Payment, c unknownCommand) (string, error) {
	call, err := a.Calls.Newest(ctx, c.record)
	if err != nil || call == nil {
		return "", err
	}
	credentials, err := a.credentials(ctx, p.Account)
	if err != nil {
		return "", err
	}
	found, err := a.searchList(ctx, credentials, p.ID, *call, c.now)
	if err != nil || found == nil || misfit(p, found) != "" {
		return "", err
	}
	return found.ID, nil
}

func shownBy(intent stripeapi.Intent) map[string]any {
	return map[string]any{
		"intent": intent.ID, "status": intent.Status, "amount_received": intent.AmountReceived, "amount_capturable": intent.AmountCapturable,
	}
}

// executed tells whether what Stripe shows bears out a person's word that the command took effect.
func (ch *change) executed(c command) bool {
	switch c.operation {
	case payments.OperationCreate:
		return ch.after.IntentID != ""
	case payments.OperationConfirm:
		return ch.after.Status != payments.StatusSubmitted && ch.after.Status != payments.StatusRequiresPaymentMethod
	case payments.OperationCapture:
		return ch.after.AmountCaptured > c.capturedBefore || ch.after.Status.Terminal()
	default:
		return ch.after.Status.Terminal()
	}
}

// sendAgain puts the command back into the queue: its next generation may go, since the last one had no effect and will have none.
//
// not_after is gone with it: a person asked for it now.
func (a *Activities) sendAgain(ctx context.Context, id payments.PaymentID, c unknownCommand) error {
	if c.mayTakeEffect(a.Timing.SafetyAge) {
		return ErrTooEarly
	}
	return a.putBack(ctx, id, c, boundaries.CallAbsent)
}

// putBack puts the command, and the one that was to answer it, back into the queue, unless somebody was faster; call says what became of its call.
func (a *Activities) putBack(ctx context.Context, id payments.PaymentID, c unknownCommand, call boundaries.CallStatus) error {
	err := pgx.BeginFunc(ctx, a.Pool, func(tx pgx.Tx) error {
		if _, err := paymentstore.Lock(ctx, tx, a.Sealer, id); err != nil {
			return err
		}
		batch := &pgx.Batch{}
		batch.Queue(`
			WITH back AS (
				UPDATE payonce.idempotency_records SET status = 'in_progress', next_wake_at = payonce.clock(), wakes = 0, not_after = NULL
				WHERE id IN ($1, (SELECT answered_by FROM payonce.idempotency_records WHERE id = $1)) AND status = 'unknown'
				RETURNING id)
			UPDATE payonce.provider_calls c SET status = $2 FROM back WHERE back.id = $1 AND c.record = $1 AND c.status <> 'absent'`, c.record.UUID, call)
		return tx.SendBatch(ctx, batch).Close()
	})
	if err != nil {
		return fmt.Errorf("put the command back: %w", err)
	}
	return nil
}

// sendOneAgain is sendAgain for what one command makes, a payout or a provision; lock takes the lock of its row.
func (a *Activities) sendOneAgain(ctx context.Context, c unknownCommand, lock string) error {
	if c.mayTakeEffect(a.Timing.SafetyAge) {
		return ErrTooEarly
	}
	err := pgx.BeginFunc(ctx, a.Pool, func(tx pgx.Tx) error {
		batch := &pgx.Batch{}
		batch.Queue(lock, c.resource)
		batch.Queue(`
			WITH back AS (
				UPDATE payonce.idempotency_records SET status = 'in_progress', next_wake_at = payonce.clock(), wakes = 0
				WHERE id = $1 AND status = 'unknown' RETURNING id)
			UPDATE payonce.provider_calls c SET status = 'absent' FROM back WHERE c.record = back.id AND c.status <> 'absent'`, c.record.UUID)
		return tx.SendBatch(ctx, batch).Close()
	})
	if err != nil {
		return fmt.Errorf("put the %s back: %w", c.kind, err)
	}
	return nil
}

// resolved takes the mark off once nothing is unknown any more, and keeps who said what, with what the mark had said.
func (a *Activities) resolved(ctx context.Context, id payments.PaymentID, said Resolution, shown map[string]any) error {
	detail := evidence(map[string]any{"as": said.As, "reason": said.Reason, "by": said.By, "shown": shown})
	err := pgx.BeginFunc(ctx, a.Pool, func(tx pgx.Tx) error {
		p, err := paymentstore.Lock(ctx, tx, a.Sealer, id)
		if err != nil {
			return err
		}
		batch := &pgx.Batch{}
		batch.Queue(`
			INSERT INTO payonce.payment_facts (payment, fact, source, effective_at, applied_at, detail)
			SELECT $1, 'resolved/' || (SELECT count(*) + 1 FROM payonce.payment_facts WHERE payment = $1 AND fact LIKE 'resolved/%'), 'operator',
			       payonce.clock(), payonce.clock(), $2::jsonb || jsonb_build_object('review', $3::jsonb)`, id.UUID, detail, evidence(reviewOf(p.Review)))
		batch.Queue(`
			UPDATE payonce.payments SET review_reason = NULL, review_since = NULL, review_evidence = NULL, updated_at = payonce.clock()
			WHERE id = $1 AND NOT EXISTS (SELECT FROM payonce.idempotency_records WHERE payment = $1 AND status = 'unknown')`, id.UUID)
		return tx.SendBatch(ctx, batch).Close()
	})
	if err != nil {
		return fmt.Errorf("note the resolution: %w", err)
	}
	if err := a.Waker.Wake(ctx, id); err != nil && !errors.Is(err, workflows.ErrOver) {
		a.Log.Warn("the workflow was not woken: the relay will", "payment", id, "error", err)
	}
	return nil
}

// reviewOf is what a mark says, nil without one.
func reviewOf(review *payments.Review) map[string]any {
	if review == nil {
		return nil
	}
	return map[string]any{"reason": review.Reason, "since": review.Since, "evidence": review.Facts}
}
