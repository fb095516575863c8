package activities

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"payonce/boundaries"
	"payonce/internal/tenants"
	"payonce/payments"
)

// lone is a command that acts on no payment, a payout or a provision, with what a call of it needs, read at one time.
type lone struct {
	situation          // of no payment: the tenant and the account that the command is pinned to
	asked     *command // nil once it has its outcome
}

// readLone reads the record's command. What was made elsewhere has no record, and nothing is asked.
func (a *Activities) readLone(ctx context.Context, tenant payments.TenantID, account payments.Account, record *uuid.UUID) (lone, error) {
	var l lone
	l.payment = payments.Payment{Tenant: tenant, Account: account}
	batch := &pgx.Batch{}
	tenants.QueueKeyOfAccount(batch, tenant, account, &l.key)
	batch.Queue(`SELECT payonce.clock()`).QueryRow(func(row pgx.Row) error { return row.Scan(&l.now) })
	batch.Queue(selectCommand+`WHERE r.id = $1 AND r.status IN ('in_progress', 'unknown')`, record).Query(func(rows pgx.Rows) error {
		open, err := pgx.CollectRows(rows, scanCommand)
		if err == nil && len(open) > 0 {
			l.asked = &open[0]
		}
		return err
	})
	if err := a.Pool.SendBatch(ctx, batch).Close(); err != nil {
		return lone{}, fmt.Errorf("read command: %w", err)
	}
	if l.asked == nil {
		return l, nil
	}
	newest, err := a.Calls.Newest(ctx, l.asked.record)
	if newest != nil {
		l.calls = []boundaries.RecordCall{{Record: l.asked.record, Call: *newest}}
	}
	return l, err
}
