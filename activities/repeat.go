package activities

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"payonce/payments"
)

// Repeated are stored events of one payment that say nothing which it does not hold.
type Repeated struct {
	Offered []uuid.UUID // those that imply the money and the message of its ending: what they would post and tell is there already
	Stale   []uuid.UUID
}

// Repeat settles repeated events, and counts what they would have posted and told, in one statement and without reading anything again: what is true of a
// payment that is over stays true. Lock order: payment, events.
func (a *Activities) Repeat(ctx context.Context, p payments.Payment, repeated Repeated) error {
	_, err := a.Pool.Exec(ctx, `
		WITH held AS MATERIALIZED (
			SELECT id FROM payonce.payments WHERE id = $1 AND cardinality($2::uuid[]) > 0 FOR NO KEY UPDATE),
		settled AS (
			UPDATE payonce.provider_events
			SET status = CASE WHEN id = ANY($2) THEN 'applied' ELSE 'stale' END, payment = $1, tenant = $4, next_try_at = NULL, settled_at = payonce.clock()
			WHERE id = ANY($2 || $3::uuid[]) AND settled_at IS NULL AND (SELECT count(*) FROM held) >= 0
			RETURNING status)
		UPDATE payonce.payments SET
			suppressed_postings = suppressed_postings + CASE WHEN amount_captured > 0 THEN offered.count ELSE 0 END,
			suppressed_messages = suppressed_messages + offered.count * (
				SELECT count(*) FROM payonce.notification_endpoints WHERE tenant = $4 AND disabled_at IS NULL)
		FROM (SELECT count(*) FROM settled WHERE status = 'applied') AS offered
		WHERE id = $1 AND offered.count > 0`,
		p.ID.UUID, repeated.Offered, repeated.Stale, p.Tenant.UUID)
	if err != nil {
		return fmt.Errorf("settle repeated events of payment %s: %w", p.ID, err)
	}
	return nil
}
