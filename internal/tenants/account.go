package tenants

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/internal/seal"
	"payonce/payments"
)

// Sealed columns, as seal names them.
const (
	ColumnSecretKey      = "provider_accounts.secret_key"
	ColumnWebhookSecrets = "provider_accounts.webhook_secrets"
)

var accountID = regexp.MustCompile(`^acct_[A-Za-z0-9_]{1,64}$`)

// CreateAccount adds a Stripe account in one mode with its secret key and the signing secrets of its webhook endpoints,
// newest first. A key of the other mode, a blank key and a blank signing secret are refused; ErrExists when the account is
// there in that mode. Its calls are limited by DefaultCallLimits. For the system role.
func CreateAccount(ctx context.Context, db DB, sealer *seal.Sealer, account payments.Account, secretKey string,
	webhookSecrets []string,
) error {
	if !accountID.MatchString(account.ID) {
		return fmt.Errorf("account %q: must be acct_ and 1 to 64 letters, digits and _", account.ID)
	}
	key, secrets, err := sealSecrets(sealer, account, secretKey, webhookSecrets)
	if err != nil {
		return err
	}
	limits := DefaultCallLimits(account.Livemode)
	tag, err := db.Exec(ctx, `INSERT INTO payonce.provider_accounts
			(account, livemode, secret_key, webhook_secrets, calls_per_second, calls_per_second_per_endpoint, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, payonce.clock()) ON CONFLICT DO NOTHING`,
		account.ID, account.Livemode, key, secrets, limits.PerSecond, limits.PerSecondPerEndpoint)
	if err != nil {
		return fmt.Errorf("insert account: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return fmt.Errorf("account %s, livemode %t: %w", account.ID, account.Livemode, ErrExists)
	}
	return nil
}

// ConnectAccount adds a Stripe account that is connected to a platform, which is there in the same mode: calls for it are made with the platform's
// key and name it, and it is told of by the platform's signing secrets or, if there are any, by its own. ErrNotFound when there is no such platform,
// ErrExists when the account is there. For the system role.
func ConnectAccount(ctx context.Context, db DB, sealer *seal.Sealer, account payments.Account, platform string, webhookSecrets []string) error {
	if !accountID.MatchString(account.ID) {
		return fmt.Errorf("account %q: must be acct_ and 1 to 64 letters, digits and _", account.ID)
	}
	secrets, err := sealSigning(sealer, webhookSecrets)
	if err != nil {
		return err
	}
	limits := DefaultCallLimits(account.Livemode)
	tag, err := db.Exec(ctx, `INSERT INTO payonce.provider_accounts
			(account, livemode, platform, webhook_secrets, calls_per_second, calls_per_second_per_endpoint, created_at)
		SELECT $1, o.livemode, o.account, $4, $5, $6, payonce.clock() FROM payonce.provider_accounts o
		WHERE o.provider = 'stripe' AND o.account = $3 AND o.livemode = $2 AND o.platform IS NULL
		ON CONFLICT DO NOTHING`,
		account.ID, account.Livemode, platform, secrets, limits.PerSecond, limits.PerSecondPerEndpoint)
	if err != nil {
		return fmt.Errorf("insert account: %w", err)
	}
	if tag.RowsAffected() > 0 {
		return nil
	}
	platforms, err := Platforms(ctx, db)
	if err != nil {
		return err
	}
	if _, there := platforms[account]; there {
		return fmt.Errorf("account %s, livemode %t: %w", account.ID, account.Livemode, ErrExists)
	}
	return fmt.Errorf("platform %s with a key of its own, livemode %t: %w", platform, account.Livemode, ErrNotFound)
}

// ReplaceAccountSecrets gives an account a new secret key and new signing secrets, newest first: while a signing secret is
// rolled both the old and the new one are listed. ErrNotFound when there is no such account with a key of its own. For the system role.
func ReplaceAccountSecrets(ctx context.Context, db DB, sealer *seal.Sealer, account payments.Account, secretKey string,
	webhookSecrets []string,
) error {
	key, secrets, err := sealSecrets(sealer, account, secretKey, webhookSecrets)
	if err != nil {
		return err
	}
	tag, err := db.Exec(ctx, `UPDATE payonce.provider_accounts SET secret_key = $3, webhook_secrets = $4
		WHERE provider = 'stripe' AND account = $1 AND livemode = $2 AND platform IS NULL`, account.ID, account.Livemode, key, secrets)
	if err != nil {
		return fmt.Errorf("update account: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return fmt.Errorf("account %s, livemode %t: %w", account.ID, account.Livemode, ErrNotFound)
	}
	return nil
}

// sealSecrets refuses secrets that cannot be right and seals the others.
func sealSecrets(sealer *seal.Sealer, account payments.Account, secretKey string, webhookSecrets []string) (key, secrets []byte, err error) {
	mode, otherMode := "_test_", "_live_"
	if account.Livemode {
		mode, otherMode = otherMode, mode
	}
	switch {
	case strings.TrimSpace(secretKey) == "":
		return nil, nil, errors.New("the secret key is blank")
	case strings.HasPrefix(secretKey, "sk"+otherMode), strings.HasPrefix(secretKey, "rk"+otherMode):
		return nil, nil, fmt.Errorf("the secret key is of the other mode: livemode %t takes sk%s… or rk%s…", account.Livemode, mode, mode)
	}
	if key, err = sealer.Seal(ColumnSecretKey, []byte(secretKey)); err != nil {
		return nil, nil, err
	}
	secrets, err = sealSigning(sealer, webhookSecrets)
	return key, secrets, err
}

// sealSigning refuses a blank signing secret and seals the list.
func sealSigning(sealer *seal.Sealer, webhookSecrets []string) ([]byte, error) {
	for _, secret := range webhookSecrets {
		if strings.TrimSpace(secret) == "" {
			return nil, errors.New("a signing secret is blank: it would verify what anybody signs")
		}
	}
	list, err := json.Marshal(append([]string{}, webhookSecrets...))
	if err != nil {
		return nil, fmt.Errorf("encode signing secrets: %w", err)
	}
	return sealer.Seal(ColumnWebhookSecrets, list)
}

// WebhookSecret is a signing secret of an account's webhook endpoint.
type WebhookSecret struct {
	Account payments.Account
	Secret  string
}

// WebhookSecrets lists the signing secrets of every account, newest first within an account. An account without one is not
// listed. For the system role.
func WebhookSecrets(ctx context.Context, pool *pgxpool.Pool, sealer *seal.Sealer) ([]WebhookSecret, error) {
	rows, err := pool.Query(ctx, `SELECT account, livemode, webhook_secrets FROM payonce.provider_accounts
		WHERE provider = 'stripe' ORDER BY account, livemode`)
	if err != nil {
		return nil, fmt.Errorf("read signing secrets: %w", err)
	}
	defer rows.Close()
	var all []WebhookSecret
	for rows.Next() {
		var (
			account payments.Account
			sealed  []byte
			secrets []string
		)
		if err := rows.Scan(&account.ID, &account.Livemode, &sealed); err != nil {
			return nil, fmt.Errorf("read signing secrets: %w", err)
		}
		plain, err := sealer.Open(ColumnWebhookSecrets, sealed)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(plain, &secrets); err != nil {
			return nil, fmt.Errorf("decode the signing secrets of %s: %w", account.ID, err)
		}
		for _, secret := range secrets {
			all = append(all, WebhookSecret{Account: account, Secret: secret})
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read signing secrets: %w", err)
	}
	return all, nil
}

// Platforms are the platform of every account in each of its modes; empty: the account is connected to none.
func Platforms(ctx context.Context, db DB) (map[payments.Account]string, error) {
	rows, err := db.Query(ctx, `SELECT account, livemode, coalesce(platform, '') FROM payonce.provider_accounts WHERE provider = 'stripe'`)
	if err != nil {
		return nil, fmt.Errorf("read accounts: %w", err)
	}
	platforms := map[payments.Account]string{}
	var account payments.Account
	var platform string
	_, err = pgx.ForEachRow(rows, []any{&account.ID, &account.Livemode, &platform}, func() error {
		platforms[account] = platform
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read accounts: %w", err)
	}
	return platforms, nil
}
