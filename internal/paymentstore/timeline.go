package paymentstore

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"payonce/internal/postgres"
	"payonce/payments"
)

// StepPosition is the place of a step in its payment's timeline. Steps of one time have an order too, and it never changes.
type StepPosition struct {
	At   time.Time
	Rank int
	Tie  string
}

// Suppressed counts the repeats that met what was there already and did nothing, at each of the four boundaries.
type Suppressed struct {
	Commands   int `json:"commands" doc:"Requests that met a command that was there"`
	Deliveries int `json:"deliveries" doc:"Deliveries of an event that was stored"`
	Postings   int `json:"postings" doc:"Journals that were posted before"`
	Messages   int `json:"messages" doc:"Messages that were queued before"`
}

// Timeline is what became of a payment at the four boundaries, in order.
type Timeline struct {
	Suppressed Suppressed
	Steps      []Step // ids, codes, times and amounts alone
}

// ReadTimeline reads at most limit steps of the tenant's payment, those after a position if one is given; or ErrNotFound.
func ReadTimeline(ctx context.Context, db postgres.Batcher, tenant payments.TenantID, id payments.PaymentID, after *StepPosition,
	limit int,
) (Timeline, error) {
	if after == nil {
		after = &StepPosition{Rank: -1}
	}
	var (
		timeline Timeline
		found    bool
	)
	err := postgres.ForTenant(ctx, db, tenant.UUID, func(batch *pgx.Batch) {
		batch.Queue(selectSuppressed, id.UUID, tenant.UUID).Query(func(rows pgx.Rows) error {
			s := &timeline.Suppressed
			_, err := pgx.ForEachRow(rows, []any{&s.Commands, &s.Deliveries, &s.Postings, &s.Messages}, func() error {
				found = true
				return nil
			})
			return err
		})
		batch.Queue(selectSteps, id.UUID, tenant.UUID, after.At, after.Rank, after.Tie, limit).Query(func(rows pgx.Rows) (err error) {
			timeline.Steps, err = pgx.CollectRows(rows, scanStep)
			return err
		})
	})
	switch {
	case err != nil:
		return Timeline{}, fmt.Errorf("read timeline: %w", err)
	case !found:
		return Timeline{}, ErrNotFound
	default:
		return timeline, nil
	}
}

func scanStep(row pgx.CollectableRow) (Step, error) {
	var (
		step   Step
		detail []byte
	)
	position := &step.Position
	if err := row.Scan(&position.At, &position.Rank, &position.Tie, &detail); err != nil {
		return Step{}, err
	}
	if err := json.Unmarshal(detail, &step); err != nil {
		return Step{}, fmt.Errorf("decode step: %w", err)
	}
	position.At = position.At.UTC()
	step.At = position.At
	return step, nil
}

const selectSuppressed = `
	SELECT (SELECT coalesce(sum(r.suppressed), 0) FROM payonce.idempotency_records r WHERE r.payment = p.id),
	       (SELECT coalesce(sum(e.deliveries - 1), 0) FROM payonce.provider_events e WHERE e.payment = p.id),
	       p.suppressed_postings, p.suppressed_messages
	FROM payonce.payments p WHERE p.id = $1 AND p.tenant = $2`

