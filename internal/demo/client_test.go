package demo

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	submitted = `{"id":"00000000-0000-5000-8000-000000000001","status":"submitted"}`
	succeeded = `{"id":"00000000-0000-5000-8000-000000000001","status":"succeeded"}`
)

// script answers requests one after the other and notes what came.
type script struct {
	mutex sync.Mutex
	steps []http.HandlerFunc
	seen  []string // method, path and key
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mutex.Lock()
	step := s.steps[min(len(s.seen), len(s.steps)-1)]
	s.seen = append(s.seen, fmt.Sprintf("%s %s %s", r.Method, r.URL.Path, r.Header.Get("Idempotency-Key")))
	s.mutex.Unlock()
	step(w, r)
}

func says(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

func cuts(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func serve(t *testing.T, handler http.Handler) *client {
	t.Helper()
	server := httptest.NewServer(handler)
	c := newClient(server.URL, "key")
	t.Cleanup(func() {
		c.close()
		server.CloseClientConnections()
		server.Close()
	})
	return c
}

func TestAClientRepeatsUnderTheSameKeyUntilThereIsAnOutcome(t *testing.T) {
	s := &script{steps: []http.HandlerFunc{
		cuts, says(503, `{"code":"unavailable"}`), says(409, `{"code":"in_progress"}`), says(429, `{}`), says(201, succeeded),
	}}
	c := serve(t, s)

	got, err := c.submit(t.Context(), "k", []byte(`{}`), patient())

	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, got.Status)
	require.GreaterOrEqual(t, len(s.seen), 5)
	for _, one := range s.seen {
		require.Equal(t, "POST /v1/payments k", one)
	}
	require.EqualValues(t, 1, c.inProgress.Load())
	require.EqualValues(t, 2, c.unavailable.Load())
}

func TestAClientThatIsSentAwayLooksAndThenAsksForTheStoredAnswer(t *testing.T) {
	s := &script{steps: []http.HandlerFunc{
		says(202, submitted, "Location", "/v1/payments/1"), says(200, submitted), says(200, succeeded),
		says(201, succeeded, "Idempotent-Replayed", "true"),
	}}
	c := serve(t, s)

	got, err := c.submit(t.Context(), "k", []byte(`{}`), manner{})

	require.NoError(t, err)
	require.True(t, got.Replayed)
	require.Equal(t, []string{"POST /v1/payments k", "GET /v1/payments/1 ", "GET /v1/payments/1 ", "POST /v1/payments k"}, s.seen)
}

func TestAClientTakesARefusalAsTheOutcome(t *testing.T) {
	for _, refusal := range []http.HandlerFunc{
		says(422, `{"code":"key_reused"}`), says(409, `{"code":"reference_conflict"}`), says(402, `{"code":"provider_refused"}`),
	} {
		s := &script{steps: []http.HandlerFunc{refusal}}
		_, err := serve(t, s).submit(t.Context(), "k", []byte(`{}`), patient())
		require.NoError(t, err)
		require.Len(t, s.seen, 1)
	}
}

func TestAClientSaysWhyItHasNoOutcome(t *testing.T) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, fmt.Errorf("enough"))
	defer cancel()
	_, err := serve(t, &script{steps: []http.HandlerFunc{cuts}}).submit(ctx, "k", []byte(`{}`), patient())
	require.ErrorContains(t, err, "enough")
}
