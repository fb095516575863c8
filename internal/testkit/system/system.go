// Package system gives a test the whole of payonce: a database of its own, a Stripe twin, the API with the webhooks on a port of its own,
// the worker with the recovery loops and the dispatcher, and a receiver of messages. Everything is real but the distance.
//
// It imports internal/app, the twin and the other test kits. Its Close checks the money invariants, so that every test ends with them.
package system

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"payonce/internal/app"
	"payonce/internal/seal"
	"payonce/internal/tenants"
	"payonce/internal/testkit/pg"
	"payonce/internal/testkit/temporal"
	"payonce/internal/timing"
	"payonce/notifications"
	"payonce/payments"
	"payonce/stripesim"
	"payonce/stripesim/control"
)

// Secrets of the test's Stripe account.
const (
	AccountID     = "acct_merchant"
	SecretKey     = "sk_test_merchant"
	WebhookSecret = "whsec_test_signing_secret"
)

// System is a running payonce with its surroundings.
type System struct {
	DB       *pg.Database
	Config   app.Config
	App      *app.App // of the newest worker or API started; for looking, and for calling what a process would call
	Twin     *control.Client
	TwinURL  string
	Receiver *Receiver
	Tenant   payments.TenantID
	APIKey   string
	URL      string        // of the API, once it is served
	Door     string        // where Stripe sends its events for the newest API
	HTTP     *http.Client  // carries the test's requests to payonce
	Times    int           // how often each POST to payonce is sent, Stripe's included: once, or twice (see TwiceVariable)
	Owner    *pgxpool.Pool // for looking at everything

	t testing.TB
}

// Option changes the configuration before anything starts.
type Option func(*app.Config)

// New builds the surroundings and a tenant with one receiver; nothing of payonce runs yet.
func New(t testing.TB, options ...Option) *System {
	t.Helper()
	s := &System{t: t, DB: pg.NewDatabase(t)}
	s.HTTP, s.Times = carrier(t)
	s.Owner = s.pool(s.DB.OwnerURL)
	s.startTwin()
	s.Receiver = newReceiver(t)
	keyset, err := seal.NewKeyset()
	require.NoError(t, err)
	s.Config = app.Config{
		DatabaseURL: s.DB.OwnerURL, TenantDatabaseURL: s.DB.TenantURL, SystemDatabaseURL: s.DB.SystemURL,
		TemporalAddress: temporal.Address(t), TemporalNamespace: "payonce", TaskQueue: temporal.TaskQueue(t),
		StripeURL: s.TwinURL, Keyset: keyset, AllowedLoopback: []string{s.Receiver.Address()}, Timing: timing.Quick(), MaxConns: 8,
	}
	s.Config.Timing.StoreEvent = 30 * time.Second // no test is about being slow, and a machine may be
	for _, option := range options {
		option(&s.Config)
	}
	s.App = s.Open()
	s.provision()
	t.Cleanup(s.check)
	return s
}

// Start is New with the API and the worker running in one process.
func Start(t testing.TB, options ...Option) *System {
	t.Helper()
	s := New(t, options...)
	s.StartAPI()
	s.StartWorker()
	return s
}

// Open builds another process's worth of payonce on the same surroundings; it is closed after the test.
func (s *System) Open() *app.App {
	s.t.Helper()
	built, err := app.Open(s.t.Context(), s.Config, Log())
	require.NoError(s.t, err)
	s.t.Cleanup(built.Close)
	return built
}

// Stop ends a part that was started.
type Stop func()

// StartAPI serves the API of s.App.
func (s *System) StartAPI() Stop {
	s.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(s.t, err)
	s.URL = "http://" + listener.Addr().String()
	s.Door = s.doorOf(s.URL)
	_, err = s.Twin.AddEndpoint(s.t.Context(), control.Endpoint{
		ID: "we_payonce", URL: s.Door, Secret: WebhookSecret, Account: AccountID,
	})
	require.NoError(s.t, err)
	served := s.App // a test may put another process's in its place
	stop := s.run(func(ctx context.Context) error { return served.Serve(ctx, listener) })
	s.awaitServed()
	return stop
}

// awaitServed waits until the API answers: a request waits in the listener until then.
func (s *System) awaitServed() {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.URL+"/healthz", nil)
	require.NoError(s.t, err)
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	require.NoError(s.t, err)
	require.NoError(s.t, response.Body.Close())
}

// StartWorker runs the worker, the loops and the dispatcher of s.App.
func (s *System) StartWorker() Stop {
	s.t.Helper()
	worked := s.App
	return s.run(func(ctx context.Context) error { return worked.Work(ctx, true) })
}

// run runs a part until it is stopped, at the latest after the test.
func (s *System) run(part func(context.Context) error) Stop {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- part(ctx) }()
	var once sync.Once
	stop := func() {
		once.Do(func() {
			cancel()
			require.NoError(s.t, <-done)
		})
	}
	s.t.Cleanup(stop)
	return stop
}

func (s *System) pool(url string) *pgxpool.Pool {
	s.t.Helper()
	pool, err := pgxpool.New(s.t.Context(), url)
	require.NoError(s.t, err)
	s.t.Cleanup(pool.Close)
	return pool
}

func (s *System) startTwin() {
	s.t.Helper()
	clock, err := stripesim.NewDatabaseClock(s.t.Context(), s.DB.TwinURL, Log())
	require.NoError(s.t, err)
	twin, err := stripesim.New(stripesim.Config{Clock: clock, RetryScale: 0.01})
	require.NoError(s.t, err)
	server := httptest.NewServer(twin.Handler())
	s.t.Cleanup(func() {
		require.NoError(s.t, twin.Close()) // first, since it lets go whom a failed test still holds
		server.CloseClientConnections()
		server.Close()
		clock.Close()
	})
	s.TwinURL = server.URL
	s.Twin = control.NewClient(server.URL, &http.Client{Timeout: 30 * time.Second})
}

func (s *System) provision() {
	s.t.Helper()
	ctx := s.t.Context()
	account := payments.Account{ID: AccountID}
	require.NoError(s.t, tenants.CreateAccount(ctx, s.App.System, s.App.Sealer, account, SecretKey, []string{WebhookSecret}))
	s.LimitCalls(1000)
	s.Tenant, s.APIKey = s.NewTenant("merchant")
	s.AddReceiver(s.Tenant, s.Receiver)
}

// NewTenant creates a further tenant of the same account and an API key of it.
func (s *System) NewTenant(name string) (payments.TenantID, string) {
	s.t.Helper()
	tenant, err := tenants.CreateTenant(s.t.Context(), s.App.System, name, payments.Account{ID: AccountID})
	require.NoError(s.t, err)
	key, err := tenants.CreateAPIKey(s.t.Context(), s.App.System, tenant, tenants.ScopeRead, tenants.ScopeWrite)
	require.NoError(s.t, err)
	return tenant, key
}

// AddReceiver registers a receiver for the tenant's messages.
func (s *System) AddReceiver(tenant payments.TenantID, receiver *Receiver) {
	s.t.Helper()
	addresses, err := notifications.NewAddresses([]string{receiver.Address()}, nil)
	require.NoError(s.t, err)
	_, secret, err := notifications.Create(s.t.Context(), s.App.System, s.App.Sealer, addresses, tenant, receiver.URL())
	require.NoError(s.t, err)
	receiver.secret = secret
}

// Log is the log of the systems in tests: silent unless PAYONCE_TEST_LOG is set.
func Log() *slog.Logger {
	if os.Getenv("PAYONCE_TEST_LOG") == "" {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
