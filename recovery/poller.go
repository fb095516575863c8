package recovery

import (
	"context"
	"log/slog"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/activities"
	"payonce/internal/timing"
	"payonce/payments"
)

// Poller reads at Stripe what is open, with back-off: for what no event ever told.
type Poller struct {
	Pool       *pgxpool.Pool
	Activities *activities.Activities
	Timing     timing.Timing
	Log        *slog.Logger
}

// Poll takes the payments that are due and reads each. It moves only the schedule; activities.Apply changes the payment and sets the next poll.
func (p *Poller) Poll(ctx context.Context) (int, error) {
	return p.poll(ctx, "payments", func(ctx context.Context, id uuid.UUID) error {
		return p.Activities.Poll(ctx, payments.PaymentID{UUID: id})
	})
}

// PollRefunds takes the refunds that are due and reads each, as Poll does for payments.
func (p *Poller) PollRefunds(ctx context.Context) (int, error) {
	return p.poll(ctx, "refunds", func(ctx context.Context, id uuid.UUID) error {
		return p.Activities.PollRefund(ctx, payments.RefundID{UUID: id})
	})
}

// PollDisputes takes the disputes that are due and reads each, as Poll does for payments.
func (p *Poller) PollDisputes(ctx context.Context) (int, error) {
	return p.poll(ctx, "disputes", func(ctx context.Context, id uuid.UUID) error {
		return p.Activities.PollDispute(ctx, payments.DisputeID{UUID: id})
	})
}

// PollPayouts takes the payouts that are due and reads each, as Poll does for payments.
func (p *Poller) PollPayouts(ctx context.Context) (int, error) {
	return p.poll(ctx, "payouts", func(ctx context.Context, id uuid.UUID) error {
		return p.Activities.PollPayout(ctx, payments.PayoutID{UUID: id})
	})
}

// poll takes the rows of a table that are due to be read, for PollAfter: another process finds them again if this one dies.
func (p *Poller) poll(ctx context.Context, table string, read func(context.Context, uuid.UUID) error) (int, error) {
	return actOnDue(ctx, p.Pool, "due polls of "+table, read, `
		UPDATE payonce.`+table+` SET next_poll_at = payonce.clock() + $1::interval
		WHERE id IN (
			SELECT id FROM payonce.`+table+`
			WHERE next_poll_at <= (SELECT payonce.clock()) ORDER BY next_poll_at LIMIT $2 FOR UPDATE SKIP LOCKED)
		RETURNING id`, p.Timing.PollAfter, dueBatch)
}
