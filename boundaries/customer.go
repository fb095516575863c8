package boundaries

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"payonce/internal/postgres"
	"payonce/payments"
)

// checkCustomer refuses a customer that is not linked to an owner of the tenant at its account. What is linked stays linked, so a repeat of what was
// claimed passes. A command without a customer is not looked at.
func (c *Commands) checkCustomer(ctx context.Context, tenant payments.TenantID, command payments.CreateCommand) error {
	if command.Customer == nil {
		return nil
	}
	var linked bool
	err := postgres.ForTenant(ctx, c.pool, tenant.UUID, func(batch *pgx.Batch) {
		batch.Queue(`
			SELECT EXISTS (
				SELECT FROM payonce.provisions p JOIN payonce.tenants t ON (t.id, t.account, t.livemode) = (p.tenant, p.account, p.livemode)
				WHERE p.id = $1 AND p.tenant = $2 AND p.kind = 'customer' AND p.status = 'linked')`, command.Customer.UUID, tenant.UUID,
		).QueryRow(func(row pgx.Row) error { return row.Scan(&linked) })
	})
	if err != nil {
		return fmt.Errorf("read customer: %w", err)
	}
	if !linked {
		return &CustomerError{*command.Customer}
	}
	return nil
}
