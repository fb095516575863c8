package boundaries

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"payonce/internal/postgres"
	"payonce/payments"
)

// checkDestinations refuses a wallet that the tenant has not in the currency. Wallets are never taken away, so a repeat of what was claimed passes. A
// command without destinations is not looked at.
func (c *Commands) checkDestinations(ctx context.Context, tenant payments.TenantID, command payments.CreateCommand) error {
	if len(command.Destinations) == 0 {
		return nil
	}
	named := make([]string, len(command.Destinations))
	for i, d := range command.Destinations {
		named[i] = d.Account
	}
	var known []string
	err := postgres.ForTenant(ctx, c.pool, tenant.UUID, func(batch *pgx.Batch) {
		batch.Queue(`SELECT coalesce(array_agg(name), '{}') FROM payonce.ledger_accounts WHERE tenant = $1 AND currency = $2 AND name = ANY($3)`,
			tenant.UUID, command.Currency, named).QueryRow(func(row pgx.Row) error { return row.Scan(&known) })
	})
	if err != nil {
		return fmt.Errorf("read destinations: %w", err)
	}
	for i, account := range named {
		if account != payments.MerchantDestination && !slices.Contains(known, account) {
			return &DestinationError{Index: i, Account: account, Currency: command.Currency}
		}
	}
	return nil
}
