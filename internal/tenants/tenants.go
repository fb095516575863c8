// Package tenants provisions Stripe accounts, tenants and API keys, and reads them.
//
// It may import payments, internal/postgres, internal/seal and pgx. It must not know HTTP or Stripe's client: who may call,
// and with which secrets, not how a call is made.
package tenants

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/internal/postgres"
	"payonce/payments"
)

// ErrExists says that the account or the tenant's name is taken; nothing was changed.
var ErrExists = errors.New("exists already")

// ErrNotFound says that there is no such tenant, account or key.
var ErrNotFound = errors.New("not found")

// Querier is a pool, a connection or a transaction.
type Querier interface {
	QueryRow(ctx context.Context, sql string, arguments ...any) pgx.Row
}

// DB is a pool, or a transaction in which more than one thing is to be done or none.
type DB interface {
	Exec(ctx context.Context, sql string, arguments ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, arguments ...any) (pgx.Rows, error)
}

// Tenant is a merchant, or one of its environments, bound to one Stripe account in one mode.
type Tenant struct {
	ID      payments.TenantID
	Name    string
	Account payments.Account
}

var tenantName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

// CreateTenant adds a tenant of the account. The name is 1 to 63 characters of a-z, 0-9 and "-". It returns ErrExists when
// the name is taken and ErrNotFound when the account is not there. For the system role.
func CreateTenant(ctx context.Context, pool *pgxpool.Pool, name string, account payments.Account) (payments.TenantID, error) {
	if !tenantName.MatchString(name) {
		return payments.TenantID{}, fmt.Errorf("tenant name %q: must be 1 to 63 characters of a-z, 0-9 and -", name)
	}
	id, err := uuid.NewV7()
	if err != nil {
		return payments.TenantID{}, fmt.Errorf("make tenant id: %w", err)
	}
	_, err = pool.Exec(ctx, `INSERT INTO payonce.tenants (id, name, account, livemode, created_at)
		VALUES ($1, $2, $3, $4, payonce.clock())`, id, name, account.ID, account.Livemode)
	switch {
	case postgres.Violates(err, "tenants_name_key"):
		return payments.TenantID{}, fmt.Errorf("tenant %q: %w", name, ErrExists)
	case postgres.Violates(err, "tenants_provider_account_livemode_fkey"):
		return payments.TenantID{}, fmt.Errorf("account %s, livemode %t: %w", account.ID, account.Livemode, ErrNotFound)
	case err != nil:
		return payments.TenantID{}, fmt.Errorf("insert tenant: %w", err)
	}
	return payments.TenantID{UUID: id}, nil
}

// ByName reads the tenant of the name, or ErrNotFound.
func ByName(ctx context.Context, db Querier, name string) (Tenant, error) {
	tenant, err := scanTenant(db.QueryRow(ctx, `SELECT id, name, account, livemode FROM payonce.tenants WHERE name = $1`, name))
	if errors.Is(err, ErrNotFound) {
		return Tenant{}, fmt.Errorf("tenant %q: %w", name, err)
	}
	return tenant, err
}

// ByID reads a tenant, or ErrNotFound.
func ByID(ctx context.Context, db Querier, id payments.TenantID) (Tenant, error) {
	return scanTenant(db.QueryRow(ctx, `SELECT id, name, account, livemode FROM payonce.tenants WHERE id = $1`, id.UUID))
}

func scanTenant(row pgx.Row) (Tenant, error) {
	var tenant Tenant
	err := row.Scan(&tenant.ID.UUID, &tenant.Name, &tenant.Account.ID, &tenant.Account.Livemode)
	if errors.Is(err, pgx.ErrNoRows) {
		return Tenant{}, ErrNotFound
	}
	if err != nil {
		return Tenant{}, fmt.Errorf("read tenant: %w", err)
	}
	return tenant, nil
}
