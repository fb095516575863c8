package doctor

import "context"

// captured: a status is never ahead of the ledger.
func (e *examiner) captured(ctx context.Context) error {
	c := e.check("captured", 1, "what a payment says it captured is what its journals booked")
	return e.judge(ctx, c, "compare payonce.ledger_journals of the payment with its charge at Stripe; only apply may write either", `
		SELECT p.id, 'payment ' || p.id, array_remove(ARRAY[
			CASE WHEN b.captured <> p.amount_captured
				THEN format('says that %s %s was captured, and its journals booked %s', p.amount_captured, p.currency, b.captured) END,
			CASE WHEN p.status = 'succeeded' AND b.captured = 0 THEN 'succeeded, and no capture is booked' END,
			CASE WHEN p.intent_id IS NULL AND b.journals > 0 THEN 'has journals and no intent' END,
			CASE WHEN b.captured > 0 AND p.status IN ('failed', 'canceled', 'expired') AND p.review_reason IS NULL
				THEN format('is %s, took money, and is not marked for review', p.status) END], NULL)
		FROM payonce.payments p
		CROSS JOIN LATERAL (
			SELECT count(DISTINCT j.id) AS journals,
			       coalesce(sum(n.amount) FILTER (WHERE j.posting_key LIKE 'capture/%' AND a.name = 'stripe:receivable' AND n.currency = p.currency), 0) AS captured
			FROM payonce.ledger_journals j
			JOIN payonce.ledger_entries n ON n.journal = j.id JOIN payonce.ledger_accounts a ON a.id = n.account
			WHERE j.payment = p.id AND j.phase = 'posted') AS b
		WHERE p.id > $1 ORDER BY p.id LIMIT $2`)
}
