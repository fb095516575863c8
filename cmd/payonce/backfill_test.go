package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/stripesim"
)

// What was never delivered is stored by hand too; a time goes back to what was gone through already, as after a restore.
func TestEventsAreBackfilledByHand(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	twin, err := stripesim.New(stripesim.Config{})
	require.NoError(t, err)
	server := httptest.NewServer(twin.Handler())
	t.Cleanup(func() {
		server.Close()
		require.NoError(t, twin.Close())
	})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/v1/payment_intents", strings.NewReader("amount=500&currency=usd"))
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer sk_test_old")
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusOK, answer.StatusCode)

	backfill := []string{"events", "backfill", "--keyset-file", o.keyset, "--timing", "quick", "--temporal", "127.0.0.1:1", "--stripe-url", server.URL}
	require.Contains(t, o.run(backfill...), "1 events")
	require.Contains(t, o.run(backfill...), "0 events")
	_, err = o.system.Exec(t.Context(), `UPDATE payonce.provider_events SET event_id = 'evt_another'`)
	require.NoError(t, err)
	require.Contains(t, o.run(append(backfill, "--since", time.Now().Add(-time.Hour).Format(time.RFC3339))...), "1 events")
	require.Contains(t, o.refused("events", "backfill", "--keyset-file", o.keyset, "--timing", "quick", "--stripe-url", "http://127.0.0.1:1").Error(), "not sent")
}
