package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
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
	o := openOffice(t)
	key, err := tenants.CreateAPIKey(t.Context(), o.system, o.tenant, tenants.ScopeRead)
	require.NoError(t, err)

	o.run("accounts", "replace", "--keyset-file", o.keyset, "--account", shop.ID, "--secret-key-file", file(t, "sk_test_new\n"),
		"--webhook-secrets-file", file(t, "whsec_new\nwhsec_old\n"))
	secret, err := tenants.UsableKey(t.Context(), o.system, o.sealer, shop)
	require.NoError(t, err)
	require.Equal(t, "sk_test_new", secret.Secret)

	o.run("keys", "revoke", "--key-file", file(t, key+"\n"))
	_, err = tenants.FindAPIKey(t.Context(), o.system, key)
	require.ErrorIs(t, err, tenants.ErrNotFound)
	require.ErrorContains(t, o.refused("keys", "revoke", "--key-file", file(t, key+"\n")), "payonce keys list", "it is gone")
}

func TestListsShowWhatIsThereForPeopleAndForPrograms(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	_, err := tenants.CreateAPIKey(t.Context(), o.system, o.tenant, tenants.ScopeRead)
	require.NoError(t, err)
	require.NoError(t, tenants.StopAccount(t.Context(), o.system, shop, "HTTP 401"))

	people := o.run("accounts", "list")
	require.Contains(t, people, shop.ID)
	require.Contains(t, people, "HTTP 401")
	require.Contains(t, people, "payonce accounts resume", "what to do")
	require.NotContains(t, people, "sk_test")
	var accounts []listedAccount
	o.read(&accounts, "accounts", "list")
	require.Equal(t, []string{"shop"}, accounts[0].Tenants)
	require.Equal(t, "test", accounts[0].Mode)
	require.Equal(t, "HTTP 401", *accounts[0].StoppedReason)

	var all []listedTenant
	o.read(&all, "tenants", "list")
	require.Equal(t, o.tenant.String(), all[0].ID)
	require.Contains(t, o.run("tenants", "list"), "shop")

	var keys []listedKey
	o.read(&keys, "keys", "list", "--tenant", "shop")
	require.Equal(t, []string{"payments:read"}, keys[0].Scopes)
	require.Nil(t, keys[0].RevokedAt)
	o.run("keys", "disable", "--id", keys[0].ID)
	o.read(&keys, "keys", "list")
	require.NotNil(t, keys[0].RevokedAt)
	require.Contains(t, o.run("keys", "list"), keys[0].ID)
}

func TestTheLimitsOfAnAccountAreSetAndShownByCommand(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	var accounts []listedAccount
	shown := func() []float64 {
		o.read(&accounts, "accounts", "list")
		return []float64{accounts[0].CallsPerSecond, accounts[0].CallsPerSecondPerEndpoint}
	}
	secrets := []string{"--keyset-file", o.keyset, "--account", shop.ID, "--secret-key-file", file(t, "sk_test_x"), "--webhook-secrets-file", file(t, "whsec_x")}
	require.Equal(t, []float64{20, 20}, shown(), "in test mode")

	o.run(append([]string{"accounts", "replace", "--calls-per-second", "250", "--calls-per-second-per-endpoint", "0.5"}, secrets...)...)
	require.Equal(t, []float64{250, 0.5}, shown())
	require.Contains(t, o.run("accounts", "list"), "at most 250/s, 0.5/s to one endpoint")
	o.run(append([]string{"accounts", "replace", "--calls-per-second", "50"}, secrets...)...)
	require.Equal(t, []float64{50, 0.5}, shown())
	o.run(append([]string{"accounts", "replace"}, secrets...)...)
	require.Equal(t, []float64{50, 0.5}, shown(), "what is not given stays")
	require.ErrorContains(t, o.refused(append([]string{"accounts", "replace", "--calls-per-second", "0"}, secrets...)...), "more than 0")
	require.ErrorContains(t, o.refused(append([]string{"accounts", "replace", "--calls-per-second", "NaN"}, secrets...)...), "more than 0")

	wrong := append([]string{"accounts", "replace", "--calls-per-second", "99"}, secrets[:4]...)
	wrong = append(wrong, "--secret-key-file", file(t, "sk_live_other_mode"), "--webhook-secrets-file", file(t, "whsec_x"))
	require.ErrorContains(t, o.refused(wrong...), "the other mode")
	require.Equal(t, []float64{50, 0.5}, shown(), "nothing half done")
	o.run(append([]string{"accounts", "replace", "--calls-per-second", "60"}, secrets[:4]...)...)
	require.Equal(t, []float64{60, 0.5}, shown(), "limits need no secrets")

	live := []string{"accounts", "create", "--live", "--keyset-file", o.keyset, "--account", shop.ID, "--secret-key-file", file(t, "sk_live_x"),
		"--webhook-secrets-file", file(t, "whsec_x")}
	require.ErrorContains(t, o.refused(append(live, "--calls-per-second", "0")...), "more than 0")
	o.read(&accounts, "accounts", "list")
	require.Len(t, accounts, 1, "nothing half done")
	o.run(live...)
	o.read(&accounts, "accounts", "list")
	require.Equal(t, []float64{80, 20}, []float64{accounts[1].CallsPerSecond, accounts[1].CallsPerSecondPerEndpoint}, "in live mode")
}

