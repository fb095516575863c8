package tenants_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"payonce/internal/postgres"
	"payonce/internal/seal"
	"payonce/internal/tenants"
	"payonce/internal/testkit/pg"
	"payonce/payments"
)

var account = payments.Account{ID: "acct_shop", Livemode: false}

type office struct {
	system, tenant *pgxpool.Pool
	sealer         *seal.Sealer
}

func newOffice(t *testing.T) office {
	t.Helper()
	db := pg.NewDatabase(t)
	keyset, err := seal.NewKeyset()
	require.NoError(t, err)
	sealer, err := seal.New(keyset)
	require.NoError(t, err)
	open := func(url string) *pgxpool.Pool {
		pool, err := postgres.Open(t.Context(), postgres.PoolConfig{
			URL: url, MaxConns: 4, StatementTimeout: time.Minute, LockTimeout: time.Minute, IdleTransactionTimeout: time.Minute,
		})
		require.NoError(t, err)
		t.Cleanup(pool.Close)
		return pool
	}
	return office{open(db.SystemURL), open(db.TenantURL), sealer}
}

func (o office) openAccount(t *testing.T) {
	t.Helper()
	require.NoError(t, tenants.CreateAccount(t.Context(), o.system, o.sealer, account, "sk_test_shop", []string{"whsec_new", "whsec_old"}))
}

func TestAnAccountKeepsItsSecretsSealed(t *testing.T) {
	o := newOffice(t)
	o.openAccount(t)

	key, err := tenants.UsableKey(t.Context(), o.system, o.sealer, account)
	require.NoError(t, err)
	require.Equal(t, tenants.Key{Secret: "sk_test_shop"}, key)

	secrets, err := tenants.WebhookSecrets(t.Context(), o.system, o.sealer)
	require.NoError(t, err)
	require.Equal(t, []tenants.WebhookSecret{{Account: account, Secret: "whsec_new"}, {Account: account, Secret: "whsec_old"}}, secrets)

	platforms, err := tenants.Platforms(t.Context(), o.system)
	require.NoError(t, err)
	require.Equal(t, map[payments.Account]string{account: ""}, platforms)

	var stored string
	require.NoError(t, o.system.QueryRow(t.Context(),
		`SELECT encode(secret_key, 'escape') || encode(webhook_secrets, 'escape') FROM payonce.provider_accounts`).Scan(&stored))
	require.NotContains(t, stored, "sk_test_shop")
	require.NotContains(t, stored, "whsec_new")

	_, err = tenants.UsableKey(t.Context(), o.tenant, o.sealer, account)
	require.ErrorContains(t, err, "permission denied", "the API's role reads no secret")
}

func TestAnAccountIsOpenedOnceInEachMode(t *testing.T) {
	o := newOffice(t)
	o.openAccount(t)

	require.ErrorIs(t, tenants.CreateAccount(t.Context(), o.system, o.sealer, account, "sk_test_other", nil), tenants.ErrExists)
	key, err := tenants.UsableKey(t.Context(), o.system, o.sealer, account)
	require.NoError(t, err)
	require.Equal(t, "sk_test_shop", key.Secret)

	live := payments.Account{ID: account.ID, Livemode: true}
	require.NoError(t, tenants.CreateAccount(t.Context(), o.system, o.sealer, live, "sk_live_shop", nil))
	_, err = tenants.UsableKey(t.Context(), o.system, o.sealer, payments.Account{ID: "acct_none"})
	require.ErrorIs(t, err, tenants.ErrNotFound)
}

func TestSecretsThatCannotBeRightAreRefused(t *testing.T) {
	o := newOffice(t)
	live := payments.Account{ID: account.ID, Livemode: true}
	for name, c := range map[string]struct {
		account payments.Account
		key     string
		secrets []string
	}{
		"a live key in test mode":  {account, "sk_live_x", nil},
		"a test key in live mode":  {live, "rk_test_x", nil},
		"a blank key":              {account, " ", nil},
		"an empty signing secret":  {account, "sk_test_x", []string{"whsec_a", ""}},
		"a blank signing secret":   {account, "sk_test_x", []string{" "}},
		"an id that is no account": {payments.Account{ID: "shop"}, "sk_test_x", nil},
	} {
		t.Run(name, func(t *testing.T) {
			require.Error(t, tenants.CreateAccount(t.Context(), o.system, o.sealer, c.account, c.key, c.secrets))
		})
	}
	platforms, err := tenants.Platforms(t.Context(), o.system)
	require.NoError(t, err)
	require.Empty(t, platforms)
}

func TestSecretsAreRolled(t *testing.T) {
	o := newOffice(t)
	o.openAccount(t)

	require.NoError(t, tenants.ReplaceAccountSecrets(t.Context(), o.system, o.sealer, account, "sk_test_rolled", []string{"whsec_newest", "whsec_new"}))

	key, err := tenants.UsableKey(t.Context(), o.system, o.sealer, account)
	require.NoError(t, err)
	require.Equal(t, "sk_test_rolled", key.Secret)
	other := payments.Account{ID: "acct_none"}
	require.ErrorIs(t, tenants.ReplaceAccountSecrets(t.Context(), o.system, o.sealer, other, "sk_test_x", nil), tenants.ErrNotFound)
}

