package recovery

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/activities"
	"payonce/payments"
)

// Holder sees to the holds that are about to run out.
type Holder struct {
	Pool       *pgxpool.Pool
	Activities *activities.Activities
}

// SeeTo sees to what is due. It takes nothing: two processes meet under the payment's lock, and the second finds it seen to. It returns how many were
// due; one that could not be seen to is due again at the next round.
func (h *Holder) SeeTo(ctx context.Context) (int, error) {
	return actOnDue(ctx, h.Pool, "holds that run out", func(ctx context.Context, id uuid.UUID) error {
		return h.Activities.HoldDue(ctx, payments.PaymentID{UUID: id})
	}, `SELECT id FROM payonce.payments WHERE hold_due_at <= (SELECT payonce.clock()) ORDER BY hold_due_at LIMIT $1`, dueBatch)
}
