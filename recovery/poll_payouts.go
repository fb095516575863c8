package recovery

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"payonce/payments"
)

// PollPayouts takes the payouts that are due and reads each, as Poll does for payments.
func (p *Poller) PollPayouts(ctx context.Context) (int, error) {
	rows, err := p.Pool.Query(ctx, `
		UPDATE payonce.payouts SET next_poll_at = payonce.clock() + $1::interval
		WHERE id IN (
			SELECT id FROM payonce.payouts
			WHERE next_poll_at <= (SELECT payonce.clock()) ORDER BY next_poll_at LIMIT $2 FOR UPDATE SKIP LOCKED)
		RETURNING id`, p.Timing.PollAfter, pollBatch)
	if err != nil {
		return 0, fmt.Errorf("take due polls of payouts: %w", err)
	}
	due, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return 0, fmt.Errorf("take due polls of payouts: %w", err)
	}
	var failed []error
	for _, id := range due {
		failed = append(failed, p.Activities.PollPayout(ctx, payments.PayoutID{UUID: id}))
	}
	return len(due), errors.Join(failed...)
}
