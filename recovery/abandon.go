package recovery

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/activities"
	"payonce/payments"
)

// Abandoner gives up the payments whose payer did not come back in time.
type Abandoner struct {
	Pool       *pgxpool.Pool
	Activities *activities.Activities
}

// Abandon gives up what is due. It takes nothing: two processes meet under the payment's lock, and the second finds it given up. It returns how
// many were due; one that could not be given up is due again at the next round.
func (a *Abandoner) Abandon(ctx context.Context) (int, error) {
	return actOnDue(ctx, a.Pool, "abandoned payments", func(ctx context.Context, id uuid.UUID) error {
		return a.Activities.Abandon(ctx, payments.PaymentID{UUID: id})
	}, `SELECT id FROM payonce.payments WHERE abandon_at <= (SELECT payonce.clock()) ORDER BY abandon_at LIMIT $1`, dueBatch)
}
