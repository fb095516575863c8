package tenants

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ListedAccount is a Stripe account as an operator sees it, without its secrets.
type ListedAccount struct {
	ID            string
	Livemode      bool
	Platform      *string  // whose key acts for it; nil: its own
	Tenants       []string // names
	StoppedReason *string  // set: Stripe refused its key, and no call goes out until it is resumed
	StoppedAt     *time.Time
	CreatedAt     time.Time
	Limits        CallLimits
}

// ListedTenant is a tenant as an operator sees it.
type ListedTenant struct {
	ID        uuid.UUID
	Name      string
	Account   string
	Livemode  bool
	CreatedAt time.Time
}

// ListedKey is an API key as an operator sees it; the key itself is not stored.
type ListedKey struct {
	ID        uuid.UUID
	Tenant    string // name
	Scopes    []string
	CreatedAt time.Time
	RevokedAt *time.Time // set: it opens nothing any more
}

// ListAccounts lists every account in each of its modes. For the system role.
func ListAccounts(ctx context.Context, pool *pgxpool.Pool) ([]ListedAccount, error) {
	return listBy(ctx, pool, "accounts", scanAccount, `
		SELECT a.account, a.livemode, a.platform,
		       ARRAY(SELECT t.name FROM payonce.tenants t
		             WHERE (t.provider, t.account, t.livemode) = (a.provider, a.account, a.livemode) ORDER BY t.name),
		       a.stopped_reason, a.stopped_at, a.created_at, a.calls_per_second, a.calls_per_second_per_endpoint
		FROM payonce.provider_accounts a ORDER BY a.account, a.livemode`)
}

func scanAccount(row pgx.CollectableRow) (a ListedAccount, err error) {
	return a, row.Scan(&a.ID, &a.Livemode, &a.Platform, &a.Tenants, &a.StoppedReason, &a.StoppedAt, &a.CreatedAt,
		&a.Limits.PerSecond, &a.Limits.PerSecondPerEndpoint)
}

// ListTenants lists every tenant by name. For the system role.
func ListTenants(ctx context.Context, pool *pgxpool.Pool) ([]ListedTenant, error) {
	return list[ListedTenant](ctx, pool, "tenants", `SELECT id, name, account, livemode, created_at FROM payonce.tenants ORDER BY name`)
}

// ListAPIKeys lists the keys of the tenant of the name, or of all tenants when it is empty, revoked ones too, oldest first. For the system role.
func ListAPIKeys(ctx context.Context, pool *pgxpool.Pool, tenant string) ([]ListedKey, error) {
	return list[ListedKey](ctx, pool, "keys", `
		SELECT k.id, t.name, k.scopes, k.created_at, k.revoked_at FROM payonce.api_keys k JOIN payonce.tenants t ON t.id = k.tenant
		WHERE $1 IN ('', t.name) ORDER BY t.name, k.created_at, k.id`, tenant)
}

func list[T any](ctx context.Context, pool *pgxpool.Pool, what, sql string, arguments ...any) ([]T, error) {
	return listBy(ctx, pool, what, pgx.RowToStructByPos[T], sql, arguments...)
}

func listBy[T any](ctx context.Context, pool *pgxpool.Pool, what string, scan pgx.RowToFunc[T], sql string, arguments ...any) ([]T, error) {
	rows, err := pool.Query(ctx, sql, arguments...)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", what, err)
	}
	all, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", what, err)
	}
	return all, nil
}