func TestAnEndpointIsRegisteredListedAndDisabledByCommand(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	var endpoints []listedEndpoint
	o.read(&endpoints, "endpoints", "list")
	require.NotNil(t, endpoints)
	require.Empty(t, endpoints, "an empty array, not null")

	require.Zero(t, run(t.Context(), o.arguments("endpoints", "create", "--keyset-file", o.keyset, "--tenant", "shop",
		"--url", "http://127.0.0.1:9/messages", "--allow-loopback", "127.0.0.1:9")))
	o.read(&endpoints, "endpoints", "list", "--tenant", "shop")
	require.Equal(t, "http://127.0.0.1:9/messages", endpoints[0].URL)
	require.Nil(t, endpoints[0].DisabledAt)

	require.Zero(t, run(t.Context(), o.arguments("endpoints", "disable", "--tenant", "shop", "--id", endpoints[0].ID)))
	o.read(&endpoints, "endpoints", "list")
	require.NotNil(t, endpoints[0].DisabledAt)
	require.Contains(t, o.run("endpoints", "list"), endpoints[0].ID)
}

func TestARefusedCommandSaysWhatToDoNext(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	const none = "0197a000-0000-7000-8000-000000000000"
	for name, c := range map[string]struct {
		next      string
		arguments []string
	}{
		"an account that is there": {"accounts replace", []string{
			"accounts", "create", "--keyset-file", o.keyset, "--account", shop.ID, "--secret-key-file", file(t, "sk_test_x"), "--webhook-secrets-file", file(t, "whsec_x"),
		}},
		"an account that is not":       {"accounts list", []string{"accounts", "resume", "--account", "acct_nobody"}},
		"the account in another mode":  {"--live", []string{"tenants", "create", "--name", "other", "--account", shop.ID, "--live"}},
		"a tenant that is there":       {"tenants list", []string{"tenants", "create", "--name", "shop", "--account", shop.ID}},
		"a tenant that is not":         {"tenants list", []string{"keys", "list", "--tenant", "nobody"}},
		"endpoints of nobody":          {"tenants list", []string{"endpoints", "list", "--tenant", "nobody"}},
		"an endpoint that is not":      {"endpoints list", []string{"endpoints", "disable", "--tenant", "shop", "--id", none}},
		"a key that is not":            {"keys list", []string{"keys", "revoke", "--id", none}},
		"no key at all":                {"--id", []string{"keys", "revoke"}},
		"a database that is not there": {"--database-url", []string{"tenants", "list", "--system-database-url", "postgres://payonce_system@127.0.0.1:1/payonce"}},
		"a database without schema": {"payonce migrate", []string{
			"tenants", "list", "--system-database-url", strings.Replace(o.db.SuperuserURL, o.db.Name, "postgres", 1),
		}},
	} {
		require.ErrorContains(t, o.refused(c.arguments...), c.next, name)
	}
}

// A person who asks for help sees what the command uses, and not what the whole system could be told.
func TestCommandsOfTheOfficeTakeNoFlagsOfTheRunningSystem(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"accounts list", "accounts resume --account acct_shop", "tenants create --account acct_shop --name shop", "keys list", "endpoints list"} {
		for flag, taken := range map[string]bool{
			"--database-url": true, "--temporal": false, "--timing": false, "--stripe-url": false, "--max-conns": false, "--keyset-file": false,
		} {
			parser, err := newParser(t.Context(), &cli{})
			require.NoError(t, err)
			_, err = parser.Parse(append(strings.Fields(command), "--database-url", "postgres://db.example/payonce", flag, "x"))
			require.Equal(t, taken, err == nil, "%s %s: %v", command, flag, err)
		}
	}
}

var shop = payments.Account{ID: "acct_shop"}

// office is a database with an account and a tenant, and the commands that look after it.
type office struct {
	t      *testing.T
	db     *pg.Database
	system *pgxpool.Pool
	sealer *seal.Sealer
	keyset string // a file
	tenant payments.TenantID
}

func openOffice(t *testing.T) *office {
	t.Helper()
	o := &office{t: t, db: pg.NewDatabase(t)}
	var err error
	o.system, err = pgxpool.New(t.Context(), o.db.SystemURL)
	require.NoError(t, err)
	t.Cleanup(o.system.Close)
	keyset, err := seal.NewKeyset()
	require.NoError(t, err)
	o.keyset = file(t, string(keyset))
	o.sealer, err = seal.New(keyset)
	require.NoError(t, err)
	require.NoError(t, tenants.CreateAccount(t.Context(), o.system, o.sealer, shop, "sk_test_old", nil))
	o.tenant, err = tenants.CreateTenant(t.Context(), o.system, "shop", shop)
	require.NoError(t, err)
	return o
}

func (o *office) arguments(arguments ...string) []string {
	return append(arguments, "--database-url", o.db.OwnerURL)
}

// try runs a command and returns what a list printed.
func (o *office) try(arguments ...string) (string, error) {
	o.t.Helper()
	parser, err := newParser(o.t.Context(), &cli{})
	require.NoError(o.t, err)
	parsed, err := parser.Parse(o.arguments(arguments...))
	require.NoError(o.t, err)
	var out bytes.Buffer
	parsed.BindTo(&out, (*io.Writer)(nil))
	err = parsed.Run()
	return out.String(), err
}

func (o *office) run(arguments ...string) string {
	o.t.Helper()
	out, err := o.try(arguments...)
	require.NoError(o.t, err)
	return out
}

// read runs a list for programs.
func (o *office) read(into any, arguments ...string) {
	o.t.Helper()
	require.NoError(o.t, json.Unmarshal([]byte(o.run(append(arguments, "--json")...)), into))
}

func (o *office) refused(arguments ...string) error {
	o.t.Helper()
	_, err := o.try(arguments...)
	require.Error(o.t, err)
	return err
}

// file is the path of a file with the text.
func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}
