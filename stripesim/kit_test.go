package stripesim_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v76"
	"github.com/stripe/stripe-go/v76/client"
	"go.uber.org/goleak"

	"payonce/stripesim"
	"payonce/stripesim/control"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testClock is a clock that only moves when it is told to.
type testClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *testClock) Now(context.Context) (time.Time, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now, nil
}

func (c *testClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// bench is a running twin with everything to drive it.
type bench struct {
	t      *testing.T
	clock  *testClock
	twin   *stripesim.Twin
	server *httptest.Server
	http   *http.Client
	ctl    *control.Client
}

// start runs a twin on a test clock until the test ends.
func start(t *testing.T, change ...func(*stripesim.Config)) *bench {
	t.Helper()
	b := &bench{t: t, clock: &testClock{now: time.Date(2023, 11, 1, 12, 0, 0, 0, time.UTC)}}
	config := stripesim.Config{Clock: b.clock, Seed: 1, TickEvery: time.Hour, ReorderAtMost: time.Hour}
	for _, one := range change {
		one(&config)
	}
	twin, err := stripesim.New(config)
	require.NoError(t, err)
	b.twin = twin
	b.server = httptest.NewServer(twin.Handler())
	b.http = &http.Client{Transport: &http.Transport{}, Timeout: 30 * time.Second}
	b.ctl = control.NewClient(b.server.URL, b.http)
	t.Cleanup(b.stop)
	return b
}

func (b *bench) stop() {
	b.http.CloseIdleConnections()
	b.server.CloseClientConnections()
	require.NoError(b.t, b.twin.Close())
	b.server.Close()
}

// stripe is stripe-go against the twin, without retries of its own.
func (b *bench) stripe(key string) *client.API {
	backend := stripe.GetBackendWithConfig(stripe.APIBackend, &stripe.BackendConfig{URL: stripe.String(b.server.URL),
		MaxNetworkRetries: stripe.Int64(0), EnableTelemetry: stripe.Bool(false), HTTPClient: b.http,
		LeveledLogger: &stripe.LeveledLogger{Level: stripe.LevelNull}})
	return client.New(key, &stripe.Backends{API: backend, Connect: backend, Uploads: backend})
}

// reply is a raw answer of the API.
type reply struct {
	status int
	header http.Header
	body   string
}

// json reads a dotted path out of the answer.
func (r reply) json(path string) any { return dig(r.body, path) }

func dig(text, path string) any {
	var value any
	if json.Unmarshal([]byte(text), &value) != nil {
		return nil
	}
	for _, word := range strings.Split(path, ".") {
		switch at := value.(type) {
		case map[string]any:
			value = at[word]
		case []any:
			if len(at) == 0 || word != "0" {
				return nil
			}
			value = at[0]
		default:
			return nil
		}
	}
	return value
}

// request is a raw request of the API. form is "a=b&c=d".
type request struct {
	method, path, form, key, auth, connected string
	header                                   map[string]string
	ctx                                      context.Context // nil = without end
}

const testKey = "sk_test_shop"

func (b *bench) send(r request) (reply, error) {
	method := r.method
	if method == "" {
		method = http.MethodPost
	}
	ctx := r.ctx
	if ctx == nil {
		ctx = context.Background()
	}
	made, err := http.NewRequestWithContext(ctx, method, b.server.URL+r.path, strings.NewReader(r.form))
	require.NoError(b.t, err)
	made.GetBody = nil // net/http is not to send again by itself
	if r.form != "" {
		made.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	switch r.auth {
	case "":
		made.Header.Set("Authorization", "Bearer "+testKey)
	case "none":
	default:
		made.Header.Set("Authorization", r.auth)
	}
	if r.key != "" {
		made.Header.Set("Idempotency-Key", r.key)
	}
	if r.connected != "" {
		made.Header.Set("Stripe-Account", r.connected)
	}
	for name, value := range r.header {
		made.Header.Set(name, value)
	}
	response, err := b.http.Do(made)
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	return reply{response.StatusCode, response.Header, string(body)}, err
}

func (b *bench) do(r request) reply {
	b.t.Helper()
	answer, err := b.send(r)
	require.NoError(b.t, err)
	return answer
}

func (b *bench) post(path, form, key string) reply {
	b.t.Helper()
	return b.do(request{path: path, form: form, key: key})
}

func (b *bench) get(path string) reply {
	b.t.Helper()
	return b.do(request{method: http.MethodGet, path: path})
}

const intents = "/v1/payment_intents"

// create makes an intent and returns its id; form adds to an amount of 20.00 usd.
func (b *bench) create(form string) string {
	b.t.Helper()
	answer := b.post(intents, "amount=2000&currency=usd&"+form, "")
	require.Equal(b.t, http.StatusOK, answer.status, answer.body)
	return answer.json("id").(string)
}

func (b *bench) confirm(id, form string) reply {
	b.t.Helper()
	return b.post(intents+"/"+id+"/confirm", form, "")
}

func (b *bench) book(id string) control.Book {
	b.t.Helper()
	books, err := b.ctl.AllBooks(b.t.Context())
	require.NoError(b.t, err)
	for _, one := range books {
		if one.ID == id {
			return one
		}
	}
	require.Fail(b.t, "no such intent in the books: "+id)
	return control.Book{}
}

// types returns the types of an intent's events in order.
func (b *bench) types(id string) []string {
	b.t.Helper()
	events, err := b.ctl.Events(b.t.Context(), control.EventsQuery{PaymentIntent: id})
	require.NoError(b.t, err)
	kinds := []string{}
	for _, one := range events {
		kinds = append(kinds, one.Type)
	}
	return kinds
}

func (b *bench) fault(rule control.Rule) control.Rule {
	b.t.Helper()
	added, err := b.ctl.AddFault(b.t.Context(), rule)
	require.NoError(b.t, err)
	return added
}

func (b *bench) fired(id string) int {
	b.t.Helper()
	rule, err := b.ctl.Fault(b.t.Context(), id)
	require.NoError(b.t, err)
	return rule.Fired
}

func (b *bench) flush() control.Counts {
	b.t.Helper()
	counts, err := b.ctl.Flush(b.t.Context(), false)
	require.NoError(b.t, err)
	return counts
}

func (b *bench) lastRequest() control.Request {
	b.t.Helper()
	rows, err := b.ctl.AllRequests(b.t.Context())
	require.NoError(b.t, err)
	require.NotEmpty(b.t, rows)
	return rows[len(rows)-1]
}

// hook is a webhook receiver.
type hook struct {
	server *httptest.Server
	mu     sync.Mutex
	got    []received
	answer func(n int, r received) int // the status for the n-th request, from 1; nil = 200
}

type received struct {
	header http.Header
	body   string
}

func (r received) kind() string { return dig(r.body, "type").(string) }

const hookSecret = "whsec_test"

// listen registers a receiver as an endpoint.
func (b *bench) listen(endpoint control.Endpoint, answer func(int, received) int) *hook {
	b.t.Helper()
	h := &hook{answer: answer}
	h.server = httptest.NewServer(h)
	b.t.Cleanup(h.server.Close)
	endpoint.URL = h.server.URL + "/hook"
	if endpoint.Secret == "" {
		endpoint.Secret = hookSecret
	}
	_, err := b.ctl.AddEndpoint(b.t.Context(), endpoint)
	require.NoError(b.t, err)
	return h
}

func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	one := received{r.Header, string(body)}
	h.mu.Lock()
	h.got = append(h.got, one)
	n := len(h.got)
	answer := h.answer
	h.mu.Unlock()
	status := http.StatusOK
	if answer != nil {
		status = answer(n, one)
	}
	if status == http.StatusFound {
		w.Header().Set("Location", "/elsewhere")
	}
	w.WriteHeader(status)
}

func (h *hook) all() []received {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]received{}, h.got...)
}

func (h *hook) kinds() []string {
	kinds := []string{}
	for _, one := range h.all() {
		kinds = append(kinds, one.kind())
	}
	return kinds
}

// numeral writes a JSON number as an integer.
func numeral(number any) string { return strconv.FormatInt(int64(number.(float64)), 10) }
