package notifications

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/internal/seal"
	"payonce/payments"
)

// columnSecret is the sealed column of the signing secret.
const columnSecret = "notification_endpoints.secret"

// ErrNoEndpoint says that the tenant has no such endpoint.
var ErrNoEndpoint = errors.New("no such endpoint")

// Endpoint is where a tenant's messages go.
type Endpoint struct {
	ID         uuid.UUID
	URL        string
	CreatedAt  time.Time
	DisabledAt *time.Time // set: nothing is sent there any more
}

// Create registers an endpoint and makes its signing secret, which is shown this once. The URL is checked first: see Addresses.CheckURL for
// the errors.
func Create(ctx context.Context, pool *pgxpool.Pool, sealer *seal.Sealer, addresses *Addresses, tenant payments.TenantID, url string) (
	id uuid.UUID, secret string, err error,
) {
	if err := addresses.CheckURL(ctx, url); err != nil {
		return uuid.Nil, "", err
	}
	if id, err = uuid.NewV7(); err != nil {
		return uuid.Nil, "", fmt.Errorf("make endpoint id: %w", err)
	}
	secret = newSecret()
	sealed, err := sealer.Seal(columnSecret, []byte(secret))
	if err != nil {
		return uuid.Nil, "", err
	}
	_, err = pool.Exec(ctx, `INSERT INTO payonce.notification_endpoints (id, tenant, url, secret, created_at)
		VALUES ($1, $2, $3, $4, payonce.clock())`, id, tenant.UUID, url, sealed)
	if err != nil {
		return uuid.Nil, "", fmt.Errorf("create endpoint: %w", err)
	}
	return id, secret, nil
}

// List lists the tenant's endpoints, disabled ones too, oldest first.
func List(ctx context.Context, pool *pgxpool.Pool, tenant payments.TenantID) ([]Endpoint, error) {
	found, err := pool.Query(ctx, `SELECT id, url, created_at, disabled_at FROM payonce.notification_endpoints
		WHERE tenant = $1 ORDER BY created_at, id`, tenant.UUID)
	if err != nil {
		return nil, fmt.Errorf("list endpoints: %w", err)
	}
	endpoints, err := pgx.CollectRows(found, pgx.RowToStructByPos[Endpoint])
	if err != nil {
		return nil, fmt.Errorf("list endpoints: %w", err)
	}
	return endpoints, nil
}

// Disable ends sending to an endpoint: nothing more is queued for it, and what is queued is parked. A try under way may still arrive. Disabling
// again changes nothing; an endpoint that is not the tenant's is ErrNoEndpoint.
func Disable(ctx context.Context, pool *pgxpool.Pool, tenant payments.TenantID, id uuid.UUID) error {
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		disabled, err := tx.Exec(ctx, `UPDATE payonce.notification_endpoints SET disabled_at = coalesce(disabled_at, payonce.clock())
			WHERE id = $1 AND tenant = $2`, id, tenant.UUID)
		if err != nil {
			return fmt.Errorf("disable endpoint: %w", err)
		}
		if disabled.RowsAffected() == 0 {
			return ErrNoEndpoint
		}
		_, err = tx.Exec(ctx, `UPDATE payonce.notifications
			SET status = 'parked', next_try_at = NULL, lease_owner = NULL, last_error = $2, settled_at = payonce.clock()
			WHERE endpoint = $1 AND status = 'queued'`, id, string(causeDisabled))
		if err != nil {
			return fmt.Errorf("park messages of endpoint: %w", err)
		}
		return nil
	})
}
