package api_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/internal/tenants"
	"payonce/payments"
)

// Requests that come while a look-up is under way are looked up together. Each is judged by its own API key, and by what that is once it has come.
func TestRequestsThatAreLookedUpTogetherEachHaveTheirOwnKey(t *testing.T) {
	const times = 4
	d := newDoor(t)
	path := "/v1/payments/" + d.newPayment(d.tenant).String()
	other, err := tenants.CreateTenant(t.Context(), d.system, "other", payments.Account{ID: "acct_shop"})
	require.NoError(t, err)
	revoked := d.newKey(d.tenant, tenants.ScopeRead)
	keys := map[int]string{
		http.StatusOK:           d.newKey(d.tenant, tenants.ScopeRead),
		http.StatusForbidden:    d.newKey(d.tenant, tenants.ScopeWrite),
		http.StatusNotFound:     d.newKey(other, tenants.ScopeRead),
		http.StatusUnauthorized: revoked,
	}
	found, err := tenants.FindAPIKey(t.Context(), d.pool, revoked)
	require.NoError(t, err)
	tx, err := d.system.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `LOCK TABLE payonce.api_keys`)
	require.NoError(t, err)

	var (
		sending sync.WaitGroup
		mutex   sync.Mutex
		got     = map[int]map[int]int{} // how often each status was the answer, by what it must be
	)
	send := func(want int) {
		sending.Go(func() {
			status := d.send(http.MethodGet, path, "", with("Authorization", "Bearer "+keys[want])).status
			mutex.Lock()
			defer mutex.Unlock()
			if got[want] == nil {
				got[want] = map[int]int{}
			}
			got[want][status]++
		})
		receive(t, d.requests)
	}
	send(http.StatusOK)
	require.Eventually(t, func() bool {
		var waits bool
		err := d.system.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = 'payonce.api_keys'::regclass)`).Scan(&waits)
		return err == nil && waits
	}, time.Minute, time.Millisecond)
	_, err = tx.Exec(t.Context(), `UPDATE payonce.api_keys SET revoked_at = payonce.clock() WHERE id = $1`, found.ID)
	require.NoError(t, err)
	for range times {
		for want := range keys {
			send(want)
		}
	}
	require.NoError(t, tx.Commit(t.Context()))
	sending.Wait()
	for want := range keys {
		count := times
		if want == http.StatusOK {
			count++
		}
		require.Equal(t, map[int]int{want: count}, got[want])
	}
}
