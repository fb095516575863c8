package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"payonce/api"
	"payonce/boundaries"
	"payonce/internal/postgres"
	"payonce/internal/seal"
	"payonce/internal/tenants"
	"payonce/internal/testkit/pg"
	"payonce/internal/timing"
	"payonce/payments"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// door is the API on a fresh database with a scripted command boundary, and a caller in front of it.
type door struct {
	t        *testing.T
	url      string
	db       *pg.Database
	pool     *pgxpool.Pool
	system   *pgxpool.Pool
	tenant   payments.TenantID
	key      string // of both scopes
	commands *commands
	waker    *waker
	log      *locked
	requests chan context.Context // of each request, as the server has it
}

func newDoor(t *testing.T, configure ...func(*api.Config)) *door {
	t.Helper()
	d := &door{t: t, db: pg.NewDatabase(t), commands: newCommands(), waker: &waker{}, log: &locked{}, requests: make(chan context.Context, 1)}
	d.pool, d.system = d.open(d.db.TenantURL), d.open(d.db.SystemURL)
	keyset, err := seal.NewKeyset()
	require.NoError(t, err)
	sealer, err := seal.New(keyset)
	require.NoError(t, err)
	account := payments.Account{ID: "acct_shop"}
	require.NoError(t, tenants.CreateAccount(t.Context(), d.system, sealer, account, "sk_test_shop", nil))
	d.tenant, err = tenants.CreateTenant(t.Context(), d.system, "shop", account)
	require.NoError(t, err)
	d.key = d.newKey(d.tenant, tenants.ScopeRead, tenants.ScopeWrite)
	config := api.Config{
		Pool: d.pool, Sealer: sealer, Commands: d.commands, Waker: d.waker, Timing: timing.Production(),
		Ready: func(context.Context) error { return nil }, BodyWithin: time.Minute, Log: slog.New(slog.NewTextHandler(d.log, nil)),
	}
	for _, change := range configure {
		change(&config)
	}
	handler, err := api.New(config)
	require.NoError(t, err)
	seen := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case d.requests <- r.Context():
		default:
		}
		handler.ServeHTTP(w, r)
	})
	server := httptest.NewUnstartedServer(seen)
	server.Config = api.NewServer(seen, config.Timing, slog.New(slog.DiscardHandler))
	server.Start()
	t.Cleanup(server.Close)
	d.url = server.URL
	return d
}

func (d *door) open(url string) *pgxpool.Pool {
	pool, err := postgres.Open(d.t.Context(), postgres.PoolConfig{
		URL: url, MaxConns: 4, StatementTimeout: time.Minute, LockTimeout: time.Minute, IdleTransactionTimeout: time.Minute,
	})
	require.NoError(d.t, err)
	d.t.Cleanup(pool.Close)
	return pool
}

func (d *door) newKey(tenant payments.TenantID, scopes ...tenants.Scope) string {
	key, err := tenants.CreateAPIKey(d.t.Context(), d.system, tenant, scopes...)
	require.NoError(d.t, err)
	return key
}

// newPayment inserts a submitted payment of the tenant.
func (d *door) newPayment(tenant payments.TenantID) payments.PaymentID {
	id := payments.PaymentID{UUID: uuid.New()}
	_, err := d.pool.Exec(d.t.Context(), `INSERT INTO payonce.payments (id, tenant, reference, attempt, account, livemode, amount, currency,
			capture_method, status, stage, submitted_at, last_command, created_at, updated_at)
		SELECT $1, $2, $3, 1, 'acct_shop', false, 1000, 'usd', 'automatic', 'submitted', 'submitted', now, 1, now, now
		FROM (SELECT payonce.clock() AS now) at`, id.UUID, tenant.UUID, id.String())
	require.NoError(d.t, err)
	return id
}

// answer is what a caller got.
type answer struct {
	status int
	header http.Header
	body   string
}

func (a answer) problem(t *testing.T) api.Problem {
	t.Helper()
	require.Equal(t, "application/problem+json", a.header.Get("Content-Type"), a.body)
	var problem api.Problem
	require.NoError(t, json.Unmarshal([]byte(a.body), &problem))
	require.Equal(t, a.status, problem.Status)
	require.Equal(t, "urn:payonce:problem:"+problem.Code, problem.Type)
	require.NotEmpty(t, problem.Title)
	return problem
}