func TestATenantHasOneNameAndOneAccount(t *testing.T) {
	o := newOffice(t)
	_, err := tenants.CreateTenant(t.Context(), o.system, "shop", account)
	require.ErrorIs(t, err, tenants.ErrNotFound, "no such account yet")
	o.openAccount(t)

	id, err := tenants.CreateTenant(t.Context(), o.system, "shop", account)
	require.NoError(t, err)
	_, err = tenants.CreateTenant(t.Context(), o.system, "shop", account)
	require.ErrorIs(t, err, tenants.ErrExists)
	_, err = tenants.CreateTenant(t.Context(), o.system, "Shop!", account)
	require.ErrorContains(t, err, "tenant name")

	want := tenants.Tenant{ID: id, Name: "shop", Account: account}
	byName, err := tenants.ByName(t.Context(), o.tenant, "shop")
	require.NoError(t, err)
	require.Equal(t, want, byName)
	byID, err := tenants.ByID(t.Context(), o.tenant, id)
	require.NoError(t, err)
	require.Equal(t, want, byID)
	_, err = tenants.ByName(t.Context(), o.tenant, "nobody")
	require.ErrorIs(t, err, tenants.ErrNotFound)
}

func TestAKeyIsShownOnceAndFoundByItsHash(t *testing.T) {
	o := newOffice(t)
	o.openAccount(t)
	tenant, err := tenants.CreateTenant(t.Context(), o.system, "shop", account)
	require.NoError(t, err)

	key, err := tenants.CreateAPIKey(t.Context(), o.system, tenant, tenants.ScopeRead)
	require.NoError(t, err)
	require.Regexp(t, `^payonce_[A-Za-z0-9_-]{43}$`, key)
	found, err := tenants.FindAPIKey(t.Context(), o.tenant, key)
	require.NoError(t, err)
	require.Equal(t, tenant, found.Tenant)
	require.True(t, found.Permits(tenants.ScopeRead))
	require.False(t, found.Permits(tenants.ScopeWrite))

	last := "A"
	if key[len(key)-1:] == last {
		last = "Q"
	}
	for _, other := range []string{"", "payonce_", key[:len(key)-1] + last, key + "A", " " + key} {
		_, err = tenants.FindAPIKey(t.Context(), o.tenant, other)
		require.ErrorIs(t, err, tenants.ErrNotFound, "%q", other)
	}
}

func TestWhatIsNotFoundIsNamed(t *testing.T) {
	o := newOffice(t)
	_, err := tenants.ByName(t.Context(), o.system, "nobody")
	require.ErrorIs(t, err, tenants.ErrNotFound)
	require.ErrorContains(t, err, "nobody")
	err = tenants.ResumeAccount(t.Context(), o.system, account)
	require.ErrorIs(t, err, tenants.ErrNotFound)
	require.ErrorContains(t, err, account.ID)
}

func TestARevokedKeyIsGoneAtOnce(t *testing.T) {
	o := newOffice(t)
	o.openAccount(t)
	tenant, err := tenants.CreateTenant(t.Context(), o.system, "shop", account)
	require.NoError(t, err)
	key, err := tenants.CreateAPIKey(t.Context(), o.system, tenant, tenants.ScopeRead, tenants.ScopeWrite)
	require.NoError(t, err)
	found, err := tenants.FindAPIKey(t.Context(), o.tenant, key)
	require.NoError(t, err)

	require.NoError(t, tenants.RevokeAPIKey(t.Context(), o.system, found.ID))
	require.NoError(t, tenants.RevokeAPIKey(t.Context(), o.system, found.ID))

	_, err = tenants.FindAPIKey(t.Context(), o.tenant, key)
	require.ErrorIs(t, err, tenants.ErrNotFound)
	require.ErrorIs(t, tenants.RevokeAPIKey(t.Context(), o.system, uuid.New()), tenants.ErrNotFound)
}

func TestAKeyNeedsATenantAndAScope(t *testing.T) {
	o := newOffice(t)
	o.openAccount(t)
	tenant, err := tenants.CreateTenant(t.Context(), o.system, "shop", account)
	require.NoError(t, err)

	_, err = tenants.CreateAPIKey(t.Context(), o.system, tenant)
	require.ErrorContains(t, err, "scopes")
	_, err = tenants.CreateAPIKey(t.Context(), o.system, tenant, "payments:everything")
	require.ErrorContains(t, err, "scopes")
	_, err = tenants.CreateAPIKey(t.Context(), o.system, payments.TenantID{UUID: uuid.New()}, tenants.ScopeRead)
	require.ErrorIs(t, err, tenants.ErrNotFound)
}

func TestAConnectedAccountActsThroughItsPlatform(t *testing.T) {
	o := newOffice(t)
	o.openAccount(t)
	seller := payments.Account{ID: "acct_seller"}
	connect := func(account payments.Account, platform string) error {
		return tenants.ConnectAccount(t.Context(), o.system, o.sealer, account, platform, nil)
	}
	require.ErrorIs(t, connect(seller, "acct_nobody"), tenants.ErrNotFound)
	require.ErrorIs(t, connect(payments.Account{ID: "acct_seller", Livemode: true}, account.ID), tenants.ErrNotFound, "the platform of the other mode")
	require.NoError(t, connect(seller, account.ID))
	require.ErrorIs(t, connect(seller, account.ID), tenants.ErrExists)
	require.ErrorIs(t, connect(payments.Account{ID: "acct_below"}, seller.ID), tenants.ErrNotFound, "a connected account is no platform")

	key, err := tenants.UsableKey(t.Context(), o.system, o.sealer, seller)
	require.NoError(t, err)
	require.Equal(t, tenants.Key{Secret: "sk_test_shop", Connected: true}, key)
	require.ErrorIs(t, tenants.ReplaceAccountSecrets(t.Context(), o.system, o.sealer, seller, "sk_test_seller", nil), tenants.ErrNotFound)

	require.NoError(t, tenants.StopAccount(t.Context(), o.system, account, "HTTP 401"))
	_, err = tenants.UsableKey(t.Context(), o.system, o.sealer, seller)
	require.ErrorIs(t, err, tenants.ErrAccountStopped, "its platform is")
}
