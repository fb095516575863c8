package webhooks_test

import (
	"net/http"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/webhooks"
)

// Streams without an end and without a signature cost no memory to speak of: each is read to the limit and not kept.
func TestEndlessStreamsCostNoMemory(t *testing.T) {
	e := newEndpoint(t)
	const streams = 8
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range streams {
		stream := &endless{}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, e.url, stream)
		require.NoError(t, err)
		if answer, err := http.DefaultTransport.RoundTrip(request); err == nil { // else the connection was cut while we were still sending
			require.Equal(t, http.StatusRequestEntityTooLarge, answer.StatusCode)
			require.NoError(t, answer.Body.Close())
		}
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		require.Less(t, stream.sent(), int64(64<<20), "what is on its way when the connection is cut, and no more")
	}
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(streams*16*webhooks.MaxBody), "allocated in all, garbage included")
	require.Empty(t, e.rows())
}
