package doctor

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"payonce/boundaries"
	"payonce/payments"
)

// disputeIdentity is a dispute as a statement has judged it, with what its id derives from.
type disputeIdentity struct {
	ID        uuid.UUID
	Faults    []string
	Tenant    uuid.UUID
	Account   string
	Livemode  bool
	DisputeID string
}

// disputes: a dispute is Stripe's, under a derived id, and its status, stage and times agree.
func (e *examiner) disputes(ctx context.Context) error {
	c := e.check("disputes", 7, "every dispute is Stripe's under a derived id, and its status, stage and times agree")
	const next = "only apply writes these: find what else wrote"
	err := page(ctx, e, `
		SELECT d.id, array_remove(ARRAY[
			CASE WHEN d.tenant <> p.tenant OR d.account <> p.account OR d.livemode <> p.livemode THEN 'is of another tenant or account than its payment' END,
			CASE WHEN d.currency <> p.currency THEN format('is in %s, and its payment in %s', d.currency, p.currency) END,
			CASE WHEN over AND d.stage <> 'ledger_applied' THEN format('is decided and has the stage %s', d.stage) END,
			CASE WHEN over AND (d.terminal_at IS NULL OR d.ledger_applied_at IS NULL) THEN 'is decided and lacks the time of it' END,
			CASE WHEN NOT over AND (d.stage = 'external_resource_created' OR d.processing_at IS NULL) THEN format('is %s and has not reached that stage', d.status) END,
			CASE WHEN over AND d.next_poll_at IS NOT NULL THEN 'is decided and is still polled' END], NULL),
			d.tenant, d.account, d.livemode, d.dispute_id
		FROM payonce.disputes d
		JOIN payonce.payments p ON p.id = d.payment
		CROSS JOIN LATERAL (SELECT d.status IN ('won', 'lost', 'warning_closed') AS over) AS s
		WHERE d.id > $1 ORDER BY d.id LIMIT $2`, nil,
		func(d disputeIdentity) uuid.UUID { return d.ID },
		func(disputes []disputeIdentity) error {
			for _, d := range disputes {
				c.Examined++
				subject := "dispute " + d.DisputeID
				for _, fault := range d.Faults {
					c.violate(subject, next, "%s", fault)
				}
				derived := boundaries.DisputeID(payments.TenantID{UUID: d.Tenant}, payments.Account{ID: d.Account, Livemode: d.Livemode}, d.DisputeID)
				if derived.UUID != d.ID {
					c.violate(subject, next, "has the id %s, and Stripe's derives %s", d.ID, derived)
				}
			}
			return nil
		})
	if err != nil {
		return fmt.Errorf("check %s: %w", c.Name, err)
	}
	return nil
}

// disputeWaits: a dispute that is not decided is polled.
func (e *examiner) disputeWaits(ctx context.Context) error {
	c := e.check("dispute_waits", 4, "every dispute that is not decided has a poll, and none is overdue")
	return e.judge(ctx, c, "is the worker running? Its poller takes what is due; what it never takes was written without its wait", `
		SELECT d.id, 'dispute ' || d.dispute_id || ' (' || d.status || ')', array_remove(ARRAY[
			CASE WHEN d.next_poll_at IS NULL THEN 'is not decided and is never polled' END,
			CASE WHEN d.next_poll_at < $3 THEN format('was to be polled at %s', d.next_poll_at) END], NULL)
		FROM payonce.disputes d
		WHERE d.id > $1 AND d.status NOT IN ('won', 'lost', 'warning_closed') ORDER BY d.id LIMIT $2`, e.overdue())
}
