package arrows_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Libraries that only some may know.
const (
	pgx      = "github.com/jackc/pgx/v5/..."
	stripeGo = "github.com/stripe/stripe-go/..."
	temporal = "go.temporal.io/..."
)

// doctor is the outsider who compares the engine's books with Stripe's.
const doctor = "payonce/recovery/doctor/..."

// arrows are the forbidden imports beside the order of the layers.
var arrows = []arrow{
	{
		from: []string{"payonce/payments/..."}, never: []string{"payonce/...", pgx, stripeGo, temporal, "database/sql/..."},
		but:    []string{"payonce/payments/..."},
		reason: "the words of the field depend on nothing, so that everything can say them",
	},
	{
		from: []string{"payonce/workflows/..."}, never: []string{pgx, "database/sql/...", "net/http/...", "net"},
		reason: "workflow code is replayed: it decides, and activities act",
	},
	{
		from: []string{"payonce/workflows/..."}, never: []string{"payonce/internal/postgres/...", "payonce/internal/stripeapi/...", "payonce/api/..."},
		reason: "workflow code is replayed: what reaches Postgres, Stripe or a caller is an activity's",
	},
	{
		from: []string{"payonce/webhooks/..."}, never: []string{"payonce/ledger/...", "payonce/workflows/...", "payonce/activities/..."},
		reason: "an event is a hint: it is verified, stored and answered within two seconds, and what it means is decided later by apply",
	},
	{
		from: []string{"payonce/api/...", "payonce/webhooks/..."}, never: []string{temporal},
		reason: "an HTTP package knows small interfaces: with Temporal down, commands and events are still taken",
	},
	{
		from: []string{"payonce/api/..."}, never: []string{"payonce/internal/stripeapi/..."},
		reason: "a handler never calls Stripe: a closed connection must not end the work",
	},
	{
		from:   []string{"payonce/boundaries/...", "payonce/ledger/..."},
		never:  []string{temporal, "payonce/internal/stripeapi/...", "net/http/..."},
		reason: "the protocol and the books are Postgres alone: they say who may act and what was done, not how",
	},
	{
		from: []string{"payonce/notifications/..."}, never: []string{temporal, "payonce/internal/stripeapi/..."},
		reason: "the dispatcher works in the worker process, without Temporal, so that messages do not wait for it",
	},
	{
		from: []string{"payonce/..."}, except: []string{"payonce/internal/stripeapi/...", "payonce/stripesim/..."}, tests: true, never: []string{stripeGo},
		reason: "one package speaks Stripe's client, so that no call goes out without our key and the frozen bytes",
	},
	{
		from: []string{"payonce/stripesim/..."}, never: []string{stripeGo},
		reason: "the twin is written from Stripe's facts; only its tests may use the client, to see that it decodes",
	},
	{
		from: []string{"payonce/stripesim/...", "payonce/cmd/stripesim/..."}, never: []string{"payonce/..."},
		but:    []string{"payonce/stripesim/..."},
		reason: "a twin that shared a type with the engine would share its mistakes",
	},
	{
		from: []string{"payonce/stripesim/...", "payonce/cmd/stripesim/..."}, tests: true, never: []string{"payonce/..."},
		but:    []string{"payonce/stripesim/...", "payonce/internal/testkit/..."},
		reason: "the tests of the twin may use the test stack and nothing of the engine",
	},
	{
		from: []string{"payonce/..."}, except: append([]string{"payonce/stripesim/...", doctor}, tops...), never: []string{"payonce/stripesim/..."},
		reason: "the engine cannot tell the twin from Stripe",
	},
	{
		from: []string{doctor}, never: []string{"payonce/stripesim/..."}, but: []string{"payonce/stripesim/control/..."},
		reason: "the doctor reads the twin's books from outside, over HTTP",
	},
	{
		from: []string{"payonce/..."}, except: append([]string{doctor}, tops...), never: []string{doctor},
		reason: "what is checked must not use what checks it",
	},
	{
		from: []string{"payonce/..."}, except: tops, never: []string{"payonce/internal/app/..."},
		reason: "the whole is put together once, at the top",
	},
	{
		from: []string{"payonce/..."}, except: []string{"payonce/internal/testkit/..."}, never: []string{"payonce/internal/testkit/..."},
		reason: "what the product does must not hang on what tests need",
	},
	{
		from: []string{"payonce/..."}, except: []string{"payonce/internal/testkit/..."},
		never: []string{
			"testing/...", "github.com/stretchr/testify/...", "go.uber.org/goleak/...", "pgregory.net/rapid/...", "go.temporal.io/sdk/testsuite/...",
			"github.com/google/go-cmp/...", "net/http/httptest/...",
		},
		reason: "tests do not ship",
	},
	{
		from: []string{"payonce/internal/clock/...", "payonce/internal/strictjson/...", "payonce/internal/together/..."}, never: []string{"payonce/..."},
		reason: "it is used by every layer and knows none",
	},
	{
		from: []string{"payonce/internal/budget/..."}, never: []string{temporal, "payonce/internal/stripeapi/...", "payonce/boundaries/...", "net/http/..."},
		reason: "the limit of an account is shared by all processes through Postgres alone, and knows nothing of what is sent",
	},
	{
		from: []string{"payonce/client/..."}, never: []string{pgx, temporal, "payonce/internal/postgres/..."},
		reason: "a checkout backend links it and has neither our database nor our Temporal",
	},
	{
		from: []string{"payonce/..."}, tests: true, never: []string{"go.temporal.io/server/..."},
		reason: "the server does not compile with our SDK and has its own module, cmd/temporal-dev",
	},
	{
		from: []string{"payonce/..."}, except: []string{"payonce/internal/postgres/..."}, tests: true, never: []string{"github.com/pressly/goose/..."},
		reason: "one package migrates, so that template, tests and production get the same schema",
	},
	{
		from: []string{"payonce/..."}, except: []string{"payonce/internal/seal/..."}, tests: true, never: []string{"github.com/tink-crypto/..."},
		reason: "one package seals, so that no column is sealed in a second way",
	},
	{
		from: []string{"payonce/..."}, except: []string{"payonce/api/..."}, never: []string{"github.com/danielgtaylor/huma/..."},
		reason: "the HTTP framework is the API's; the webhook door needs the raw bytes",
	},
	{
		from: []string{"payonce/..."}, except: []string{"payonce/cmd/..."}, never: []string{"github.com/alecthomas/kong/..."},
		reason: "flags end in main: the system is a value that is built from a Config",
	},
	{
		from: []string{"payonce/..."}, except: []string{"payonce/stripesim/..."}, tests: true, never: []string{"go.etcd.io/bbolt/..."},
		reason: "the engine keeps everything in Postgres",
	},
	{
		from: []string{"payonce/..."}, never: []string{"log", "github.com/lib/pq/..."},
		reason: "one way to log (slog) and one driver (pgx)",
	},
}

