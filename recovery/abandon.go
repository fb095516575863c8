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

// abandonBatch bounds one round.
const abandonBatch = 50

// Abandoner gives up the payments whose payer did not come back in time.
type Abandoner struct {
	Pool       *pgxpool.Pool
	Activities *activities.Activities
}

// Abandon gives up what is due. It takes nothing: two processes meet under the payment's lock, and the second finds it given up. It returns how
// many were due; one that could not be given up is due again at the next round.
func (a *Abandoner) Abandon(ctx context.Context) (int, error) {
	rows, err := a.Pool.Query(ctx, `
		SELECT id FROM payonce.payments WHERE abandon_at <= (SELECT payonce.clock()) ORDER BY abandon_at LIMIT $1`, abandonBatch)
	if err != nil {
		return 0, fmt.Errorf("find abandoned payments: %w", err)
	}
	due, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return 0, fmt.Errorf("find abandoned payments: %w", err)
	}
	var failed []error
	for _, id := range due {
		failed = append(failed, a.Activities.Abandon(ctx, payments.PaymentID{UUID: id}))
	}
	return len(due), errors.Join(failed...)
}
