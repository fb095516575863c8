package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
)

type review struct {
	ID       uuid.UUID
	Reason   string
	Since    time.Time
	Evidence string
}

// reviews notes the payments that wait for a person: visibly unresolved, which is no violation.
func (e *examiner) reviews(ctx context.Context) error {
	err := page(ctx, e, `
		SELECT id, review_reason, review_since, coalesce(review_evidence::text, '{}')
		FROM payonce.payments WHERE id > $1 AND review_reason IS NOT NULL ORDER BY id LIMIT $2`, nil,
		func(r review) uuid.UUID { return r.ID },
		func(reviews []review) error {
			for _, r := range reviews {
				e.report.note("payment "+r.ID.String(), "a person reads the intent at Stripe and settles it", "is in review since %s: %s %s",
					r.Since.UTC().Format(time.RFC3339), r.Reason, r.Evidence)
			}
			return nil
		})
	if err != nil {
		return fmt.Errorf("list reviews: %w", err)
	}
	return nil
}