func TestNoPackageImportsWhatItMustNotKnow(t *testing.T) {
	found := violations(readTree(t), slices.Concat(layerArrows(), arrows))
	require.Empty(t, found, "forbidden imports:\n%s", strings.Join(found, "\n"))
}

func TestEveryPackageHasItsPlace(t *testing.T) {
	places := slices.Concat(layers, []string{"payonce/internal/...", "payonce/cmd/...", "payonce/stripesim/..."})
	for _, file := range readTree(t) {
		if file.product && !file.test && file.pkg != module {
			require.True(t, matches(places, file.pkg), "%s: %s is in no layer: say where it stands in layers_test.go", file.path, file.pkg)
		}
	}
}

// Every arrow is shot at a tree that breaks it: a rule that cannot fail holds nothing.
func TestEveryArrowFindsAFileThatBreaksIt(t *testing.T) {
	for _, rule := range slices.Concat(layerArrows(), arrows) {
		require.NotEmpty(t, rule.reason)
		for _, from := range rule.from {
			for _, never := range rule.never {
				pkg, imported := exampleOf(from), exampleOf(never)
				broken := []file{{path: "x.go", pkg: pkg, product: true, imports: []string{"fmt", imported}}}
				require.Equal(t, []string{"x.go imports " + imported + ": " + rule.reason}, violations(broken, []arrow{rule}))

				broken[0].imports = []string{"fmt"}
				require.Empty(t, violations(broken, []arrow{rule}))
			}
		}
	}
}

func TestAnArrowSparesWhatItExcepts(t *testing.T) {
	rule := []arrow{{
		from: []string{"payonce/..."}, except: []string{"payonce/cmd/..."},
		never: []string{"payonce/ledger/..."}, but: []string{"payonce/ledger/words"}, reason: "r",
	}}
	for _, tc := range []struct {
		file  file
		found int
	}{
		{file{pkg: "payonce/api", product: true, imports: []string{"payonce/ledger"}}, 1},
		{file{pkg: "payonce/api", product: true, imports: []string{"payonce/ledger/deep"}}, 1},
		{file{pkg: "payonce/api", product: true, imports: []string{"payonce/ledgers"}}, 0},
		{file{pkg: "payonce/api", product: true, imports: []string{"payonce/ledger/words"}}, 0},
		{file{pkg: "payonce/cmd/payonce", product: true, imports: []string{"payonce/ledger"}}, 0},
		{file{pkg: "payonce/cmds", product: true, imports: []string{"payonce/ledger"}}, 1},
		{file{pkg: "payonce/api", product: true, test: true, imports: []string{"payonce/ledger"}}, 0},
		{file{pkg: "payonce/ledger", product: true, test: true, imports: []string{"payonce/ledger"}}, 0},
		{file{pkg: "payonce/api", product: false, imports: []string{"payonce/ledger"}}, 0},
	} {
		require.Len(t, violations([]file{tc.file}, rule), tc.found, "%+v", tc.file)
	}
	rule[0].tests = true
	require.Len(t, violations([]file{{pkg: "payonce/api", product: true, test: true, imports: []string{"payonce/ledger"}}}, rule), 1)
}

// exampleOf is a package that a pattern means and that no exception spares.
func exampleOf(pattern string) string {
	if above, tree := strings.CutSuffix(pattern, "/..."); tree {
		return above + "/example"
	}
	return pattern
}
