package recovery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/activities"
	"payonce/internal/timing"
	"payonce/payments"
)

// pollBatch bounds one round of the poller.
const pollBatch = 50

// Poller reads open payments at Stripe, with back-off: for what no event ever told.
type Poller struct {
	Pool       *pgxpool.Pool
	Activities *activities.Activities
	Timing     timing.Timing
	Log        *slog.Logger
}

// Poll takes the payments that are due and reads each. It moves only the schedule; activities.Apply changes the payment and sets the next poll.
func (p *Poller) Poll(ctx context.Context) (int, error) {
	rows, err := p.Pool.Query(ctx, `
		UPDATE payonce.payments SET next_poll_at = payonce.clock() + $1::interval
		WHERE id IN (
			SELECT id FROM payonce.payments
			WHERE next_poll_at <= (SELECT payonce.clock()) ORDER BY next_poll_at LIMIT $2 FOR UPDATE SKIP LOCKED)
		RETURNING id`, p.Timing.PollAfter, pollBatch)
	if err != nil {
		return 0, fmt.Errorf("take due polls: %w", err)
	}
	due, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return 0, fmt.Errorf("take due polls: %w", err)
	}
	var failed []error
	for _, id := range due {
		failed = append(failed, p.Activities.Poll(ctx, payments.PaymentID{UUID: id}))
	}
	return len(due), errors.Join(failed...)
}

// PollRefunds takes the refunds that are due and reads each, as Poll does for payments.
func (p *Poller) PollRefunds(ctx context.Context) (int, error) {
	rows, err := p.Pool.Query(ctx, `
		UPDATE payonce.refunds SET next_poll_at = payonce.clock() + $1::interval
		WHERE id IN (
			SELECT id FROM payonce.refunds
			WHERE next_poll_at <= (SELECT payonce.clock()) ORDER BY next_poll_at LIMIT $2 FOR UPDATE SKIP LOCKED)
		RETURNING id`, p.Timing.PollAfter, pollBatch)
	if err != nil {
		return 0, fmt.Errorf("take due polls of refunds: %w", err)
	}
	due, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return 0, fmt.Errorf("take due polls of refunds: %w", err)
	}
	var failed []error
	for _, id := range due {
		failed = append(failed, p.Activities.PollRefund(ctx, payments.RefundID{UUID: id}))
	}
	return len(due), errors.Join(failed...)
}

// PollDisputes takes the disputes that are due and reads each, as Poll does for payments.
func (p *Poller) PollDisputes(ctx context.Context) (int, error) {
	rows, err := p.Pool.Query(ctx, `
		UPDATE payonce.disputes SET next_poll_at = payonce.clock() + $1::interval
		WHERE id IN (
			SELECT id FROM payonce.disputes
			WHERE next_poll_at <= (SELECT payonce.clock()) ORDER BY next_poll_at LIMIT $2 FOR UPDATE SKIP LOCKED)
		RETURNING id`, p.Timing.PollAfter, pollBatch)
	if err != nil {
		return 0, fmt.Errorf("take due polls of disputes: %w", err)
	}
	due, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return 0, fmt.Errorf("take due polls of disputes: %w", err)
	}
	var failed []error
	for _, id := range due {
		failed = append(failed, p.Activities.PollDispute(ctx, payments.DisputeID{UUID: id}))
	}
	return len(due), errors.Join(failed...)
}
