package recovery

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/activities"
	"payonce/payments"
)

// holdBatch bounds one round.
const holdBatch = 50

// Holder sees to the holds that are about to run out.
type Holder struct {
	Pool       *pgxpool.Pool
	Activities *activities.Activities
}

// SeeTo sees to what is due. It takes nothing: two processes meet under the payment's lock, and the second finds it seen to. It returns how many were
// due; one that could not be seen to is due again at the next round.
func (h *Holder) SeeTo(ctx context.Context) (int, error) {
	rows, err := h.Pool.Query(ctx, `
		SELECT id FROM payonce.payments WHERE hold_due_at <= (SELECT payonce.clock()) ORDER BY hold_due_at LIMIT $1`, holdBatch)
	if err != nil {
		return 0, fmt.Errorf("find holds that run out: %w", err)
	}
	due, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return 0, fmt.Errorf("find holds that run out: %w", err)
	}
	var failed []error
	for _, id := range due {
		failed = append(failed, h.Activities.HoldDue(ctx, payments.PaymentID{UUID: id}))
	}
	return len(due), errors.Join(failed...)
}
