package paymentstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"payonce/payments"
)

// ErrNoDispute says that the tenant has no such dispute.
var ErrNoDispute = errors.New("no such dispute")

const selectDisputes = `SELECT d.id, d.tenant, d.payment, d.dispute_id, coalesce(d.charge, ''), d.amount, d.currency, coalesce(d.reason, ''), d.status, d.stage,
	d.external_resource_created_at, d.processing_at, d.terminal_at, d.ledger_applied_at, d.due_by, d.withdrawn, d.reinstated, d.transactions, d.lost,
	d.read_begun_at, d.created_at
	FROM payonce.disputes d `

// DisputeByID reads a dispute of any tenant, or ErrNoDispute; for the system role.
func DisputeByID(ctx context.Context, db Querier, id payments.DisputeID) (payments.Dispute, error) {
	return scanDispute(db.QueryRow(ctx, selectDisputes+`WHERE d.id = $1`, id.UUID))
}

// MaxDisputes bounds the disputes of a payment that are read together.
const MaxDisputes = 1000

// QueueDisputes queues the reading of a payment's disputes, the oldest first.
func QueueDisputes(batch *pgx.Batch, payment payments.PaymentID, into *[]payments.Dispute) {
	batch.Queue(selectDisputes+`WHERE d.payment = $1 ORDER BY d.created_at, d.id LIMIT $2`, payment.UUID, MaxDisputes).Query(func(rows pgx.Rows) (err error) {
		*into, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (payments.Dispute, error) { return scanDispute(row) })
		return err
	})
}

func scanDispute(row pgx.Row) (payments.Dispute, error) {
	var d payments.Dispute
	var external, processing, terminal, ledgerApplied *time.Time
	err := row.Scan(&d.ID.UUID, &d.Tenant.UUID, &d.Payment.UUID, &d.ProviderID, &d.Charge, &d.Money.Amount, &d.Money.Currency, &d.Reason, &d.Status, &d.Stage,
		&external, &processing, &terminal, &ledgerApplied, &d.DueBy, &d.Withdrawn, &d.Reinstated, &d.Transactions, &d.Lost, &d.ReadBegunAt, &d.CreatedAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return payments.Dispute{}, ErrNoDispute
	}
	if err != nil {
		return payments.Dispute{}, fmt.Errorf("read dispute: %w", err)
	}
	d.CreatedAt = d.CreatedAt.UTC()
	if d.DueBy != nil {
		utc := d.DueBy.UTC()
		d.DueBy = &utc
	}
	d.Reached = reached(map[payments.Stage]*time.Time{
		payments.StageExternalResourceCreated: external, payments.StageProcessing: processing,
		payments.StageTerminal: terminal, payments.StageLedgerApplied: ledgerApplied,
	})
	return d, nil
}
