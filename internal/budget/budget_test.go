package budget_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"payonce/internal/budget"
	"payonce/internal/seal"
	"payonce/internal/tenants"
	"payonce/internal/testkit/pg"
	"payonce/payments"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	hourly    = 1.0 / 3600 // calls a second
	unlimited = 10_000.0
	long      = 24 * time.Hour // longer than any test runs
	brief     = time.Minute    // enough for a look at the buckets, and no time beside an hour
)

var shop = payments.Account{ID: "acct_shop"}

// world is a database with one account.
type world struct {
	*pg.Database
	t    *testing.T
	pool *pgxpool.Pool
}

func start(t *testing.T, perSecond, perEndpoint float64) *world {
	t.Helper()
	w := &world{t: t, Database: pg.NewDatabase(t)}
	w.pool = w.open()
	keyset, err := seal.NewKeyset()
	require.NoError(t, err)
	sealer, err := seal.New(keyset)
	require.NoError(t, err)
	require.NoError(t, tenants.CreateAccount(t.Context(), w.pool, sealer, shop, "sk_test_shop", nil))
	w.limit(perSecond, perEndpoint)
	return w
}

func (w *world) open() *pgxpool.Pool {
	w.t.Helper()
	pool, err := pgxpool.New(w.t.Context(), w.SystemURL)
	require.NoError(w.t, err)
	w.t.Cleanup(pool.Close)
	return pool
}

func (w *world) limit(perSecond, perEndpoint float64) {
	w.t.Helper()
	require.NoError(w.t, tenants.LimitCalls(w.t.Context(), w.pool, shop, &perSecond, &perEndpoint))
}

func call(endpoint budget.Endpoint, priority budget.Priority) budget.Call {
	return budget.Call{Account: shop, Endpoint: endpoint, Priority: priority}
}

// goes requires that a live call goes, or that it is sent away, and returns for how long.
func (w *world) goes(b *budget.Budget, endpoint budget.Endpoint, want bool) time.Duration {
	w.t.Helper()
	pause, err := b.Take(w.t.Context(), call(endpoint, budget.Live), brief)
	require.NoError(w.t, err)
	require.Equal(w.t, want, pause == 0, "sent away for %s", pause)
	return pause
}

// wait has a call wait beside the test until it goes; the channel tells that it does.
func (w *world) wait(ctx context.Context, b *budget.Budget, c budget.Call) <-chan error {
	w.t.Helper()
	before := b.Waiting(c.Account)
	done := make(chan error, 1)
	go func() {
		_, err := b.Take(ctx, c, long)
		done <- err
	}()
	require.Eventually(w.t, func() bool { return b.Waiting(c.Account) == before+1 }, time.Minute, time.Millisecond)
	return done
}

func TestACallBeyondTheRateIsSentAwayUntilTheClockSaysThatItMayGo(t *testing.T) {
	t.Parallel()
	w := start(t, hourly, unlimited)
	b := budget.New(w.pool)
	w.goes(b, budget.CreateIntent, true)
	pause := w.goes(b, budget.CreateIntent, false)
	require.LessOrEqual(t, pause, time.Hour)
	require.Greater(t, pause, 50*time.Minute)
	w.AdvanceClock(t, 50*time.Minute)
	require.LessOrEqual(t, w.goes(b, budget.CreateIntent, false), 10*time.Minute)
	w.AdvanceClock(t, 10*time.Minute)
	w.goes(b, budget.CreateIntent, true)
	w.goes(b, budget.CreateIntent, false)
	w.AdvanceClock(t, 100*time.Hour)
	w.goes(b, budget.CreateIntent, true)
	w.goes(b, budget.CreateIntent, false) // rest is not saved up
}

func TestTheAccountsLimitAndTheEndpointsBothHold(t *testing.T) {
	t.Parallel()
	w := start(t, unlimited, hourly)
	b := budget.New(w.pool)
	w.goes(b, budget.CreateIntent, true)
	w.goes(b, budget.CreateIntent, false)
	w.goes(b, budget.ConfirmIntent, true)
	w.goes(b, budget.ConfirmIntent, false)
	w.limit(hourly, unlimited)
	w.AdvanceClock(t, time.Hour)
	w.goes(b, budget.CreateIntent, true)
	w.goes(b, budget.CancelIntent, false)
}

