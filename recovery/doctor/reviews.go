package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
)

type review struct {
	ID       uuid.UUID
	Subject  string
	Reason   string
	Since    time.Time
	Evidence string
}

// reviews notes the payments, payouts and provisions that wait for a person: visibly unresolved, which is no violation.
func (e *examiner) reviews(ctx context.Context) error {
	err := page(ctx, e, `
		SELECT id, what || ' ' || id, review_reason, review_since, coalesce(review_evidence::text, '{}') FROM (
			SELECT id, 'payment' AS what, review_reason, review_since, review_evidence FROM payonce.payments
			UNION ALL SELECT id, 'payout', review_reason, review_since, review_evidence FROM payonce.payouts
			UNION ALL SELECT id, kind, review_reason, review_since, review_evidence FROM payonce.provisions) r
		WHERE id > $1 AND review_reason IS NOT NULL ORDER BY id LIMIT $2`, nil,
		func(r review) uuid.UUID { return r.ID },
		func(reviews []review) error {
			for _, r := range reviews {
				e.report.note(r.Subject, "a person reads it at Stripe and settles it", "is in review since %s: %s %s",
					r.Since.UTC().Format(time.RFC3339), r.Reason, r.Evidence)
			}
			return nil
		})
	if err != nil {
		return fmt.Errorf("list reviews: %w", err)
	}
	return nil
}