// selectSteps reads all boundaries in one statement, and so as they were at one moment. A stage is placed no earlier than the
// one before it: what Stripe tells late may have happened before what it told first. The members of a detail are those of Step.
const selectSteps = `
	WITH p AS (
		SELECT id, tenant, submitted_at, external_resource_created_at, processing_at, terminal_at, ledger_applied_at
		FROM payonce.payments WHERE id = $1 AND tenant = $2
	), step (at, rank, tie, detail) AS (
		SELECT r.created_at, 1, lpad(r.number::text, 10, '0'), jsonb_build_object('kind', 'command', 'command', jsonb_build_object(
			'id', r.id, 'number', r.number, 'operation', r.operation, 'owner_key', r.owner_key, 'asked_by', r.asked_by,
			'caller_key', (SELECT k.caller_key FROM payonce.idempotency_keys k WHERE k.record = r.id ORDER BY k.created_at, k.caller_key LIMIT 1),
			'status', r.status, 'fence', r.fence, 'suppressed', r.suppressed, 'external_resource_id', r.external_resource_id,
			'response_code', r.response_code, 'outcome', r.response_summary, 'not_after', r.not_after, 'completed_at', r.completed_at))
		FROM p JOIN payonce.idempotency_records r ON r.payment = p.id
		UNION ALL
		SELECT c.first_sent_at, 2, c.idempotency_key::text, jsonb_build_object('kind', 'call', 'call', jsonb_build_object(
			'idempotency_key', c.idempotency_key, 'command', c.record, 'operation', c.operation, 'attempt', c.attempt, 'generation', c.generation,
			'path', c.path, 'status', c.status, 'sends', c.sends, 'last_sent_at', c.last_sent_at, 'ended_at', c.ended_at,
			'http_status', c.http_status, 'request_ids', c.request_ids,
			'code', coalesce(c.answer -> 'decline', c.answer -> 'refusal') ->> 'code',
			'decline_code', coalesce(c.answer -> 'decline', c.answer -> 'refusal') ->> 'decline_code'))
		FROM p JOIN payonce.provider_calls c ON c.payment = p.id
		UNION ALL
		SELECT e.received_at, 3, e.id::text, jsonb_build_object('kind', 'event', 'event', jsonb_build_object(
			'id', e.event_id, 'type', e.type, 'object', e.object_id, 'source', e.source, 'created_at', e.created, 'deliveries', e.deliveries,
			'suppressed', e.deliveries - 1, 'tries', e.tries, 'verdict', e.status, 'reason', e.reason, 'settled_at', e.settled_at))
		FROM p JOIN payonce.provider_events e ON e.payment = p.id
		UNION ALL
		SELECT f.applied_at, 4, f.fact, jsonb_build_object('kind', 'fact', 'fact', jsonb_build_object(
			'fact', f.fact, 'source', f.source, 'effective_at', f.effective_at))
		FROM p JOIN payonce.payment_facts f ON f.payment = p.id
		UNION ALL
		SELECT j.booked_at, 5, j.id::text, jsonb_build_object('kind', 'journal', 'journal', jsonb_build_object(
			'id', j.id, 'posting_key', j.posting_key, 'rule', j.rule, 'phase', j.phase, 'resolves', j.resolves, 'source', j.source,
			'effective_at', j.effective_at, 'entries', (
				SELECT jsonb_agg(jsonb_build_object('account', a.name, 'amount', n.amount, 'currency', n.currency) ORDER BY n.line)
				FROM payonce.ledger_entries n JOIN payonce.ledger_accounts a ON a.id = n.account WHERE n.journal = j.id)))
		FROM p JOIN payonce.ledger_journals j ON j.payment = p.id AND j.tenant = p.tenant
		UNION ALL
		SELECT s.placed_at, 6, s.rank::text, jsonb_build_object('kind', 'stage', 'stage', jsonb_build_object('stage', s.stage, 'effective_at', s.at))
		FROM p CROSS JOIN LATERAL (VALUES
			(1, 'submitted', p.submitted_at, p.submitted_at),
			(2, 'external_resource_created', p.external_resource_created_at, greatest(p.submitted_at, p.external_resource_created_at)),
			(3, 'processing', p.processing_at, greatest(p.submitted_at, p.external_resource_created_at, p.processing_at)),
			(4, 'terminal', p.terminal_at, greatest(p.submitted_at, p.external_resource_created_at, p.processing_at, p.terminal_at)),
			(5, 'ledger_applied', p.ledger_applied_at,
				greatest(p.submitted_at, p.external_resource_created_at, p.processing_at, p.terminal_at, p.ledger_applied_at))
		) AS s (rank, stage, at, placed_at) WHERE s.at IS NOT NULL
		UNION ALL
		SELECT m.created_at, 7, m.id::text, jsonb_build_object('kind', 'message', 'message', jsonb_build_object(
			'id', m.id, 'kind', m.kind, 'subject', m.subject, 'endpoint', m.endpoint, 'sequence', m.sequence, 'status', m.status, 'tries', m.tries,
			'first_sent_at', m.first_sent_at, 'last_status', m.last_status,
			'delivered_at', CASE WHEN m.status = 'delivered' THEN m.settled_at END, 'parked_at', CASE WHEN m.status = 'parked' THEN m.settled_at END))
		FROM p JOIN payonce.notifications m ON m.payment = p.id AND m.tenant = p.tenant
	)
	SELECT at, rank, tie, detail FROM step
	WHERE (at, rank, tie COLLATE "C") > ($3, $4, $5)
	ORDER BY at, rank, tie COLLATE "C" LIMIT $6`
