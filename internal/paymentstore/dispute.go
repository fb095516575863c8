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

// ReadDisputes reads the disputes of a payment of the tenant for a caller, with their fees and the oldest first, or ErrNotFound.
func ReadDisputes(ctx context.Context, db postgres.Batcher, tenant payments.TenantID, payment payments.PaymentID) ([]payments.Dispute, error) {
	var known bool
	found, err := readDisputes(ctx, db, tenant, `d.payment = $2`, payment.UUID, func(batch *pgx.Batch) {
		batch.Queue(`SELECT EXISTS (SELECT FROM payonce.payments WHERE tenant = $1 AND id = $2)`, tenant.UUID, payment.UUID).QueryRow(
			func(row pgx.Row) error { return row.Scan(&known) })
	})
	if err == nil && !known {
		return nil, ErrNotFound
	}
	return found, err
}

// ReadDispute reads a dispute of the tenant for a caller, with its fees, or ErrNoDispute.
func ReadDispute(ctx context.Context, db postgres.Batcher, tenant payments.TenantID, id uuid.UUID) (payments.Dispute, error) {
	found, err := readDisputes(ctx, db, tenant, `d.id = $2`, id, func(*pgx.Batch) {})
	if err != nil {
		return payments.Dispute{}, err
	}
	if len(found) == 0 {
		return payments.Dispute{}, ErrNoDispute
	}
	return found[0], nil
}

func readDisputes(ctx context.Context, db postgres.Batcher, tenant payments.TenantID, which string, id uuid.UUID, also func(*pgx.Batch),
) ([]payments.Dispute, error) {
	var found []payments.Dispute
	fees := map[payments.DisputeID][]payments.Money{}
	err := postgres.ForTenant(ctx, db, tenant.UUID, func(batch *pgx.Batch) {
		also(batch)
		where := `WHERE d.tenant = $1 AND ` + which
		batch.Queue(selectDisputes+where+` ORDER BY d.created_at, d.id LIMIT $3`, tenant.UUID, id, MaxDisputes).Query(func(rows pgx.Rows) (err error) {
			found, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (payments.Dispute, error) { return scanDispute(row) })
			return err
		})
		batch.Queue(selectDisputeFees+where+` GROUP BY 1, 2 HAVING sum(e.amount) <> 0 ORDER BY 1, 2`, tenant.UUID, id).Query(func(rows pgx.Rows) error {
			var of payments.DisputeID
			var fee payments.Money
			_, err := pgx.ForEachRow(rows, []any{&of.UUID, &fee.Currency, &fee.Amount}, func() error {
				fees[of] = append(fees[of], fee)
				return nil
			})
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read disputes: %w", err)
	}
	for i := range found {
		found[i].Fees = fees[found[i].ID]
	}
	return found, nil
}

// selectDisputeFees sums what the ledger holds as Stripe's fee of the balance transactions; of one that settled in another currency it is a journal of its own.
const selectDisputeFees = `SELECT d.id, e.currency, sum(e.amount)::bigint
	FROM payonce.disputes d CROSS JOIN unnest(d.transactions) AS t (id)
	JOIN payonce.ledger_journals j ON j.tenant = d.tenant AND j.posting_key IN ('dispute/' || d.dispute_id || '/' || t.id, 'fee/' || t.id)
	JOIN payonce.ledger_entries e ON e.journal = j.id
	JOIN payonce.ledger_accounts a ON a.id = e.account AND a.name = 'fees:stripe' `

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
