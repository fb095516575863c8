package main

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/stripesim"
)

// A database that was restored is read and opened by one command; it can be left closed, and a time to come is refused.
func TestARestoredDatabaseIsOpenedByCommand(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	twin, err := stripesim.New(stripesim.Config{})
	require.NoError(t, err)
	server := httptest.NewServer(twin.Handler())
	t.Cleanup(func() {
		server.Close()
		require.NoError(t, twin.Close())
	})
	restored := func(to time.Time, more ...string) []string {
		return append([]string{
			"restored", "--to", to.Format(time.RFC3339), "--by", "an operator", "--keyset-file", o.keyset, "--timing", "quick", "--temporal", "127.0.0.1:1",
			"--stripe-url", server.URL,
		}, more...)
	}
	require.ErrorContains(t, o.refused(restored(time.Now().Add(time.Hour))...), "still to come")
	require.Contains(t, o.run(restored(time.Now().Add(-time.Hour), "--keep-frozen")...), "thaw")
	var closed []listedFreeze
	o.read(&closed, "freezes")
	require.Len(t, closed, 1)
	require.Contains(t, closed[0].Reason, "restored")
	require.Contains(t, o.run(restored(time.Now().Add(-time.Hour))...), "0 payments at Stripe are not here")
	o.read(&closed, "freezes")
	require.Empty(t, closed)
}
