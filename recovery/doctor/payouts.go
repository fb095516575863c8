package doctor

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"payonce/boundaries"
	"payonce/payments"
)

// paidOut: money that was paid out is booked once, under the payout's own id, and what came back of it too.
func (e *examiner) paidOut(ctx context.Context) error {
	c := e.check("paid_out", 1, "what was paid out, and what came back, is what the journals of payouts booked")
	return e.judge(ctx, c, "compare the payout with Stripe's; only apply may write the row and its journals, in one commit", `
		SELECT p.id, 'payout ' || p.id || ' (' || p.status || ')', array_remove(ARRAY[
			CASE WHEN p.moved <> (p.payout_id IS NOT NULL) THEN format('is %s at Stripe, and moved its money: %s', coalesce(p.payout_id, 'not'), p.moved) END,
			CASE WHEN p.returned <> (p.moved AND p.status IN ('failed', 'canceled'))
				THEN format('moved its money: %s; and has it back: %s', p.moved, p.returned) END,
			CASE WHEN b.gone <> CASE WHEN p.moved THEN p.amount ELSE 0 END
				THEN format('is of %s %s, moved: %s, and booked %s as gone', p.amount, p.currency, p.moved, b.gone) END,
			CASE WHEN b.back <> CASE WHEN p.returned THEN p.amount ELSE 0 END
				THEN format('is of %s %s, returned: %s, and booked %s as come back', p.amount, p.currency, p.returned, b.back) END], NULL)
		FROM payonce.payouts p
		CROSS JOIN LATERAL (
			SELECT coalesce(sum(n.amount) FILTER (WHERE j.posting_key LIKE '%/out'), 0) AS gone,
			       coalesce(-sum(n.amount) FILTER (WHERE j.posting_key LIKE '%/back'), 0) AS back
			FROM payonce.ledger_journals j
			JOIN payonce.ledger_entries n ON n.journal = j.id JOIN payonce.ledger_accounts a ON a.id = n.account
			WHERE j.tenant = p.tenant AND j.posting_key IN ('payout/' || p.id || '/out', 'payout/' || p.id || '/back')
				AND a.name = 'bank:settlement' AND n.currency = p.currency) AS b
		WHERE p.id > $1 ORDER BY p.id LIMIT $2`)
}

// payoutWaits: a payout under way has a poll or a command that will be woken, or is in review.
func (e *examiner) payoutWaits(ctx context.Context) error {
	c := e.check("payout_waits", 4, "every payout under way has a poll, a command that will be woken, or a review mark, and none is overdue")
	return e.judge(ctx, c, "is the worker running? Its poller and relay take what is due; what they never take was written without its wait", `
		SELECT p.id, 'payout ' || p.id || ' (' || p.status || ')', array_remove(ARRAY[
			CASE WHEN p.payout_id IS NOT NULL AND p.next_poll_at IS NULL THEN 'is under way at Stripe and is never polled' END,
			CASE WHEN p.next_poll_at < $3 THEN format('was to be polled at %s', p.next_poll_at) END,
			CASE WHEN p.payout_id IS NULL AND NOT coalesce(r.status = 'in_progress' AND r.next_wake_at IS NOT NULL
				OR r.status = 'unknown' AND p.review_reason IS NOT NULL, false)
				THEN 'waits for nothing: no payout at Stripe, and no command that will be woken' END,
			CASE WHEN $4 AND p.status = 'submitted' AND p.review_reason IS NULL THEN 'is submitted, and the system is settled' END], NULL)
		FROM payonce.payouts p LEFT JOIN payonce.idempotency_records r ON r.id = p.record
		WHERE p.id > $1 AND p.status NOT IN ('paid', 'failed', 'canceled') ORDER BY p.id LIMIT $2`,
		e.overdue(), e.Settled)
}

// payoutIdentity is a payout as a statement has judged it, with what its id derives from.
type payoutIdentity struct {
	ID       uuid.UUID
	Subject  string
	Faults   []string
	Tenant   uuid.UUID
	Account  string
	Livemode bool
	PayoutID string
	Owner    string // of its command; empty: it was made elsewhere
}

