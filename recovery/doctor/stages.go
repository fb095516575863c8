package doctor

import "context"

// stages: status and stage go together, a stage that was reached has its time, and each payment came from one create command.
func (e *examiner) stages(ctx context.Context) error {
	c := e.check("stages", 7, "every payment came from one command, and its status, stage and times agree")
	return e.judge(ctx, c, "only apply writes these, in one commit: find what else wrote", `
		SELECT p.id, 'payment ' || p.id || ' (' || p.status || ')', array_remove(ARRAY[
			CASE WHEN r.creates <> 1 THEN format('has %s create commands', r.creates) END,
			CASE WHEN over AND p.stage <> 'ledger_applied' THEN format('is over and has the stage %s', p.stage) END,
			CASE WHEN over AND (p.terminal_at IS NULL OR p.ledger_applied_at IS NULL) THEN 'is over and lacks the time of it' END,
			CASE WHEN NOT over AND p.stage IN ('terminal', 'ledger_applied') THEN format('is open and has the stage %s', p.stage) END,
			CASE WHEN p.status = 'submitted' AND p.stage NOT IN ('submitted', 'external_resource_created') THEN format('has the stage %s', p.stage) END,
			CASE WHEN p.status IN ('requires_action', 'processing', 'requires_capture') AND p.stage <> 'processing' THEN format('has the stage %s', p.stage) END,
			CASE WHEN p.stage <> 'submitted' AND NOT over AND (p.intent_id IS NULL OR p.external_resource_created_at IS NULL)
				THEN 'has passed external_resource_created without an intent' END,
			CASE WHEN p.stage = 'processing' AND p.processing_at IS NULL THEN 'is processing and lacks the time of it' END,
			CASE WHEN p.status NOT IN ('submitted', 'failed', 'canceled', 'expired') AND p.intent_id IS NULL THEN 'has no intent' END,
			CASE WHEN p.status = 'succeeded' AND p.amount_captured = 0 THEN 'succeeded and captured nothing' END,
			CASE WHEN p.status <> 'requires_capture' AND p.hold_due_at IS NOT NULL THEN 'holds nothing, and its hold is to be seen to' END,
			CASE WHEN over AND p.next_poll_at IS NOT NULL THEN 'is over and is still polled' END], NULL)
		FROM payonce.payments p
		CROSS JOIN LATERAL (SELECT p.status IN ('succeeded', 'failed', 'canceled', 'expired') AS over) AS s
		CROSS JOIN LATERAL (
			SELECT count(*) AS creates FROM payonce.idempotency_records r WHERE r.payment = p.id AND r.operation = 'create_payment') AS r
		WHERE p.id > $1 ORDER BY p.id LIMIT $2`)
}

// references: a reference succeeds once; a second success is an alarm that a person has seen.
func (e *examiner) references(ctx context.Context) error {
	c := e.check("references", 7, "of the attempts of a reference one succeeds, and each names the one that it replaces")
	return e.judge(ctx, c, "refund one of the two, and settle its review", `
		SELECT p.id, 'payment ' || p.id || ' (attempt ' || p.attempt || ')', array_remove(ARRAY[
			CASE WHEN p.status = 'succeeded' AND p.review_reason IS NULL AND EXISTS (
				SELECT FROM payonce.payments o WHERE o.tenant = p.tenant AND o.reference = p.reference AND o.attempt < p.attempt AND o.status = 'succeeded')
				THEN 'succeeded after an earlier attempt of its reference had, and is not marked for review' END,
			CASE WHEN (p.attempt > 1) <> (p.replaces IS NOT NULL) THEN 'does not name what it replaces, or replaces without being a further attempt' END,
			CASE WHEN p.replaces IS NOT NULL AND NOT EXISTS (
				SELECT FROM payonce.payments o
				WHERE o.id = p.replaces AND o.tenant = p.tenant AND o.reference = p.reference AND o.attempt = p.attempt - 1)
				THEN 'replaces what is not the attempt before it' END], NULL)
		FROM payonce.payments p WHERE p.id > $1 ORDER BY p.id LIMIT $2`)
}
