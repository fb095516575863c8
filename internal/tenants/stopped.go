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

// Key is what calls for an account are made with: its own secret key or, when it is connected to a platform, the platform's.
type Key struct {
	Secret    string
	Connected bool // it is the platform's: each call names the account
}

// selectKey reads the key of the account a, and what is frozen. A connected account is stopped with its platform, too.
func selectKey(frozen string) string {
	return `
	SELECT coalesce(a.secret_key, o.secret_key), a.platform IS NOT NULL, coalesce(a.stopped_reason, o.stopped_reason) IS NOT NULL, true, ` + frozen + `
	FROM payonce.provider_accounts a
	LEFT JOIN payonce.provider_accounts o ON (o.provider, o.account, o.livemode) = (a.provider, a.platform, a.livemode) `
}

// UsableKey is the key of an account, ErrNotFound or ErrAccountStopped. For the system role.
func UsableKey(ctx context.Context, db Querier, sealer *seal.Sealer, account payments.Account) (Key, error) {
	var read SealedKey
	err := read.scan(db.QueryRow(ctx, selectKey(`'{}'::text[]`)+`WHERE a.provider = 'stripe' AND a.account = $1 AND a.livemode = $2`,
		account.ID, account.Livemode))
	if err != nil {
		return Key{}, fmt.Errorf("read secret key: %w", err)
	}
	key, err := read.Open(sealer)
	if err != nil {
		return Key{}, fmt.Errorf("account %s, livemode %t: %w", account.ID, account.Livemode, err)
	}
	return key, nil
}

// SealedKey is the key of an account as it was read.
type SealedKey struct {
	sealed    []byte
	connected bool
	stopped   bool
	found     bool
	frozen    []string // operations; empty: every one
}

func (k *SealedKey) scan(row pgx.Row) error {
	err := row.Scan(&k.sealed, &k.connected, &k.stopped, &k.found, &k.frozen)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return err
}

// QueueKeyOf queues the reading of the key of the account that a payment is pinned to. For the system role.
func QueueKeyOf(batch *pgx.Batch, payment payments.PaymentID, into *SealedKey) {
	batch.Queue(selectKey(frozenFor("p.tenant"))+`
		JOIN payonce.payments p ON (p.provider, p.account, p.livemode) = (a.provider, a.account, a.livemode)
		WHERE p.id = $1`, payment.UUID).QueryRow(into.scan)
}

// QueueKeyOfAccount queues the reading of the key of an account, for a tenant. For the system role.
func QueueKeyOfAccount(batch *pgx.Batch, tenant payments.TenantID, account payments.Account, into *SealedKey) {
	batch.Queue(selectKey(frozenFor("$3"))+`WHERE a.provider = 'stripe' AND a.account = $1 AND a.livemode = $2`,
		account.ID, account.Livemode, tenant.UUID).QueryRow(into.scan)
}

// Open is the key that was read, or ErrAccountStopped, or ErrNotFound.
func (k SealedKey) Open(sealer *seal.Sealer) (Key, error) {
	switch {
	case !k.found:
		return Key{}, ErrNotFound
	case k.stopped:
		return Key{}, ErrAccountStopped
	}
	plain, err := sealer.Open(ColumnSecretKey, k.sealed)
	return Key{Secret: string(plain), Connected: k.connected}, err
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