// derived is the id that the payout must have.
func (p payoutIdentity) derived() payments.PayoutID {
	tenant := payments.TenantID{UUID: p.Tenant}
	if p.Owner != "" {
		return boundaries.PayoutID(tenant, boundaries.OwnerKey(p.Owner))
	}
	return boundaries.ExternalPayoutID(tenant, payments.Account{ID: p.Account, Livemode: p.Livemode}, p.PayoutID)
}

// payouts: a payout came from a command of ours or was made elsewhere, which its id tells; and its status, stage and times agree.
func (e *examiner) payouts(ctx context.Context) error {
	c := e.check("payouts", 7, "every payout came from one command, or from Stripe under a derived id, and its status, stage and times agree")
	const next = "only the claim and apply write these: find what else wrote"
	err := page(ctx, e, payoutIdentities, nil,
		func(p payoutIdentity) uuid.UUID { return p.ID },
		func(payouts []payoutIdentity) error {
			for _, p := range payouts {
				c.Examined++
				for _, fault := range p.Faults {
					c.violate(p.Subject, next, "%s", fault)
				}
				regained := p.Owner == "" && len(e.lost) > 0 // under the id of ours that its metadata name
				if derived := p.derived(); derived.UUID != p.ID && !regained {
					c.violate(p.Subject, next, "has an id that does not derive from it (%s)", derived)
				}
			}
			return nil
		})
	if err != nil {
		return fmt.Errorf("check %s: %w", c.Name, err)
	}
	return nil
}

const payoutIdentities = `
	SELECT p.id, 'payout ' || p.id || ' (' || p.status || ')', array_remove(ARRAY[
		CASE WHEN p.record IS NOT NULL AND (r.resource_kind <> 'payout' OR r.resource_id <> p.id OR r.tenant <> p.tenant OR r.payment IS NOT NULL)
			THEN format('names record %s, which is about something else', p.record) END,
		CASE WHEN over AND (p.stage <> 'ledger_applied' OR p.terminal_at IS NULL OR p.ledger_applied_at IS NULL)
			THEN format('is over, has the stage %s or lacks the time of it', p.stage) END,
		CASE WHEN p.status = 'submitted' AND p.stage <> 'submitted' OR p.status IN ('pending', 'in_transit') AND p.stage <> 'processing'
			THEN format('has the stage %s', p.stage) END,
		CASE WHEN p.payout_id IS NULL AND p.status NOT IN ('submitted', 'failed') THEN 'has no payout at Stripe' END,
		CASE WHEN p.payout_id IS NULL AND p.status = 'failed' AND p.last_error IS NULL THEN 'failed, and neither Stripe''s payout nor its refusal is known' END,
		CASE WHEN p.payout_id IS NOT NULL AND p.external_resource_created_at IS NULL
			THEN format('has the payout %s at Stripe, and its stage was not reached', p.payout_id) END,
		CASE WHEN r.status <> 'completed' AND (p.payout_id IS NOT NULL OR p.status = 'failed') AND r.created_at <= p.created_at
			THEN format('has its outcome, and its command is %s', r.status) END,
		CASE WHEN r.status = 'completed' AND p.status = 'submitted' THEN 'is submitted, and its command is completed' END,
		CASE WHEN r.external_resource_id <> p.payout_id
			THEN format('is bound to %s, and its command was answered with %s', p.payout_id, r.external_resource_id) END,
		CASE WHEN over AND p.next_poll_at IS NOT NULL THEN 'is over and is still polled' END], NULL),
		p.tenant, p.account, p.livemode, coalesce(p.payout_id, ''), coalesce(r.owner_key, '')
	FROM payonce.payouts p
	LEFT JOIN payonce.idempotency_records r ON r.id = p.record
	CROSS JOIN LATERAL (SELECT p.status IN ('paid', 'failed', 'canceled') AS over) AS s
	WHERE p.id > $1 ORDER BY p.id LIMIT $2`
