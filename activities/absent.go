package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"payonce/boundaries"
	"payonce/payments"
)

// subject is what a command acts on: as logs name it, and the statement that marks its row for review.
type subject struct {
	name   string
	id     uuid.UUID
	review string // of the id and the evidence
}

func paymentSubject(id payments.PaymentID) subject {
	return subject{name: "payment", id: id.UUID, review: `
		UPDATE payonce.payments SET review_reason = 'outcome_unknown', review_since = payonce.clock(), review_evidence = $2
		WHERE id = $1 AND review_reason IS NULL`}
}

func payoutSubject(id payments.PayoutID) subject {
	return subject{name: "payout", id: id.UUID, review: `
		UPDATE payonce.payouts SET review_reason = 'outcome_unknown', review_since = payonce.clock(), review_evidence = $2
		WHERE id = $1 AND review_reason IS NULL`}
}

func provisionSubject(id payments.ProvisionID) subject {
	return subject{name: "provision", id: id.UUID, review: `
		UPDATE payonce.provisions SET review_reason = 'outcome_unknown', review_since = payonce.clock(), review_evidence = $2
		WHERE id = $1 AND review_reason IS NULL`}
}

// absent is reached when Stripe showed no effect of the call, as read at now: old enough, that proves that there will be none, and the next generation may
// go. What no age proves is marked unknown.
func (a *Activities) absent(ctx context.Context, of subject, now time.Time, c *command, call boundaries.Call) error {
	if cause(call.Code) == causeKeyReused || call.Status == boundaries.CallAnswered {
		return a.markUnknown(ctx, of, c, call)
	}
	provenAt := call.LastSendEnd(a.Timing.Send).Add(a.Timing.SafetyAge)
	if now.Before(provenAt) {
		return notYet("too early to count as absent", min(provenAt.Sub(now)+10*time.Millisecond, time.Minute), errors.New("look again"))
	}
	a.Log.Warn("a call to Stripe had no effect: the next generation goes",
		of.name, of.id, "operation", c.operation, "generation", call.Generation, "idempotency_key", call.Key)
	return a.Calls.Absent(ctx, call.Key)
}

// markUnknown takes a command out of the queue, with the confirm that was to answer it, and marks what it acts on for review: nothing more can be learnt by
// machine. What the command has reserved stays reserved.
func (a *Activities) markUnknown(ctx context.Context, of subject, c *command, call boundaries.Call) error {
	a.Log.Error("the outcome of a command cannot be learnt: what it acts on is marked for review",
		of.name, of.id, "operation", c.operation, "idempotency_key", call.Key)
	facts := evidence(map[string]any{"record": c.record, "idempotency_key": call.Key, "operation": call.Operation, "last_answer": call.Code})
	err := pgx.BeginFunc(ctx, a.Pool, func(tx pgx.Tx) error {
		batch := &pgx.Batch{}
		batch.Queue(of.review, of.id, facts)
		batch.Queue(`
			UPDATE payonce.idempotency_records SET status = 'unknown', lease_until = NULL, next_wake_at = NULL
			WHERE id IN ($1, (SELECT answered_by FROM payonce.idempotency_records WHERE id = $1)) AND status = 'in_progress'`, c.record.UUID)
		batch.Queue(`UPDATE payonce.provider_calls SET status = 'unknown' WHERE idempotency_key = $1 AND status = 'sent'`, call.Key)
		return tx.SendBatch(ctx, batch).Close()
	})
	if err != nil {
		return fmt.Errorf("mark unknown: %w", err)
	}
	return nil
}
