package recovery

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/payments"
)

// Waiting is something that has not reached its last stage, with how long it is in its stage, for whom it waits and what settles it.
type Waiting struct {
	Kind   string // payment, refund, dispute, payout, customer or connected_account
	ID     uuid.UUID
	Tenant string // name
	Stage  payments.Stage
	Status string
	Since  time.Time     // when it reached its stage
	Age    time.Duration // by payonce.clock()
	For    string        // for whom or what
	Next   string        // what settles it; empty: it goes on by itself
}

// StageAges is how many things stand in a stage, and for how long the oldest.
type StageAges struct {
	Kind   string
	Stage  payments.Stage
	Count  int64
	Oldest time.Duration
}

// standing reads everything that has not reached its last stage. Of payments, of which there are most, it reads those that are polled, have an open command or
// are under review, by index; that there are no others is the doctor's to see.
const standing = `
	SELECT 'payment' AS kind, p.id, p.tenant, p.account, p.livemode, p.stage, p.status, p.review_reason,
	       CASE p.stage WHEN 'external_resource_created' THEN p.external_resource_created_at WHEN 'processing' THEN p.processing_at
	            WHEN 'terminal' THEN p.terminal_at ELSE p.submitted_at END AS since
	FROM payonce.payments p WHERE p.stage <> 'ledger_applied' AND p.id IN (
		SELECT id FROM payonce.payments WHERE next_poll_at IS NOT NULL
		UNION SELECT id FROM payonce.payments WHERE review_reason IS NOT NULL
		UNION SELECT payment FROM payonce.idempotency_records WHERE next_wake_at IS NOT NULL)
	UNION ALL
	SELECT 'refund', p.id, p.tenant, p.account, p.livemode, p.stage, p.status, NULL,
	       CASE p.stage WHEN 'external_resource_created' THEN p.external_resource_created_at WHEN 'processing' THEN p.processing_at
	            WHEN 'terminal' THEN p.terminal_at ELSE p.submitted_at END
	FROM payonce.refunds p WHERE p.stage <> 'ledger_applied'
	UNION ALL
	SELECT 'dispute', p.id, p.tenant, p.account, p.livemode, p.stage, p.status, NULL,
	       CASE p.stage WHEN 'processing' THEN p.processing_at WHEN 'terminal' THEN p.terminal_at ELSE p.external_resource_created_at END
	FROM payonce.disputes p WHERE p.stage <> 'ledger_applied'
	UNION ALL
	SELECT 'payout', p.id, p.tenant, p.account, p.livemode, p.stage, p.status, p.review_reason,
	       CASE p.stage WHEN 'external_resource_created' THEN p.external_resource_created_at WHEN 'processing' THEN p.processing_at
	            WHEN 'terminal' THEN p.terminal_at ELSE p.submitted_at END
	FROM payonce.payouts p WHERE p.stage <> 'ledger_applied'
	UNION ALL
	SELECT p.kind, p.id, p.tenant, p.account, p.livemode, 'submitted', p.status, p.review_reason, p.created_at
	FROM payonce.provisions p WHERE p.status = 'submitted'`

// Stages tells of each kind and stage how many things stand in it, and for how long the oldest. For the system role.
func Stages(ctx context.Context, pool *pgxpool.Pool) ([]StageAges, error) {
	rows, err := pool.Query(ctx, `
		SELECT s.kind, s.stage, count(*), greatest(payonce.clock() - min(s.since), interval '0') FROM (`+standing+`) s GROUP BY s.kind, s.stage
		ORDER BY s.kind, min(s.since)`)
	if err != nil {
		return nil, fmt.Errorf("read stages: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[StageAges])
}

// Stuck lists what is in its stage for olderThan or longer, the oldest first and at most limit, with what settles it. For the system role.
func Stuck(ctx context.Context, pool *pgxpool.Pool, olderThan time.Duration, limit int) ([]Waiting, error) {
	rows, err := pool.Query(ctx, `
		SELECT s.kind, s.id, t.name, s.stage, s.status, s.since, payonce.clock() - s.since, coalesce(s.review_reason, ''),
		       coalesce(a.stopped_reason, o.stopped_reason) IS NOT NULL,
		       coalesce((SELECT f.id::text FROM payonce.freezes f
		           WHERE f.lifted_at IS NULL AND (f.tenant IS NULL OR f.tenant = s.tenant)
		             AND (f.account IS NULL OR (f.account, f.livemode) = (s.account, s.livemode)) ORDER BY f.frozen_at LIMIT 1), ''),
		       s.account
		FROM (`+standing+`) s
		JOIN payonce.tenants t ON t.id = s.tenant
		LEFT JOIN payonce.provider_accounts a ON (a.account, a.livemode) = (s.account, s.livemode)
		LEFT JOIN payonce.provider_accounts o ON (o.account, o.livemode) = (a.platform, a.livemode)
		WHERE s.since <= payonce.clock() - $1::interval ORDER BY s.since, s.id LIMIT $2`, olderThan, limit)
	if err != nil {
		return nil, fmt.Errorf("read what stands: %w", err)
	}
	return pgx.CollectRows(rows, scanWaiting)
}

func scanWaiting(row pgx.CollectableRow) (w Waiting, err error) {
	var held holds
	err = row.Scan(&w.Kind, &w.ID, &w.Tenant, &w.Stage, &w.Status, &w.Since, &w.Age, &held.review, &held.stopped, &held.freeze, &held.account)
	w.For, w.Next = held.explain(w)
	return w, err
}

// holds is what holds something up.
type holds struct {
	review  string
	stopped bool
	freeze  string // its id
	account string
}

// explain says for whom it waits and what settles it: what a person has to do comes first.
func (h holds) explain(w Waiting) (waitsFor, next string) {
	switch {
	case h.review != "":
		return "a person: " + strings.ReplaceAll(h.review, "_", " "), "payonce payments reviews; payonce payments resolve " + w.ID.String()
	case h.stopped && w.Stage == payments.StageSubmitted:
		return "an operator: Stripe refuses the key of " + h.account, "payonce accounts resume --account " + h.account
	case h.freeze != "" && w.Stage == payments.StageSubmitted:
		return "an operator: it is frozen", "payonce thaw " + h.freeze
	case w.Stage == payments.StageSubmitted:
		return "its call to Stripe", "payonce doctor, when it is older than a minute"
	default:
		return waitsAtStripe(w.Status)
	}
}

// waitsAtStripe says for whom something in this status waits.
func waitsAtStripe(status string) (waitsFor, next string) {
	switch status {
	case string(payments.StatusRequiresPaymentMethod):
		return "the payer: another method", "confirm or cancel it; it is given up by itself"
	case string(payments.StatusRequiresAction):
		return "the payer: a challenge", "it is given up by itself"
	case string(payments.StatusRequiresCapture):
		return "a capture", "capture or cancel it; its policy does before the hold ends"
	case string(payments.DisputeNeedsResponse), string(payments.DisputeWarningNeedsResponse):
		return "the merchant: evidence", "answer it at Stripe"
	default:
		return "a bank", ""
	}
}
