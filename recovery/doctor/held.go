package doctor

import "context"

// held: the pending side of the books is what is held, and ends with it.
func (e *examiner) held(ctx context.Context) error {
	c := e.check("held", 1, "what a payment holds is what its pending journals hold: nothing once it is over")
	return e.judge(ctx, c, "compare the journals payment/<id>/hold… with the intent's amount_capturable; only apply may write either", `
		SELECT p.id, 'payment ' || p.id || ' (' || p.status || ')', array_remove(ARRAY[
			CASE WHEN b.held <> p.amount_held THEN format('says that %s %s is held, and its journals hold %s', p.amount_held, p.currency, b.held) END,
			CASE WHEN b.held + b.owed <> 0 THEN format('holds %s, and owes %s for it', b.held, -b.owed) END,
			CASE WHEN p.amount_held <> 0 AND p.status <> 'requires_capture' THEN format('still holds %s', p.amount_held) END,
			CASE WHEN p.amount_held > p.amount_capturable THEN format('holds %s, and %s can be captured', p.amount_held, p.amount_capturable) END,
			CASE WHEN b.captured > p.amount_captured
				THEN format('took %s out of its hold as captured, and captured %s', b.captured, p.amount_captured) END,
			CASE WHEN b.unnamed > 0 THEN format('has %s postings that end a hold and do not name it', b.unnamed) END], NULL)
		FROM payonce.payments p
		CROSS JOIN LATERAL (
			SELECT coalesce(sum(n.amount) FILTER (WHERE a.name = 'stripe:receivable:pending'), 0) AS held,
			       coalesce(sum(n.amount) FILTER (WHERE a.name = 'merchant:balance:pending'), 0) AS owed,
			       coalesce(-sum(n.amount) FILTER (WHERE a.name = 'stripe:receivable:pending' AND j.phase = 'posted'), 0) AS captured,
			       count(DISTINCT j.id) FILTER (WHERE j.phase <> 'pending' AND h.id IS NULL) AS unnamed
			FROM payonce.ledger_journals j
			JOIN payonce.ledger_entries n ON n.journal = j.id JOIN payonce.ledger_accounts a ON a.id = n.account
			LEFT JOIN payonce.ledger_journals h ON h.id = j.resolves AND h.payment = j.payment AND h.phase = 'pending'
			WHERE j.payment = p.id AND n.currency = p.currency AND a.name IN ('stripe:receivable:pending', 'merchant:balance:pending')) AS b
		WHERE p.id > $1 ORDER BY p.id LIMIT $2`)
}
