package httpbody_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/internal/httpbody"
)

const limit = 1000

// read serves one request whose body is read, and hands over what Read returned.
func read(t *testing.T, within time.Duration, after func(context.Context)) (url string, results <-chan result) {
	t.Helper()
	got := make(chan result, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := httpbody.Read(w, r, limit, within)
		after(r.Context())
		got <- result{body, err}
	}))
	t.Cleanup(server.Close)
	return server.URL, got
}

type result struct {
	body []byte
	err  error
}

func nothing(context.Context) {}

func TestReadsTheRawBytesUpToTheLimit(t *testing.T) {
	url, results := read(t, time.Minute, nothing)
	sent := strings.Repeat("\r\n\x00ü", limit/5)

	answer, err := http.Post(url, "application/json", io.MultiReader(strings.NewReader(sent))) // chunked
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())

	got := <-results
	require.NoError(t, got.err)
	require.Equal(t, sent, string(got.body))
}

func TestRefusesADeclaredAndAnUndeclaredExcess(t *testing.T) {
	url, results := read(t, time.Minute, nothing)
	excess := strings.Repeat("a", limit+1)

	for _, body := range []io.Reader{strings.NewReader(excess), io.MultiReader(strings.NewReader(excess))} {
		answer, err := http.Post(url, "application/json", body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.ErrorIs(t, (<-results).err, httpbody.ErrTooLarge)
	}
}

func TestCutsABodyThatTricklesIn(t *testing.T) {
	url, results := read(t, 50*time.Millisecond, nothing)
	connection, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	require.NoError(t, err)
	defer func() { require.NoError(t, connection.Close()) }()

	_, err = io.WriteString(connection, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\na")
	require.NoError(t, err)

	require.ErrorIs(t, (<-results).err, httpbody.ErrTooSlow)
}

func TestTheDeadlineEndsWithTheBody(t *testing.T) {
	const within = 50 * time.Millisecond
	cut := make(chan error, 1)
	url, results := read(t, within, func(ctx context.Context) {
		select { // a wait that is longer than the deadline of the body
		case <-ctx.Done():
			cut <- ctx.Err()
		case <-time.After(4 * within):
			cut <- nil
		}
	})

	answer, err := http.Post(url, "application/json", strings.NewReader("a"))
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())

	require.NoError(t, <-cut)
	require.NoError(t, (<-results).err)
}
