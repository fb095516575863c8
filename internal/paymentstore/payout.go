package paymentstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"payonce/internal/postgres"
	"payonce/payments"
)

// ErrNoPayout says that the tenant has no such payout.
var ErrNoPayout = errors.New("no such payout")

// SelectPayouts reads payouts; the caller appends WHERE.
const SelectPayouts = `SELECT p.id, p.tenant, p.account, p.livemode, p.record, p.reference, p.amount, p.currency, p.description, p.metadata, p.status, p.stage,
	p.submitted_at, p.external_resource_created_at, p.processing_at, p.terminal_at, p.ledger_applied_at, coalesce(p.payout_id, ''),
	p.automatic, p.arrival_date, coalesce(p.failure_reason, ''), p.last_error, p.moved, p.returned, p.review_reason, p.review_since, p.review_evidence,
	p.read_begun_at, p.created_at, coalesce(p.last_message, 0)
	FROM payonce.payouts p `

// PayoutOf reads the payout that a record's command made, or ErrNoPayout.
func PayoutOf(ctx context.Context, db Querier, record payments.RecordID) (payments.Payout, error) {
	return ScanPayout(db.QueryRow(ctx, SelectPayouts+`WHERE p.record = $1`, record.UUID))
}

// PayoutByID reads a payout of any tenant, or ErrNoPayout; for the system role.
func PayoutByID(ctx context.Context, db Querier, id payments.PayoutID) (payments.Payout, error) {
	return ScanPayout(db.QueryRow(ctx, SelectPayouts+`WHERE p.id = $1`, id.UUID))
}

// PayoutAtStripe reads the payout that is bound to Stripe's, or ErrNoPayout; for the system role.
func PayoutAtStripe(ctx context.Context, db Querier, account payments.Account, id string) (payments.Payout, error) {
	return ScanPayout(db.QueryRow(ctx, SelectPayouts+`WHERE p.account = $1 AND p.livemode = $2 AND p.payout_id = $3`, account.ID, account.Livemode, id))
}

// PayoutPosition is the place of a payout in a list.
type PayoutPosition struct {
	CreatedAt time.Time // to the microsecond, as the database keeps it
	ID        payments.PayoutID
}

// ListPayouts reads at most limit payouts of the tenant behind a place, the newest first; nil: from the first on.
func ListPayouts(ctx context.Context, db postgres.Batcher, tenant payments.TenantID, after *PayoutPosition, limit int) ([]payments.Payout, error) {
	var q query
	q.add(SelectPayouts+`WHERE p.tenant = ?`, tenant.UUID)
	if after != nil {
		q.add(` AND (p.created_at, p.id) < (?, ?)`, after.CreatedAt, after.ID.UUID)
	}
	q.add(` ORDER BY p.created_at DESC, p.id DESC LIMIT ?`, limit)
	var found []payments.Payout
	err := postgres.ForTenant(ctx, db, tenant.UUID, func(batch *pgx.Batch) {
		batch.Queue(q.sql, q.arguments...).Query(func(rows pgx.Rows) (err error) {
			found, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (payments.Payout, error) { return ScanPayout(row) })
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list payouts: %w", err)
	}
	return found, nil
}

// ScanPayout reads one row of the columns of SelectPayouts, or ErrNoPayout.
func ScanPayout(row pgx.Row) (payments.Payout, error) {
	var (
		p                       payments.Payout
		record                  *uuid.UUID
		submitted               time.Time
		external, processing    *time.Time
		terminal, ledgerApplied *time.Time
		reviewReason            *string
		reviewSince             *time.Time
		reviewFacts             map[string]any
	)
	err := row.Scan(&p.ID.UUID, &p.Tenant.UUID, &p.Account.ID, &p.Account.Livemode, &record, &p.Reference, &p.Money.Amount, &p.Money.Currency,
		&p.Description, &p.Metadata, &p.Status, &p.Stage, &submitted, &external, &processing, &terminal, &ledgerApplied, &p.ProviderID,
		&p.Automatic, &p.ArrivalDate, &p.FailureReason, &p.LastError, &p.Moved, &p.Returned, &reviewReason, &reviewSince, &reviewFacts,
		&p.ReadBegunAt, &p.CreatedAt, &p.LastMessage)
	if errors.Is(err, pgx.ErrNoRows) {
		return payments.Payout{}, ErrNoPayout
	}
	if err != nil {
		return payments.Payout{}, fmt.Errorf("read payout: %w", err)
	}
	if record != nil {
		p.Record = &payments.RecordID{UUID: *record}
	}
	if reviewReason != nil {
		p.Review = &payments.Review{Reason: *reviewReason, Since: reviewSince.UTC(), Facts: reviewFacts}
	}
	if p.ArrivalDate != nil {
		arrival := p.ArrivalDate.UTC()
		p.ArrivalDate = &arrival
	}
	p.CreatedAt = p.CreatedAt.UTC()
	p.Reached = reached(map[payments.Stage]*time.Time{
		payments.StageSubmitted: &submitted, payments.StageExternalResourceCreated: external,
		payments.StageProcessing: processing, payments.StageTerminal: terminal, payments.StageLedgerApplied: ledgerApplied,
	})
	return p, nil
}
