package doctor

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"payonce/boundaries"
	"payonce/payments"
)

// messages: every message is told or parked in time. The later ones of a payment or a payout wait for the earlier, so only the first may be overdue.
func (e *examiner) messages(ctx context.Context) error {
	c := e.check("messages", 4, "every message is delivered, parked, or tried again in time")
	return e.judge(ctx, c, "is the worker running? Its dispatcher takes what is due; last_error says how the receiver failed", `
		SELECT n.id, 'message ' || n.id || ' (' || n.kind || ')', array_remove(ARRAY[
			CASE WHEN n.next_try_at < $3::timestamptz - $4::interval AND NOT EXISTS (
				SELECT FROM payonce.notifications b
				WHERE b.payment = n.payment AND b.endpoint = n.endpoint AND b.status = 'queued' AND b.sequence < n.sequence
				UNION ALL
				SELECT FROM payonce.notifications b
				WHERE b.payout = n.payout AND b.endpoint = n.endpoint AND b.status = 'queued' AND b.sequence < n.sequence)
				THEN format('was to be tried at %s', n.next_try_at) END,
			CASE WHEN n.status = 'queued' AND n.created_at < $3::timestamptz - $5::interval AND n.tries > 0
				THEN format('is queued since %s and is not parked', n.created_at) END,
			CASE WHEN $6 AND n.status = 'queued' THEN 'is queued, and the system is settled' END], NULL)
		FROM payonce.notifications n WHERE n.id > $1 ORDER BY n.id LIMIT $2`,
		e.overdue(), e.Timing.DeliverMaximum, e.Timing.DeliverGiveUp+e.Timing.DeliverMaximum, e.Settled)
}

type messageRow struct {
	ID       uuid.UUID
	Tenant   uuid.UUID
	Subject  string
	Kind     string
	Endpoint uuid.UUID
}

// messageIDs: the id of a message derives from what it tells and to whom, so that there is one.
func (e *examiner) messageIDs(ctx context.Context) error {
	c := e.check("message_ids", 5, "one message id a subject, kind and endpoint: the derived one")
	err := page(ctx, e, `SELECT id, tenant, subject, kind, endpoint FROM payonce.notifications WHERE id > $1 ORDER BY id LIMIT $2`, nil,
		func(m messageRow) uuid.UUID { return m.ID },
		func(messages []messageRow) error {
			for _, m := range messages {
				c.Examined++
				derived := boundaries.NotificationID(payments.TenantID{UUID: m.Tenant}, m.Subject, m.Kind, m.Endpoint)
				if derived != m.ID {
					c.violate("message "+m.ID.String(), "find what enqueues without deriving: receivers cannot tell its repeats",
						"tells %s of %s to endpoint %s, whose message is %s", m.Kind, m.Subject, m.Endpoint, derived)
				}
			}
			return nil
		})
	if err != nil {
		return fmt.Errorf("check %s: %w", c.Name, err)
	}
	return nil
}

// messageOrder: to each endpoint the messages of a payment or a payout go one after another.
func (e *examiner) messageOrder(ctx context.Context) error {
	c := e.check("message_order", 5, "the messages of a payment or a payout are numbered once and go to each endpoint one after another")
	return e.judge(ctx, c, "compare payonce.notifications of the payment or the payout: only the lowest that is queued may be sent", `
		SELECT n.id, 'message ' || n.id || ' (' || n.kind || ')', array_remove(ARRAY[
			CASE WHEN a.tenant IS NULL THEN 'is about nothing that there is' END,
			CASE WHEN n.sequence > a.last_message THEN format('is number %s of a %s that numbered %s', n.sequence, a.kind, a.last_message) END,
			CASE WHEN n.tenant <> a.tenant OR n.tenant <> d.tenant THEN format('is of another tenant than its %s or its endpoint', a.kind) END,
			CASE WHEN b.twin THEN format('shares the number %s with another message', n.sequence) END,
			CASE WHEN n.first_sent_at IS NOT NULL AND b.unsettled THEN 'was sent while an earlier one was queued' END,
			CASE WHEN n.first_sent_at < b.sent THEN 'was sent before an earlier one' END], NULL)
		FROM payonce.notifications n
		LEFT JOIN LATERAL (
			SELECT 'payment' AS kind, p.tenant, p.last_message FROM payonce.payments p WHERE p.id = n.payment
			UNION ALL
			SELECT 'payout', o.tenant, coalesce(o.last_message, 0) FROM payonce.payouts o WHERE o.id = n.payout) AS a ON true
		JOIN payonce.notification_endpoints d ON d.id = n.endpoint
		CROSS JOIN LATERAL (
			SELECT bool_or(o.sequence = n.sequence) AS twin,
			       bool_or(o.sequence < n.sequence AND o.status = 'queued') AS unsettled,
			       max(o.first_sent_at) FILTER (WHERE o.sequence < n.sequence) AS sent
			FROM (
				SELECT x.sequence, x.status, x.first_sent_at FROM payonce.notifications x
				WHERE x.payment = n.payment AND x.endpoint = n.endpoint AND x.id <> n.id
				UNION ALL
				SELECT x.sequence, x.status, x.first_sent_at FROM payonce.notifications x
				WHERE x.payout = n.payout AND x.endpoint = n.endpoint AND x.id <> n.id) AS o) AS b
		WHERE n.id > $1 ORDER BY n.id LIMIT $2`)
}
