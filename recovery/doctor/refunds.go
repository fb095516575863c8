package doctor

import (
	"context"
	"fmt"

	"github.com/google/uuid"
)

// refundIdentity is a refund as a statement has judged it, with what its id derives from.
type refundIdentity struct {
	ID       uuid.UUID
	Subject  string
	Faults   []string
	Tenant   uuid.UUID
	Account  string
	Livemode bool
	External bool
	RefundID string
}

// refunds: a refund came from a command of ours or was made elsewhere, which its id tells; and its status, stage and times agree.
func (e *examiner) refunds(ctx context.Context) error {
	c := e.check("refunds", 7, "every refund came from one command, or from Stripe under a derived id, and its status, stage and times agree")
	const next = "only the claim and apply write these: find what else wrote"
	err := page(ctx, e, refundIdentities, nil,
		func(r refundIdentity) uuid.UUID { return r.ID },
		func(refunds []refundIdentity) error {
			for _, r := range refunds {
				c.Examined++
				for _, fault := range r.Faults {
					c.violate(r.Subject, next, "%s", fault)
				}
				if derived := externalID(r); r.External && derived.UUID != r.ID && len(e.lost) == 0 {
					c.violate(r.Subject, next, "was made elsewhere as %q, which derives %s", r.RefundID, derived)
				}
			}
			return nil
		})
	if err != nil {
		return fmt.Errorf("check %s: %w", c.Name, err)
	}
	return nil
}

const refundIdentities = `
	SELECT f.id, 'refund ' || f.id || ' (' || f.status || ')', array_remove(ARRAY[
		CASE WHEN f.tenant <> p.tenant OR f.account <> p.account OR f.livemode <> p.livemode THEN 'is of another tenant or account than its payment' END,
		CASE WHEN f.currency <> p.currency THEN format('is in %s, and its payment in %s', f.currency, p.currency) END,
		CASE WHEN f.record IS NOT NULL AND (r.resource_kind <> 'refund' OR r.resource_id <> f.id OR r.payment <> f.payment)
			THEN format('names record %s, which is about something else', f.record) END,
		CASE WHEN over AND f.stage <> 'ledger_applied' THEN format('is over and has the stage %s', f.stage) END,
		CASE WHEN over AND (f.terminal_at IS NULL OR f.ledger_applied_at IS NULL) THEN 'is over and lacks the time of it' END,
		CASE WHEN f.status = 'submitted' AND f.stage <> 'submitted' THEN format('has the stage %s', f.stage) END,
		CASE WHEN NOT over AND f.status <> 'submitted' AND f.stage <> 'processing' THEN format('has the stage %s', f.stage) END,
		CASE WHEN f.stage = 'processing' AND f.processing_at IS NULL THEN 'is processing and lacks the time of it' END,
		CASE WHEN f.refund_id IS NULL AND f.status NOT IN ('submitted', 'failed') THEN 'has no refund at Stripe' END,
		CASE WHEN f.refund_id IS NULL AND f.status = 'failed' AND f.last_error IS NULL THEN 'failed, and neither Stripe''s refund nor its refusal is known' END,
		CASE WHEN f.refund_id IS NOT NULL AND (f.status = 'submitted' OR f.external_resource_created_at IS NULL)
			THEN format('has the refund %s at Stripe, and its stage was not reached', f.refund_id) END,
		CASE WHEN r.status <> 'completed' AND (f.refund_id IS NOT NULL OR f.status = 'failed') AND r.created_at <= f.created_at
			THEN format('has its outcome, and its command is %s', r.status) END,
		CASE WHEN r.status = 'completed' AND f.status = 'submitted' THEN 'is submitted, and its command is completed' END,
		CASE WHEN r.external_resource_id <> f.refund_id
			THEN format('is bound to %s, and its command was answered with %s', f.refund_id, r.external_resource_id) END,
		CASE WHEN over AND f.next_poll_at IS NOT NULL THEN 'is over and is still polled' END], NULL),
		f.tenant, f.account, f.livemode, f.record IS NULL, coalesce(f.refund_id, '')
	FROM payonce.refunds f
	JOIN payonce.payments p ON p.id = f.payment
	LEFT JOIN payonce.idempotency_records r ON r.id = f.record
	CROSS JOIN LATERAL (SELECT f.status IN ('succeeded', 'failed', 'canceled') AS over) AS s
	WHERE f.id > $1 ORDER BY f.id LIMIT $2`

// refundWaits: a refund under way has a poll or a command that will be woken, or its payment is in review.
func (e *examiner) refundWaits(ctx context.Context) error {
	c := e.check("refund_waits", 4, "every refund under way has a poll, a command that will be woken, or a review mark, and none is overdue")
	return e.judge(ctx, c, "is the worker running? Its poller and relay take what is due; what they never take was written without its wait", `
		SELECT f.id, 'refund ' || f.id || ' (' || f.status || ')', array_remove(ARRAY[
			CASE WHEN f.refund_id IS NOT NULL AND f.next_poll_at IS NULL THEN 'is under way at Stripe and is never polled' END,
			CASE WHEN f.next_poll_at < $3 THEN format('was to be polled at %s', f.next_poll_at) END,
			CASE WHEN f.refund_id IS NULL AND NOT coalesce(r.status = 'in_progress' AND r.next_wake_at IS NOT NULL
				OR r.status = 'unknown' AND p.review_reason IS NOT NULL, false)
				THEN 'waits for nothing: no refund at Stripe, and no command that will be woken' END,
			CASE WHEN $4 AND f.status = 'submitted' AND p.review_reason IS NULL THEN 'is submitted, and the system is settled' END], NULL)
		FROM payonce.refunds f
		JOIN payonce.payments p ON p.id = f.payment
		LEFT JOIN payonce.idempotency_records r ON r.id = f.record
		WHERE f.id > $1 AND f.status NOT IN ('succeeded', 'failed', 'canceled') ORDER BY f.id LIMIT $2`,
		e.overdue(), e.Settled)
}
