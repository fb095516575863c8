package doctor

import "context"

// disputed: what a bank took back is booked by its balance transactions, each once, and what was lost once, less what came back after all.
func (e *examiner) disputed(ctx context.Context) error {
	c := e.check("disputed", 1, "what disputes withdrew, gave back and lost is what their journals booked, a balance transaction each")
	const next = "compare the journals dispute/<dp>/… with the dispute's balance transactions at Stripe; only apply may write either"
	if err := e.judge(ctx, c, next, disputePostings); err != nil {
		return err
	}
	return e.judge(ctx, c, next, `
		SELECT p.id, 'payment ' || p.id, array_remove(ARRAY[
			CASE WHEN p.amount_disputed <> d.taken
				THEN format('says that %s %s is withdrawn, and its disputes took %s', p.amount_disputed, p.currency, d.taken) END], NULL)
		FROM payonce.payments p
		CROSS JOIN LATERAL (
			SELECT coalesce(sum(greatest(d.withdrawn - d.reinstated, 0)), 0) AS taken FROM payonce.disputes d WHERE d.payment = p.id) AS d
		WHERE p.id > $1 ORDER BY p.id LIMIT $2`)
}

const disputePostings = `
	SELECT d.id, 'dispute ' || d.dispute_id || ' (' || d.status || ')', array_remove(ARRAY[
		CASE WHEN b.held <> d.withdrawn - d.reinstated
			THEN format('withdrew %s %s and gave %s back, and its journals booked %s', d.withdrawn, d.currency, d.reinstated, b.held) END,
		CASE WHEN d.reinstated > d.withdrawn THEN format('withdrew %s and gave %s back', d.withdrawn, d.reinstated) END,
		CASE WHEN b.lost <> d.lost THEN format('lost %s %s, and booked %s', d.lost, d.currency, b.lost) END,
		CASE WHEN d.status = 'lost' AND d.lost <> greatest(d.withdrawn - d.reinstated, 0) AND p.review_reason IS NULL
			THEN format('is lost with %s, and %s is withdrawn', d.lost, d.withdrawn - d.reinstated) END,
		CASE WHEN d.status <> 'lost' AND d.lost <> 0 AND p.review_reason IS NULL THEN format('is not lost, and lost %s', d.lost) END,
		CASE WHEN b.unknown > 0 THEN format('has %s journals of balance transactions that it does not know', b.unknown) END,
		CASE WHEN b.strange > 0 THEN 'has a journal that names another payment' END], NULL)
	FROM payonce.disputes d
	JOIN payonce.payments p ON p.id = d.payment
	CROSS JOIN LATERAL (
		SELECT coalesce(sum(n.amount) FILTER (WHERE a.name = 'disputes:held' AND NOT j.lost), 0) AS held,
		       coalesce(sum(n.amount) FILTER (WHERE a.name = 'disputes:lost'), 0) AS lost,
		       count(DISTINCT j.id) FILTER (WHERE NOT j.lost AND j.part <> ALL (d.transactions)) AS unknown,
		       count(*) FILTER (WHERE j.payment IS DISTINCT FROM d.payment) AS strange
		FROM (
			SELECT o.id, o.payment, split_part(o.posting_key, '/', 3) AS part, split_part(o.posting_key, '/', 3) = 'lost' AS lost
			FROM payonce.ledger_journals o WHERE o.payment = d.payment AND starts_with(o.posting_key, 'dispute/' || d.dispute_id || '/')
			UNION
			SELECT o.id, o.payment, split_part(o.posting_key, '/', 3), split_part(o.posting_key, '/', 3) = 'lost'
			FROM payonce.ledger_journals o WHERE o.tenant = d.tenant AND o.posting_key IN (
				SELECT 'dispute/' || d.dispute_id || '/' || t FROM unnest(d.transactions || 'lost'::text) AS t)) AS j
		JOIN payonce.ledger_entries n ON n.journal = j.id JOIN payonce.ledger_accounts a ON a.id = n.account
		WHERE n.currency = d.currency) AS b
	WHERE d.id > $1 ORDER BY d.id LIMIT $2`
