package tenants

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/internal/seal"
	"payonce/payments"
)

// ErrAccountStopped says that Stripe refused the account's key, and that no call goes out until an operator resumes it.
var ErrAccountStopped = errors.New("the Stripe account is stopped")

// UsableSecretKey is SecretKey, or ErrAccountStopped.
func UsableSecretKey(ctx context.Context, db Querier, sealer *seal.Sealer, account payments.Account) (string, error) {
	var (
		sealed  []byte
		stopped *string
	)
	err := db.QueryRow(ctx, `SELECT secret_key, stopped_reason FROM payonce.provider_accounts
		WHERE provider = 'stripe' AND account = $1 AND livemode = $2`, account.ID, account.Livemode).Scan(&sealed, &stopped)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return "", fmt.Errorf("account %s, livemode %t: %w", account.ID, account.Livemode, ErrNotFound)
	case err != nil:
		return "", fmt.Errorf("read secret key: %w", err)
	case stopped != nil:
		return "", fmt.Errorf("account %s, livemode %t: %w", account.ID, account.Livemode, ErrAccountStopped)
	}
	plain, err := sealer.Open(ColumnSecretKey, sealed)
	return string(plain), err
}

// StopAccount stops the account's calls to Stripe: a 401, a 403 or an account error would meet each of them. Nothing fails meanwhile.
func StopAccount(ctx context.Context, pool *pgxpool.Pool, account payments.Account, reason string) error {
	_, err := pool.Exec(ctx, `UPDATE payonce.provider_accounts SET stopped_reason = $3, stopped_at = payonce.clock()
		WHERE provider = 'stripe' AND account = $1 AND livemode = $2 AND stopped_reason IS NULL`, account.ID, account.Livemode, reason)
	if err != nil {
		return fmt.Errorf("stop account: %w", err)
	}
	return nil
}

// ResumeAccount lets the account's calls out again; ErrNotFound when there is no such account.
func ResumeAccount(ctx context.Context, pool *pgxpool.Pool, account payments.Account) error {
	tag, err := pool.Exec(ctx, `UPDATE payonce.provider_accounts SET stopped_reason = NULL, stopped_at = NULL
		WHERE provider = 'stripe' AND account = $1 AND livemode = $2`, account.ID, account.Livemode)
	if err != nil {
		return fmt.Errorf("resume account: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return fmt.Errorf("account %s, livemode %t: %w", account.ID, account.Livemode, ErrNotFound)
	}
	return nil
}
