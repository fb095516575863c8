package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"payonce/internal/seal"
	"payonce/internal/tenants"
	"payonce/internal/testkit/pg"
	"payonce/payments"
)

func TestAnAccountWithoutSigningSecretsIsRefused(t *testing.T) {
	t.Parallel()
	key, secrets := file(t, "sk_test_shop"), file(t, " \n")

	err := (&accountCreateCommand{secretFlags: secretFlags{SecretKeyFile: key, WebhookSecretsFile: secrets}}).Run(t.Context())

	require.ErrorContains(t, err, secrets)
}

func TestSecretsAreRolledAndKeysRevokedByCommand(t *testing.T) {
	t.Parallel()
	db := pg.NewDatabase(t)
	system, err := pgxpool.New(t.Context(), db.SystemURL)
	require.NoError(t, err)
	defer system.Close()
	keyset, err := seal.NewKeyset()
	require.NoError(t, err)
	sealer, err := seal.New(keyset)
	require.NoError(t, err)
	shop := payments.Account{ID: "acct_shop"}
	require.NoError(t, tenants.CreateAccount(t.Context(), system, sealer, shop, "sk_test_old", nil))
	tenant, err := tenants.CreateTenant(t.Context(), system, "shop", shop)
	require.NoError(t, err)
	key, err := tenants.CreateAPIKey(t.Context(), system, tenant, tenants.ScopeRead)
	require.NoError(t, err)
	where := []string{"--database-url", db.OwnerURL, "--tenant-database-url", db.TenantURL, "--system-database-url", db.SystemURL,
		"--keyset-file", file(t, string(keyset))}

	replace := append([]string{"accounts", "replace", "--account", shop.ID, "--secret-key-file", file(t, "sk_test_new\n"),
		"--webhook-secrets-file", file(t, "whsec_new\nwhsec_old\n")}, where...)
	require.Zero(t, run(t.Context(), replace))
	secret, err := tenants.SecretKey(t.Context(), system, sealer, shop)
	require.NoError(t, err)
	require.Equal(t, "sk_test_new", secret)

	revoke := append([]string{"keys", "revoke", "--key-file", file(t, key+"\n")}, where...)
	require.Zero(t, run(t.Context(), revoke))
	_, err = tenants.FindAPIKey(t.Context(), system, key)
	require.ErrorIs(t, err, tenants.ErrNotFound)
	require.Equal(t, 1, run(t.Context(), revoke), "it is gone")
}

// file is the path of a file with the text.
func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}