func TestProcessesShareOneBucketAndModesDoNot(t *testing.T) {
	t.Parallel()
	w := start(t, hourly, hourly)
	one, other := budget.New(w.pool), budget.New(w.open())
	w.goes(one, budget.CreateIntent, true)
	w.goes(other, budget.CreateIntent, false)
	w.AdvanceClock(t, time.Hour)
	w.goes(other, budget.CreateIntent, true)
	w.goes(one, budget.CreateIntent, false)

	keyset, err := seal.NewKeyset()
	require.NoError(t, err)
	sealer, err := seal.New(keyset)
	require.NoError(t, err)
	live := payments.Account{ID: shop.ID, Livemode: true}
	require.NoError(t, tenants.CreateAccount(t.Context(), w.pool, sealer, live, "sk_live_shop", nil))
	pause, err := one.Take(t.Context(), budget.Call{Account: live, Endpoint: budget.CreateIntent, Priority: budget.Live}, brief)
	require.NoError(t, err)
	require.Zero(t, pause)
}

func TestTheMostUrgentThatWaitsGoesFirst(t *testing.T) {
	t.Parallel()
	w := start(t, hourly, hourly)
	b := budget.New(w.pool)
	w.goes(b, budget.ReadIntent, true)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	backlog := w.wait(ctx, b, call(budget.CreateIntent, budget.Backlog))
	first := w.wait(ctx, b, call(budget.CreateIntent, budget.Live))
	second := w.wait(ctx, b, call(budget.CreateIntent, budget.Live))
	gives := w.wait(ctx, b, call(budget.CancelIntent, budget.GivesBack))
	for i, next := range []<-chan error{gives, first, second, backlog} {
		require.Equal(t, 4-i, b.Waiting(shop))
		w.AdvanceClock(t, time.Hour)
		require.NoError(t, <-next)
	}
}

func TestACallerThatLeavesHoldsUpNobody(t *testing.T) {
	t.Parallel()
	w := start(t, hourly, hourly)
	b := budget.New(w.pool)
	w.goes(b, budget.CreateIntent, true)
	ctx, cancel := context.WithCancel(t.Context())
	left := w.wait(ctx, b, call(budget.CreateIntent, budget.GivesBack))
	stays := w.wait(t.Context(), b, call(budget.CreateIntent, budget.Live))
	cancel()
	require.ErrorIs(t, <-left, context.Canceled)
	w.AdvanceClock(t, time.Hour)
	require.NoError(t, <-stays)
}

// The bucket is set by hand, since time refills one of this size while the test runs.
func TestBacklogLeavesAShareToWhatIsLive(t *testing.T) {
	t.Parallel()
	w := start(t, hourly, hourly)
	for _, tc := range []struct {
		tokens  float64
		reserve float64
		goes    bool
	}{{11, 0.5, true}, {10, 0.5, false}, {5.75, 0.25, true}, {5.7, 0.25, false}, {1, 0, true}, {0.9, 0, false}} {
		var granted int
		require.NoError(t, w.pool.QueryRow(t.Context(), `
			WITH set AS (
				INSERT INTO payonce.call_buckets AS b (account, livemode, endpoint, tokens, refilled_at)
				VALUES ($1, false, '', $2, payonce.clock()), ($1, false, 'create', $2, payonce.clock())
				ON CONFLICT (account, livemode, endpoint) DO UPDATE SET tokens = excluded.tokens, refilled_at = excluded.refilled_at RETURNING 1)
			SELECT count(*) FROM set`, shop.ID, tc.tokens).Scan(&granted))
		// A bucket of an hourly rate holds 20 calls when it holds 72,000 seconds' worth.
		require.NoError(t, w.pool.QueryRow(t.Context(), `SELECT granted FROM payonce.take_calls($1, false, 'create', $2, 72000, 0)`,
			shop.ID, tc.reserve).Scan(&granted))
		require.Equal(t, tc.goes, granted == 1, "%+v", tc)
	}
}

func TestARaisedRateIsSeenByWhoWaits(t *testing.T) {
	t.Parallel()
	w := start(t, hourly, hourly)
	b := budget.New(w.pool)
	w.goes(b, budget.CreateIntent, true)
	waits := w.wait(t.Context(), b, call(budget.CreateIntent, budget.Live))
	w.limit(unlimited, unlimited)
	require.NoError(t, <-waits)
}

func TestACallOfAnUnknownAccountIsRefused(t *testing.T) {
	t.Parallel()
	w := start(t, unlimited, unlimited)
	_, err := budget.New(w.pool).Take(t.Context(), budget.Call{Account: payments.Account{ID: "acct_nobody"}, Endpoint: budget.CreateIntent}, brief)
	require.ErrorContains(t, err, "acct_nobody")
}
