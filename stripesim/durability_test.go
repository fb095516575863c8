package stripesim_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/stripesim"
	"payonce/stripesim/control"
)

// again closes the twin and starts another on the same state file.
func (b *bench) again(file string) *bench {
	b.t.Helper()
	b.http.CloseIdleConnections()
	b.server.CloseClientConnections()
	require.NoError(b.t, b.twin.Close())
	next := start(b.t, func(c *stripesim.Config) { c.StateFile, c.Clock = file, b.clock })
	next.clock = b.clock
	return next
}

func TestStateFileKeepsTheBooks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "twin.db")
	b := start(t, func(c *stripesim.Config) { c.StateFile = file })
	h := b.listen(control.Endpoint{}, func(int, received) int { return 500 })
	b.fault(control.Rule{ID: "later", Fault: control.FaultErrorBefore, After: 1, Match: control.Match{Path: intents}})
	first := b.post(intents, paidForm, "k")
	b.create2(t, "capture_method=manual&confirm=true&payment_method=pm_card_visa")
	id := first.json("id").(string)
	before := b.book(id)
	events := b.types(id)
	log, err := b.ctl.AllRequests(t.Context())
	require.NoError(t, err)
	b.flush()

	c := b.again(file)
	require.Equal(t, before, c.book(id))
	require.Equal(t, events, c.types(id))
	kept, err := c.ctl.AllRequests(t.Context())
	require.NoError(t, err)
	require.Equal(t, log, kept)
	rule, err := c.ctl.Fault(t.Context(), "later")
	require.NoError(t, err)
	require.Equal(t, 2, rule.Seen)
	require.NoError(t, c.ctl.DeleteFault(t.Context(), ""))

	again := c.post(intents, paidForm, "k")
	require.Equal(t, first.body, again.body, "the keys are kept")
	require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))

	sent := len(h.all())
	c.clock.advance(10 * time.Minute)
	require.NoError(t, c.ctl.Tick(t.Context()))
	c.flush()
	require.Greater(t, len(h.all()), sent, "planned retries are kept")
}

// create2 makes an intent past the rule of the test above.
func (b *bench) create2(t *testing.T, form string) {
	t.Helper()
	require.Equal(t, http.StatusInternalServerError, b.post(intents, "amount=2000&currency=usd&"+form, "").status)
}

func TestHoldOfAnAuthorisationOutlivesARestart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "twin.db")
	b := start(t, func(c *stripesim.Config) { c.StateFile = file })
	id := b.create("capture_method=manual&confirm=true&payment_method=pm_card_visa")
	c := b.again(file)
	c.clock.advance(7 * 24 * time.Hour)
	require.Equal(t, "canceled", c.get(intents+"/"+id).json("status"))
}

func TestUnsentWebhooksAreSentAfterARestart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "twin.db")
	b := start(t, func(c *stripesim.Config) { c.StateFile = file })
	stuck, reached := make(chan struct{}), make(chan struct{}, 3)
	defer close(stuck)
	b.listen(control.Endpoint{}, func(n int, _ received) int {
		if n <= 3 {
			reached <- struct{}{}
			<-stuck
		}
		return 200
	})
	b.post(intents, paidForm, "")
	for range 3 {
		<-reached
	}
	c := b.again(file)
	require.Equal(t, control.Counts{Delivered: 3}, c.flush())
}

func TestStateFileThatCannotBeOpenedIsRefused(t *testing.T) {
	_, err := stripesim.New(stripesim.Config{StateFile: filepath.Join(t.TempDir(), "missing", "twin.db")})
	require.Error(t, err)
}

func TestResetEmptiesTheStateFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "twin.db")
	b := start(t, func(c *stripesim.Config) { c.StateFile = file })
	b.post(intents, paidForm, "k")
	require.NoError(t, b.ctl.Reset(t.Context()))
	c := b.again(file)
	require.Zero(t, c.count())
}

func TestTwinRunsInProcessBehindAnyServer(t *testing.T) {
	twin, err := stripesim.New(stripesim.Config{})
	require.NoError(t, err)
	server := httptest.NewServer(twin.Handler())
	defer server.Close()
	client := control.NewClient(server.URL, nil)
	books, err := client.AllBooks(t.Context())
	require.NoError(t, err)
	require.Empty(t, books)
	http.DefaultClient.CloseIdleConnections()
	require.NoError(t, twin.Close())
}
