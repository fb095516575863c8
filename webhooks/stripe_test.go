package webhooks_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"payonce/boundaries"
	"payonce/internal/clock"
	"payonce/internal/postgres"
	"payonce/internal/seal"
	"payonce/internal/tenants"
	"payonce/internal/testkit/pg"
	"payonce/payments"
	"payonce/webhooks"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	shop   = payments.Account{ID: "acct_shop", Livemode: false}
	market = payments.Account{ID: "acct_market", Livemode: true}
)

// endpoint is POST /webhooks/stripe on a fresh database, with the sender's view of it.
type endpoint struct {
	t       *testing.T
	url     string
	pool    *pgxpool.Pool
	sealer  *seal.Sealer
	handler *webhooks.Handler
	nudges  chan struct{}
}

func newEndpoint(t *testing.T, configure ...func(*webhooks.Config)) *endpoint {
	t.Helper()
	keyset, err := seal.NewKeyset()
	require.NoError(t, err)
	sealer, err := seal.New(keyset)
	require.NoError(t, err)
	e := &endpoint{t: t, sealer: sealer, nudges: make(chan struct{}, 1000)}
	e.pool, err = postgres.Open(t.Context(), postgres.PoolConfig{
		URL: pg.NewDatabase(t).SystemURL, MaxConns: 8,
		StatementTimeout: time.Minute, LockTimeout: time.Minute, IdleTransactionTimeout: time.Minute,
	})
	require.NoError(t, err)
	t.Cleanup(e.pool.Close)
	require.NoError(t, tenants.CreateAccount(t.Context(), e.pool, sealer, shop, "sk_test_shop", []string{"whsec_shop_new", "whsec_shop_old"}))
	require.NoError(t, tenants.CreateAccount(t.Context(), e.pool, sealer, market, "sk_live_market", []string{"whsec_market"}))
	config := webhooks.Config{APIVersion: "2023-10-16", Pool: e.pool, Sealer: sealer, StoreWithin: time.Minute, BodyWithin: time.Minute, RefreshEvery: time.Hour}
	for _, change := range configure {
		change(&config)
	}
	e.serve(config)
	return e
}

// serve starts a handler of the configuration; later deliveries go to it.
func (e *endpoint) serve(config webhooks.Config) {
	e.t.Helper()
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	config.Nudge = func() { e.nudges <- struct{}{} }
	handler, err := webhooks.New(e.t.Context(), config)
	require.NoError(e.t, err)
	server := httptest.NewServer(handler)
	e.t.Cleanup(server.Close)
	e.handler, e.url = handler, server.URL
}

// sign is v1 of a signature over the body at a time, as Stripe makes it.
func sign(secret string, at time.Time, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d.%s", at.Unix(), body)
	return hex.EncodeToString(mac.Sum(nil))
}

// signedNow is a whole header.
func signedNow(secret, body string) string {
	now := clock.Wall()
	return fmt.Sprintf("t=%d,v1=%s", now.Unix(), sign(secret, now, body))
}

// post sends a body with the header, unless it is empty, and returns the status.
func (e *endpoint) post(header string, body io.Reader) int {
	e.t.Helper()
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, e.url, body)
	require.NoError(e.t, err)
	if header != "" {
		request.Header.Set("Stripe-Signature", header)
	}
	answer, err := http.DefaultTransport.RoundTrip(request)
	require.NoError(e.t, err)
	defer func() { require.NoError(e.t, answer.Body.Close()) }()
	said, err := io.ReadAll(answer.Body)
	require.NoError(e.t, err)
	if answer.StatusCode != http.StatusOK {
		require.Equal(e.t, answer.StatusCode, problemOf(e.t, answer, said).Status)
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	return answer.StatusCode
}

// problem is a refusal as its reader sees it.
type problem struct {
	Type, Title, Code, Detail string
	Status                    int
}

// problemOf reads a refusal, which has one form whatever it is.
func problemOf(t *testing.T, answer *http.Response, body []byte) problem {
	t.Helper()
	require.Equal(t, "application/problem+json", answer.Header.Get("Content-Type"))
	var told problem
	require.NoError(t, json.Unmarshal(body, &told))
	require.Equal(t, "urn:payonce:problem:"+told.Code, told.Type)
	require.NotEmpty(t, told.Title)
	return told
}

// deliver sends a body signed by the secret.
func (e *endpoint) deliver(secret, body string) int {
	e.t.Helper()
	return e.post(signedNow(secret, body), strings.NewReader(body))
}

// row is a stored event.
type row struct {
	Account    payments.Account
	Type       string
	APIVersion *string
	Kind       *string
	Object     *string
	Intent     *string
	Status     string
	Reason     *string
	Deliveries int
	Body       string
}

func (e *endpoint) rows() []row {
	e.t.Helper()
	found, err := e.pool.Query(e.t.Context(), `SELECT account, livemode, type, api_version, object_kind, object_id, intent_id, status, reason,
		deliveries, body FROM payonce.provider_events ORDER BY id`)
	require.NoError(e.t, err)
	defer found.Close()
	var all []row
	for found.Next() {
		var (
			r      row
			sealed []byte
		)
		require.NoError(e.t, found.Scan(&r.Account.ID, &r.Account.Livemode, &r.Type, &r.APIVersion, &r.Kind, &r.Object, &r.Intent,
			&r.Status, &r.Reason, &r.Deliveries, &sealed))
		plain, err := boundaries.OpenEventBody(e.sealer, sealed)
		require.NoError(e.t, err)
		r.Body = string(plain)
		all = append(all, r)
	}
	require.NoError(e.t, found.Err())
	return all
}

// last is the event stored last.
func (e *endpoint) last() row {
	e.t.Helper()
	rows := e.rows()
	require.NotEmpty(e.t, rows)
	return rows[len(rows)-1]
}

// only is the one stored event.
func (e *endpoint) only() row {
	e.t.Helper()
	rows := e.rows()
	require.Len(e.t, rows, 1)
	return rows[0]
}

// succeeded is the event of a paid intent in test mode.
func succeeded(id string) string {
	return `{"id":"` + id + `","object":"event","api_version":"2023-10-16","created":1700000000,"livemode":false,"type":"payment_intent.succeeded",` +
		`"data":{"object":{"id":"pi_1","object":"payment_intent","amount":1000}},"pending_webhooks":1,"request":{"id":"req_1","idempotency_key":"k"}}`
}

func padded(body string, size int) string {
	return strings.TrimSuffix(body, "}") + `,"padding":"` + string(bytes.Repeat([]byte("x"), size)) + `"}`
}
