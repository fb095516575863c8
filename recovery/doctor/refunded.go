package doctor

import (
	"context"

	"payonce/boundaries"
	"payonce/payments"
)

// refunded: money that was given back is booked once, under the refund's own id, and what came back of it too; and no decision of ours gave back more
// than was captured. Stripe's facts may: a dispute, somebody else's refund.
func (e *examiner) refunded(ctx context.Context) error {
	c := e.check("refunded", 1, "what was given back is what refunds moved and their journals booked, and our own never exceed what was captured")
	const next = "compare payonce.refunds of the payment with the list of its intent's refunds at Stripe; only apply may write either"
	if err := e.judge(ctx, c, next, refundPostings); err != nil {
		return err
	}
	return e.judge(ctx, c, next, refundSums)
}

const refundPostings = `
	SELECT f.id, 'refund ' || f.id || ' (' || f.status || ')', array_remove(ARRAY[
		CASE WHEN f.status = 'succeeded' AND NOT f.moved THEN 'succeeded, and its money has not moved' END,
		CASE WHEN f.status = 'submitted' AND f.moved THEN 'moved money before Stripe has answered' END,
		CASE WHEN f.returned <> (f.moved AND f.status IN ('failed', 'canceled'))
			THEN format('moved its money: %s; and has it back: %s', f.moved, f.returned) END,
		CASE WHEN b.gone <> CASE WHEN f.moved THEN f.amount ELSE 0 END
			THEN format('is of %s %s, moved: %s, and booked %s as gone', f.amount, f.currency, f.moved, b.gone) END,
		CASE WHEN b.back <> CASE WHEN f.returned THEN f.amount ELSE 0 END
			THEN format('is of %s %s, returned: %s, and booked %s as come back', f.amount, f.currency, f.returned, b.back) END,
		CASE WHEN b.strange > 0 THEN 'has a journal that names another payment' END], NULL)
	FROM payonce.refunds f
	CROSS JOIN LATERAL (
		SELECT coalesce(-sum(n.amount) FILTER (WHERE j.posting_key LIKE '%/out'), 0) AS gone,
		       coalesce(sum(n.amount) FILTER (WHERE j.posting_key LIKE '%/back'), 0) AS back,
		       count(*) FILTER (WHERE j.payment IS DISTINCT FROM f.payment) AS strange
		FROM payonce.ledger_journals j
		JOIN payonce.ledger_entries n ON n.journal = j.id JOIN payonce.ledger_accounts a ON a.id = n.account
		WHERE j.tenant = f.tenant AND j.posting_key IN ('refund/' || f.id || '/out', 'refund/' || f.id || '/back')
			AND a.name = 'stripe:receivable' AND n.currency = f.currency) AS b
	WHERE f.id > $1 ORDER BY f.id LIMIT $2`

// refundSums compares our decisions in the order of their reservations: what others gave back or banks withdrew after the last of them does not count.
const refundSums = `
	SELECT p.id, 'payment ' || p.id, array_remove(ARRAY[
		CASE WHEN p.amount_refunded <> s.moved
			THEN format('says that %s %s was given back, and its refunds moved %s', p.amount_refunded, p.currency, s.moved) END,
		CASE WHEN b.booked <> p.amount_refunded
			THEN format('says that %s %s was given back, and its journals booked %s', p.amount_refunded, p.currency, b.booked) END,
		CASE WHEN s.decided + t.withdrawn > p.amount_captured
			THEN format('was let give back %s by our own refunds while %s was withdrawn, and captured %s', s.decided, t.withdrawn, p.amount_captured) END], NULL)
	FROM payonce.payments p
	CROSS JOIN LATERAL (
		SELECT max(f.created_at) AS at FROM payonce.refunds f
		WHERE f.payment = p.id AND f.record IS NOT NULL AND f.status NOT IN ('failed', 'canceled')) AS own
	CROSS JOIN LATERAL (
		SELECT coalesce(sum(f.amount) FILTER (WHERE f.moved AND NOT f.returned), 0) AS moved,
		       coalesce(sum(f.amount) FILTER (WHERE f.status NOT IN ('failed', 'canceled') AND f.created_at <= own.at), 0) AS decided
		FROM payonce.refunds f WHERE f.payment = p.id) AS s
	CROSS JOIN LATERAL (
		SELECT greatest(coalesce(sum(n.amount), 0), 0) AS withdrawn
		FROM payonce.ledger_journals j
		JOIN payonce.ledger_entries n ON n.journal = j.id JOIN payonce.ledger_accounts a ON a.id = n.account
		WHERE j.payment = p.id AND j.posting_key LIKE 'dispute/%' AND split_part(j.posting_key, '/', 3) <> 'lost' AND a.name = 'disputes:held'
			AND n.currency = p.currency AND j.booked_at <= own.at) AS t
	CROSS JOIN LATERAL (
		SELECT coalesce(-sum(n.amount), 0) AS booked
		FROM payonce.ledger_journals j
		JOIN payonce.ledger_entries n ON n.journal = j.id JOIN payonce.ledger_accounts a ON a.id = n.account
		WHERE j.payment = p.id AND j.posting_key LIKE 'refund/%' AND a.name = 'stripe:receivable' AND n.currency = p.currency) AS b
	WHERE p.id > $1 ORDER BY p.id LIMIT $2`

// externalID is the id that a refund which was made elsewhere has here.
func externalID(row refundIdentity) payments.RefundID {
	return boundaries.ExternalRefundID(payments.TenantID{UUID: row.Tenant}, payments.Account{ID: row.Account, Livemode: row.Livemode}, row.RefundID)
}