// send sends a request as the door's caller would, changed as the test wants it.
func (d *door) send(method, path, body string, changes ...func(*http.Request)) answer {
	d.t.Helper()
	request, err := http.NewRequestWithContext(context.Background(), method, d.url+path, strings.NewReader(body))
	require.NoError(d.t, err)
	request.Header.Set("Authorization", "Bearer "+d.key)
	for _, change := range changes {
		change(request)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	require.NoError(d.t, err)
	defer func() { require.NoError(d.t, response.Body.Close()) }()
	got, err := io.ReadAll(response.Body)
	require.NoError(d.t, err)
	require.Regexp(d.t, `^req_[0-9a-f-]{36}$`, response.Header.Get("Request-Id"), "every answer has an id")
	return answer{response.StatusCode, response.Header, string(got)}
}

// order is a create that nothing is wrong with.
const order = `{"reference":"order-1","amount":1000,"currency":"usd","payment_method":"pm_card_visa"}`

// create posts a body with a key.
func (d *door) create(body string, changes ...func(*http.Request)) answer {
	d.t.Helper()
	return d.send(http.MethodPost, "/v1/payments", body, append([]func(*http.Request){with("Idempotency-Key", "k1")}, changes...)...)
}

func with(name string, values ...string) func(*http.Request) {
	return func(r *http.Request) { r.Header[http.CanonicalHeaderKey(name)] = values }
}

// commands is a scripted command boundary.
type commands struct {
	mutex  sync.Mutex
	claims []claimed
	during func(ctx context.Context) // what happens while a claim is made
	claim  func() (boundaries.Claim, error)
	await  func(ctx context.Context) (*boundaries.Answer, error)
	left   chan left
}

// receive is the next value of a channel; a test fails that waits for it in vain.
func receive[V any](t *testing.T, values <-chan V) V {
	t.Helper()
	const patience = 20 * time.Second
	select {
	case value := <-values:
		return value
	case <-time.After(patience):
		require.Fail(t, "nothing came")
		panic("unreachable")
	}
}

// left is what the boundary was told when a caller left, and whether the context was still good.
type left struct {
	claim boundaries.Claim
	ctx   error
}

// claimed is what the boundary was asked.
type claimed struct {
	tenant      payments.TenantID
	key         boundaries.CallerKey
	command     any
	normalised  boundaries.Normalised
	attendedFor time.Duration
}

func newCommands() *commands {
	return &commands{left: make(chan left, 10), during: func(context.Context) {}}
}

func (c *commands) ClaimCreate(ctx context.Context, asking boundaries.Asking, command payments.CreateCommand) (boundaries.Claim, error) {
	return c.asks(ctx, claimed{asking.Tenant, asking.Key, command, asking.Normalised, asking.AttendedFor})
}

func (c *commands) ClaimConfirm(ctx context.Context, asking boundaries.Asking, command payments.ConfirmCommand) (boundaries.Claim, error) {
	return c.asks(ctx, claimed{asking.Tenant, asking.Key, command, asking.Normalised, asking.AttendedFor})
}

func (c *commands) ClaimCancel(ctx context.Context, asking boundaries.Asking, command payments.CancelCommand) (boundaries.Claim, error) {
	return c.asks(ctx, claimed{asking.Tenant, asking.Key, command, asking.Normalised, asking.AttendedFor})
}

func (c *commands) ClaimCapture(ctx context.Context, asking boundaries.Asking, command payments.CaptureCommand) (boundaries.Claim, error) {
	return c.asks(ctx, claimed{asking.Tenant, asking.Key, command, asking.Normalised, asking.AttendedFor})
}

func (c *commands) ClaimRefund(ctx context.Context, asking boundaries.Asking, command payments.RefundCommand) (boundaries.Claim, error) {
	return c.asks(ctx, claimed{asking.Tenant, asking.Key, command, asking.Normalised, asking.AttendedFor})
}

func (c *commands) ClaimProvision(ctx context.Context, asking boundaries.Asking, command payments.ProvisionCommand) (boundaries.Claim, error) {
	return c.asks(ctx, claimed{asking.Tenant, asking.Key, command, asking.Normalised, asking.AttendedFor})
}

func (c *commands) ClaimPayout(ctx context.Context, asking boundaries.Asking, command payments.PayoutCommand) (boundaries.Claim, error) {
	return c.asks(ctx, claimed{asking.Tenant, asking.Key, command, asking.Normalised, asking.AttendedFor})
}

func (c *commands) asks(ctx context.Context, claim claimed) (boundaries.Claim, error) {
	c.during(ctx)
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.claims = append(c.claims, claim)
	return c.claim()
}

func (c *commands) Await(ctx context.Context, _ boundaries.Claim, begin func()) (*boundaries.Answer, error) {
	begin()
	return c.await(ctx)
}

func (c *commands) Leave(ctx context.Context, claim boundaries.Claim) error {
	c.left <- left{claim, ctx.Err()}
	return nil
}

// asked is the one claim that was made.
func (c *commands) asked(t *testing.T) claimed {
	t.Helper()
	c.mutex.Lock()
	defer c.mutex.Unlock()
	require.Len(t, c.claims, 1)
	return c.claims[0]
}

func (c *commands) count() int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return len(c.claims)
}

// answersWith scripts the claim.
func (c *commands) answersWith(claim boundaries.Claim, err error) {
	c.claim = func() (boundaries.Claim, error) { return claim, err }
}

// never is an outcome that does not come.
func never(ctx context.Context) (*boundaries.Answer, error) {
	<-ctx.Done()
	return nil, nil
}

// waker counts wake-ups.
type waker struct {
	mutex sync.Mutex
	woken []payments.PaymentID
	fails error
}

func (w *waker) Wake(_ context.Context, claim boundaries.Claim) error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.woken = append(w.woken, claim.Payment)
	return w.fails
}

// How long the log line of a request, written after its answer, is awaited.
const (
	waitForLog = 10 * time.Second
	pollLog    = time.Millisecond
)

// locked is a log of several goroutines.
type locked struct {
	mutex sync.Mutex
	lines bytes.Buffer
}

func (l *locked) Write(line []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.lines.Write(line)
}

func (d *door) logged() string {
	d.log.mutex.Lock()
	defer d.log.mutex.Unlock()
	return d.log.lines.String()
}
