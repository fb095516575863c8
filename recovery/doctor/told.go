package doctor

import "context"

// told: what ended is told to every endpoint that there was, and nothing else is. An endpoint that came while the fact was being applied may have missed it.
func (e *examiner) told(ctx context.Context) error {
	c := e.check("told", 5, "every ending, each turn of a refund, a dispute or a payout has its message to each endpoint that there was, and nothing else has")
	const next = "apply queues the messages of a fact in its commit: compare payonce.payment_facts with payonce.notifications"
	if err := e.judge(ctx, c, next, `
		SELECT p.id, 'payment ' || p.id, ARRAY(
			SELECT format('is %s, and endpoint %s has no message of it', p.status, d.id)
			FROM payonce.notification_endpoints d
			WHERE d.tenant = p.tenant AND d.created_at < p.ledger_applied_at - interval '1 second' AND d.disabled_at IS NULL AND NOT EXISTS (
				SELECT FROM payonce.notifications n
				WHERE n.tenant = p.tenant AND n.subject = 'payment/' || p.id AND n.kind = 'payment.' || p.status AND n.endpoint = d.id))
		FROM payonce.payments p
		WHERE p.id > $1 AND p.status IN ('succeeded', 'failed', 'canceled', 'expired') ORDER BY p.id LIMIT $2`); err != nil {
		return err
	}
	if err := e.judge(ctx, c, next, refundMessages); err != nil {
		return err
	}
	if err := e.judge(ctx, c, next, disputeMessages); err != nil {
		return err
	}
	return e.judge(ctx, c, next, payoutMessages)
}

const refundMessages = `
	SELECT f.id, 'refund ' || f.id, ARRAY(
		SELECT format('%s, and endpoint %s has no message of it', t.fact, d.id)
		FROM payonce.payment_facts t JOIN payonce.notification_endpoints d ON d.tenant = f.tenant
		WHERE t.payment = f.payment AND t.fact IN ('refund_succeeded/' || f.id, 'refund_failed/' || f.id, 'refund_canceled/' || f.id)
			AND d.created_at < t.applied_at - interval '1 second' AND d.disabled_at IS NULL AND NOT EXISTS (
				SELECT FROM payonce.notifications n
				WHERE n.tenant = f.tenant AND n.subject = 'refund/' || f.id AND n.endpoint = d.id
					AND t.fact = replace(n.kind, '.', '_') || '/' || f.id)
		UNION ALL
		SELECT format('told endpoint %s of %s, which it never was', n.endpoint, n.kind)
		FROM payonce.notifications n
		WHERE n.tenant = f.tenant AND n.subject = 'refund/' || f.id AND NOT EXISTS (
			SELECT FROM payonce.payment_facts t WHERE t.payment = f.payment AND t.fact = replace(n.kind, '.', '_') || '/' || f.id)
		UNION ALL
		SELECT format('told endpoint %s of %s after it had ended', n.endpoint, n.kind)
		FROM payonce.notifications n
		JOIN payonce.notifications o ON o.tenant = n.tenant AND o.subject = n.subject AND o.endpoint = n.endpoint AND o.sequence < n.sequence
		WHERE n.tenant = f.tenant AND n.subject = 'refund/' || f.id AND o.kind IN ('refund.failed', 'refund.canceled'))
	FROM payonce.refunds f WHERE f.id > $1 ORDER BY f.id LIMIT $2`

const disputeMessages = `
	SELECT d.id, 'dispute ' || d.dispute_id, ARRAY(
		SELECT format('%s, and endpoint %s has no message %s', t.fact, p.id, k.kind)
		FROM payonce.payment_facts t
		JOIN (VALUES ('dispute_won', 'dispute.won'), ('dispute_lost', 'dispute.lost'), ('dispute_warning_closed', 'dispute.closed')) AS k (fact, kind)
			ON t.fact = k.fact || '/' || d.dispute_id
		JOIN payonce.notification_endpoints p ON p.tenant = d.tenant
		WHERE t.payment = d.payment AND p.created_at < t.applied_at - interval '1 second' AND p.disabled_at IS NULL AND NOT EXISTS (
			SELECT FROM payonce.notifications n
			WHERE n.tenant = d.tenant AND n.subject = 'dispute/' || d.id AND n.endpoint = p.id AND n.kind = k.kind)
		UNION ALL
		SELECT format('is here, and endpoint %s was not told that it was opened', p.id)
		FROM payonce.notification_endpoints p
		WHERE p.tenant = d.tenant AND p.disabled_at IS NULL AND NOT EXISTS (
			SELECT FROM payonce.notifications n
			WHERE n.tenant = d.tenant AND n.subject = 'dispute/' || d.id AND n.endpoint = p.id AND n.kind = 'dispute.opened')
			AND p.created_at < (
				SELECT min(t.applied_at) - interval '1 second' FROM payonce.payment_facts t
				WHERE t.payment = d.payment AND starts_with(t.fact, 'dispute_') AND split_part(t.fact, '/', 2) = d.dispute_id)
		UNION ALL
		SELECT format('told endpoint %s of %s, which it never was', n.endpoint, n.kind)
		FROM payonce.notifications n
		JOIN (VALUES ('dispute_won', 'dispute.won'), ('dispute_lost', 'dispute.lost'), ('dispute_warning_closed', 'dispute.closed')) AS k (fact, kind)
			ON k.kind = n.kind
		WHERE n.tenant = d.tenant AND n.subject = 'dispute/' || d.id AND NOT EXISTS (
			SELECT FROM payonce.payment_facts t WHERE t.payment = d.payment AND t.fact = k.fact || '/' || d.dispute_id))
	FROM payonce.disputes d WHERE d.id > $1 ORDER BY d.id LIMIT $2`

// payoutMessages judges by the status alone: a payout has no facts. One without a message number was over before its messages were told.
const payoutMessages = `
	SELECT p.id, 'payout ' || p.id, ARRAY(
		SELECT format('is %s, and endpoint %s has no message of it', p.status, d.id)
		FROM payonce.notification_endpoints d
		WHERE p.status IN ('paid', 'failed', 'canceled') AND p.last_message IS NOT NULL
			AND d.tenant = p.tenant AND d.created_at < p.ledger_applied_at - interval '1 second' AND d.disabled_at IS NULL AND NOT EXISTS (
				SELECT FROM payonce.notifications n
				WHERE n.tenant = p.tenant AND n.subject = 'payout/' || p.id AND n.kind = 'payout.' || p.status AND n.endpoint = d.id)
		UNION ALL
		SELECT format('told endpoint %s of %s, and is %s', n.endpoint, n.kind, p.status)
		FROM payonce.notifications n
		WHERE n.tenant = p.tenant AND n.subject = 'payout/' || p.id
			AND n.kind <> 'payout.' || p.status AND NOT (n.kind = 'payout.paid' AND p.status = 'failed')
		UNION ALL
		SELECT format('told endpoint %s that it is paid after it had come back', n.endpoint)
		FROM payonce.notifications n
		JOIN payonce.notifications o ON o.tenant = n.tenant AND o.subject = n.subject AND o.endpoint = n.endpoint AND o.sequence < n.sequence
		WHERE n.tenant = p.tenant AND n.subject = 'payout/' || p.id AND n.kind = 'payout.paid')
	FROM payonce.payouts p WHERE p.id > $1 ORDER BY p.id LIMIT $2`
