package doctor

import "context"

// payments: nothing open lacks a wait. With an intent, the wait is the poll: whoever holds the client secret may pay without us and no event may
// tell. Without one it is an open command that will be woken. A hold waits for
// the time at which it is seen to. An outcome that cannot be learnt is visible as a review mark.
func (e *examiner) payments(ctx context.Context) error {
	c := e.check("payments", 4, "every open payment has a poll, a command that will be woken, or a review mark, and none is overdue")
	return e.judge(ctx, c, "is the worker running? Its poller and relay take what is due; what they never take was written without its wait", `
		SELECT p.id, 'payment ' || p.id || ' (' || p.status || ')', array_remove(ARRAY[
			CASE WHEN p.intent_id IS NOT NULL AND p.next_poll_at IS NULL THEN 'has an open intent and is never polled' END,
			CASE WHEN p.intent_id IS NULL AND r.woken = 0 AND NOT (r.unknown > 0 AND p.review_reason IS NOT NULL)
				THEN 'waits for nothing: no intent, and no command that will be woken' END,
			CASE WHEN p.status = 'requires_capture' AND p.capture_before IS NOT NULL AND p.hold_due_at IS NULL AND p.failure IS NULL
				THEN format('is held until %s, and nobody is to see to it', p.capture_before) END,
			CASE WHEN p.hold_due_at < $3 THEN format('its hold was to be seen to at %s', p.hold_due_at) END,
			CASE WHEN p.next_poll_at < $3 THEN format('was to be polled at %s', p.next_poll_at) END,
			CASE WHEN r.open > 0 AND r.woken = 0 THEN 'has an open command, and none of its commands will be woken' END,
			CASE WHEN $4 AND p.status = 'submitted' AND p.review_reason IS NULL THEN 'is submitted, and the system is settled' END], NULL)
		FROM payonce.payments p
		CROSS JOIN LATERAL (
			SELECT count(*) FILTER (WHERE status = 'in_progress') AS open,
			       count(*) FILTER (WHERE status = 'in_progress' AND next_wake_at IS NOT NULL) AS woken,
			       count(*) FILTER (WHERE status = 'unknown') AS unknown
			FROM payonce.idempotency_records WHERE payment = p.id) AS r
		WHERE p.id > $1 AND p.status NOT IN ('succeeded', 'failed', 'canceled', 'expired') ORDER BY p.id LIMIT $2`,
		e.overdue(), e.Settled)
}
