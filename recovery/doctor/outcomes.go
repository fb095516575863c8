package doctor

import "context"

// outcomes: a record has one outcome, and it is there exactly when the record is completed.
func (e *examiner) outcomes(ctx context.Context) error {
	c := e.check("outcomes", 3, "a completed record has its outcome, an open one has none, and an answer waits for what answers it")
	return e.judge(ctx, c, "compare the record with its payment; apply writes both in one commit", `
		SELECT r.id, 'record ' || r.id || ' (' || r.operation || ')', array_remove(ARRAY[
			CASE WHEN r.status = 'completed' AND r.response_code IS NULL THEN 'is completed and has no outcome' END,
			CASE WHEN r.status <> 'completed' AND r.response_code IS NOT NULL THEN format('is %s and has an outcome', r.status) END,
			CASE WHEN r.status <> 'completed' AND k.answered > 0 THEN format('is %s and %s of its keys have an answer', r.status, k.answered) END,
			CASE WHEN r.status = 'completed' AND r.next_wake_at < $3::timestamptz - $4::interval
				THEN format('is completed, and its workflow was to be woken a last time at %s', r.next_wake_at) END,
			CASE WHEN r.status = 'completed' AND a.status <> 'completed' THEN format('is completed before record %s, which answers it', a.id) END], NULL)
		FROM payonce.idempotency_records r
		LEFT JOIN payonce.idempotency_records a ON a.id = r.answered_by
		CROSS JOIN LATERAL (
			SELECT count(*) AS answered FROM payonce.idempotency_keys k WHERE k.record = r.id AND k.response_code IS NOT NULL) AS k
		WHERE r.id > $1 ORDER BY r.id LIMIT $2`, e.overdue(), e.Timing.WakeMaximum)
}
