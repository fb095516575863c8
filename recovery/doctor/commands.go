package doctor

import "context"

// commands: no record is older than its recovery bound. A stopped account is a stated wait; a day after the first send Stripe may have forgotten
// the key, so by then the outcome was looked up, or the record is unknown and its payment marked.
func (e *examiner) commands(ctx context.Context) error {
	c := e.check("commands", 4, "no command is overdue: it is woken, ended when unsent in time, and unknown only visibly")
	return e.judge(ctx, c, "is the worker running, and Temporal up? `payonce accounts resume` lets a stopped account's calls out", `
		SELECT r.id, 'record ' || r.id || ' (' || r.operation || ')', array_remove(ARRAY[
			CASE WHEN r.status = 'in_progress' AND r.next_wake_at < $3 THEN format('was to be woken at %s', r.next_wake_at) END,
			CASE WHEN r.status = 'in_progress' AND r.not_after < $3 AND f.first IS NULL AND p.failure IS NULL AND NOT s.stopped
				THEN format('was not sent by %s and has not ended', r.not_after) END,
			CASE WHEN r.status = 'in_progress' AND f.first < $3::timestamptz - $4::interval AND NOT s.stopped
				THEN format('was sent at %s and its outcome has not been learnt', f.first) END,
			CASE WHEN r.status = 'in_progress' AND r.payment IS NOT NULL AND p.status IN ('succeeded', 'failed', 'canceled', 'expired')
				AND r.resource_kind <> 'refund' AND greatest(p.updated_at, r.created_at) < $3
				THEN 'is open although its payment is over' END,
			CASE WHEN r.status = 'unknown' AND r.payment IS NOT NULL AND p.review_reason IS NULL
				THEN 'has an unknown outcome, and its payment is not marked for review' END,
			CASE WHEN $5 AND r.status = 'in_progress' AND NOT s.stopped THEN 'is open, and the system is settled' END], NULL)
		FROM payonce.idempotency_records r
		LEFT JOIN payonce.payments p ON p.id = r.payment
		CROSS JOIN LATERAL (SELECT min(first_sent_at) AS first FROM payonce.provider_calls WHERE record = r.id) AS f
		CROSS JOIN LATERAL (SELECT EXISTS (
			SELECT FROM payonce.provider_accounts a WHERE a.account = p.account AND a.livemode = p.livemode AND a.stopped_at IS NOT NULL) AS stopped) AS s
		WHERE r.id > $1 AND r.status IN ('in_progress', 'unknown') ORDER BY r.id LIMIT $2`,
		e.overdue(), e.Timing.KeyMemory+e.Timing.SafetyAge, e.Settled)
}
