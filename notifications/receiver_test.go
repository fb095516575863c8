package notifications_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/notifications"
)

// receiver is a tenant's system that takes messages.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	got    []delivery
	answer func(http.ResponseWriter, *http.Request, delivery)
}

// delivery is a request that reached a receiver.
type delivery struct {
	id     string
	body   string
	header http.Header
	number int // from 1
}

// newReceiver answers 200 to everything.
func newReceiver(t *testing.T) *receiver {
	t.Helper()
	return newReceiverThat(t, func(http.ResponseWriter, *http.Request, delivery) {})
}

func newReceiverThat(t *testing.T, answer func(http.ResponseWriter, *http.Request, delivery)) *receiver {
	t.Helper()
	r := &receiver{answer: answer}
	r.Server = httptest.NewServer(http.HandlerFunc(r.take))
	t.Cleanup(r.Close)
	return r
}

// answering always answers the status.
func answering(status int) func(http.ResponseWriter, *http.Request, delivery) {
	return func(w http.ResponseWriter, _ *http.Request, _ delivery) { w.WriteHeader(status) }
}

func (r *receiver) take(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return
	}
	r.mu.Lock()
	d := delivery{id: request.Header.Get(notifications.HeaderID), body: string(body), header: request.Header, number: len(r.got) + 1}
	r.got = append(r.got, d)
	r.mu.Unlock()
	r.answer(w, request, d)
}

func (r *receiver) deliveries() []delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]delivery(nil), r.got...)
}

// requireOnceEach requires that every message came exactly once and answers their number.
func (r *receiver) requireOnceEach(t *testing.T) int {
	t.Helper()
	seen := map[string]bool{}
	for _, d := range r.deliveries() {
		require.False(t, seen[d.id], "message %s came twice", d.id)
		seen[d.id] = true
	}
	return len(seen)
}

func hostOf(t *testing.T, raw string) string {
	t.Helper()
	parsed, err := url.Parse(raw)
	require.NoError(t, err)
	return parsed.Host
}
