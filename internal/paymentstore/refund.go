package paymentstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"payonce/payments"
)

// ErrNoRefund says that the tenant has no such refund.
var ErrNoRefund = errors.New("no such refund")

// SelectRefunds reads refunds; the caller appends WHERE.
const SelectRefunds = `SELECT r.id, r.tenant, r.payment, r.record, r.reference, r.amount, r.currency, r.reason, r.metadata, r.status, r.stage,
	r.submitted_at, r.external_resource_created_at, r.processing_at, r.terminal_at, r.ledger_applied_at, coalesce(r.refund_id, ''),
	coalesce(r.charge, ''), coalesce(r.failure_reason, ''), r.last_error, r.moved, r.returned, r.read_begun_at, r.created_at, r.taken_from
	FROM payonce.refunds r `

// RefundOf reads the refund that a record's command made, or ErrNoRefund.
func RefundOf(ctx context.Context, db Querier, record payments.RecordID) (payments.Refund, error) {
	return ScanRefund(db.QueryRow(ctx, SelectRefunds+`WHERE r.record = $1`, record.UUID))
}

// RefundByID reads a refund of any tenant, or ErrNoRefund; for the system role.
func RefundByID(ctx context.Context, db Querier, id payments.RefundID) (payments.Refund, error) {
	return ScanRefund(db.QueryRow(ctx, SelectRefunds+`WHERE r.id = $1`, id.UUID))
}

// MaxRefunds bounds the refunds of a payment that are read together.
const MaxRefunds = 1000

// QueueRefunds queues the reading of a payment's refunds, the oldest first.
func QueueRefunds(batch *pgx.Batch, payment payments.PaymentID, into *[]payments.Refund) {
	batch.Queue(SelectRefunds+`WHERE r.payment = $1 ORDER BY r.created_at, r.id LIMIT $2`, payment.UUID, MaxRefunds).Query(func(rows pgx.Rows) (err error) {
		*into, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (payments.Refund, error) { return ScanRefund(row) })
		return err
	})
}

// ScanRefund reads one row of the columns of SelectRefunds, or ErrNoRefund.
func ScanRefund(row pgx.Row) (payments.Refund, error) {
	var (
		r                       payments.Refund
		record                  *uuid.UUID
		submitted               time.Time
		external, processing    *time.Time
		terminal, ledgerApplied *time.Time
	)
	err := row.Scan(&r.ID.UUID, &r.Tenant.UUID, &r.Payment.UUID, &record, &r.Reference, &r.Money.Amount, &r.Money.Currency, &r.Reason, &r.Metadata,
		&r.Status, &r.Stage, &submitted, &external, &processing, &terminal, &ledgerApplied, &r.ProviderID, &r.Charge, &r.FailureReason,
		&r.LastError, &r.Moved, &r.Returned, &r.ReadBegunAt, &r.CreatedAt, &r.TakenFrom)
	if errors.Is(err, pgx.ErrNoRows) {
		return payments.Refund{}, ErrNoRefund
	}
	if err != nil {
		return payments.Refund{}, fmt.Errorf("read refund: %w", err)
	}
	if record != nil {
		r.Record = &payments.RecordID{UUID: *record}
	}
	r.CreatedAt = r.CreatedAt.UTC()
	r.Reached = reached(map[payments.Stage]*time.Time{
		payments.StageSubmitted: &submitted, payments.StageExternalResourceCreated: external,
		payments.StageProcessing: processing, payments.StageTerminal: terminal, payments.StageLedgerApplied: ledgerApplied,
	})
	return r, nil
}
