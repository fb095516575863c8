package doctor

import "context"

// journals: the entries of every journal sum to zero per currency.
func (e *examiner) journals(ctx context.Context) error {
	c := e.check("journals", 1, "the entries of every journal sum to zero in each currency")
	return e.judge(ctx, c, "freeze the tenant; a reversing journal mends the books, and the trigger that refuses this must be found out", `
		SELECT j.id, 'journal ' || j.id || ' (' || j.posting_key || ')', array_remove(ARRAY[
			CASE WHEN s.lines IS NULL AND j.phase = 'posted' THEN 'has no entries' END,
			s.unbalanced,
			CASE WHEN s.misplaced THEN 'has an entry in another currency than its account' END], NULL)
		FROM payonce.ledger_journals j
		CROSS JOIN LATERAL (
			SELECT sum(per.lines) AS lines, bool_or(per.misplaced) AS misplaced,
			       string_agg(format('sums to %s %s', per.total, per.currency), ' and ') FILTER (WHERE per.total <> 0) AS unbalanced
			FROM (
				SELECT n.currency, sum(n.amount) AS total, count(*) AS lines, bool_or(a.currency <> n.currency) AS misplaced
				FROM payonce.ledger_entries n JOIN payonce.ledger_accounts a ON a.id = n.account
				WHERE n.journal = j.id GROUP BY n.currency) AS per) AS s
		WHERE j.id > $1 ORDER BY j.id LIMIT $2`)
}
