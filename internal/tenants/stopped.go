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

// KeyOfPayment is the secret key of the account that a payment is pinned to, as it was read.
type KeyOfPayment struct {
	sealed  []byte
	stopped bool
	found   bool
}

// QueueKeyOf queues the reading of the secret key of the account that a payment is pinned to. For the system role.
func QueueKeyOf(batch *pgx.Batch, payment payments.PaymentID, into *KeyOfPayment) {
	batch.Queue(`
		SELECT a.secret_key, a.stopped_reason IS NOT NULL, true FROM payonce.payments p
		JOIN payonce.provider_accounts a ON (a.provider, a.account, a.livemode) = (p.provider, p.account, p.livemode)
		WHERE p.id = $1`, payment.UUID).QueryRow(func(row pgx.Row) error {
		err := row.Scan(&into.sealed, &into.stopped, &into.found)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
}

// QueueKeyOfAccount queues the reading of the secret key of an account. For the system role.
func QueueKeyOfAccount(batch *pgx.Batch, account payments.Account, into *KeyOfPayment) {
	batch.Queue(`SELECT secret_key, stopped_reason IS NOT NULL, true FROM payonce.provider_accounts
		WHERE provider = 'stripe' AND account = $1 AND livemode = $2`, account.ID, account.Livemode).QueryRow(func(row pgx.Row) error {
		err := row.Scan(&into.sealed, &into.stopped, &into.found)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
}

// Open is the key that was read, or ErrAccountStopped, or ErrNotFound.
func (k KeyOfPayment) Open(sealer *seal.Sealer) (string, error) {
	switch {
	case !k.found:
		return "", fmt.Errorf("the payment's account: %w", ErrNotFound)
	case k.stopped:
		return "", fmt.Errorf("the payment's account: %w", ErrAccountStopped)
	}
	plain, err := sealer.Open(ColumnSecretKey, k.sealed)
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
