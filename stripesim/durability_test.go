package stripesim_test

import (
	"net/http"
	"net/http/httptest"
	"os"
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

func TestMoneyUnderWayOutlivesARestart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "twin.db")
	b := start(t, func(c *stripesim.Config) { c.StateFile = file })
	id := b.create("confirm=true&payment_method=pm_card_bypassPending")
	_, err := b.ctl.PlanRefund(t.Context(), id, control.RefundPlan{Status: "pending", AfterS: 60})
	require.NoError(t, err)
	refund := b.refund(id, "amount=100").json("id").(string)
	payout := b.payOut("amount=1000").json("id").(string)
	dispute := b.dispute(id, control.OpenDispute{Amount: 50})
	b.account(control.Account{BalanceLagS: 60})
	late := b.payment("")
	before := b.book(id)

	c := b.again(file)
	require.Equal(t, before, c.book(id))
	c.clock.advance(2 * 24 * time.Hour)
	require.NoError(t, c.ctl.Tick(t.Context()))
	require.Equal(t, "succeeded", c.get(refunds+"/"+refund).json("status"))
	require.Equal(t, "paid", c.get(payouts+"/"+payout).json("status"))
	require.Equal(t, "needs_response", c.get("/v1/disputes/"+dispute.ID).json("status"))
	require.NotNil(t, c.charge(late).json("balance_transaction"))
	kept, err := c.ctl.Account(t.Context(), "acct_shop")
	require.NoError(t, err)
	require.EqualValues(t, 60, kept.BalanceLagS)
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

func TestFileOfAnotherProgramIsNotTakenForAStateFile(t *testing.T) {
	for _, text := range []string{"x", "something else entirely\n"} {
		file := filepath.Join(t.TempDir(), "twin.db")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		_, err := stripesim.New(stripesim.Config{StateFile: file})
		require.ErrorContains(t, err, "not a state file")
		kept, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, text, string(kept))
	}
}

func TestWhatDiedInTheMiddleOfAWriteIsCutOff(t *testing.T) {
	for name, harm := range map[string]func([]byte) []byte{
		"half a record":     func(b []byte) []byte { return b[:len(b)-1] },
		"half a head":       func(b []byte) []byte { return append(b, 0, 0, 1) },
		"a head alone":      func(b []byte) []byte { return append(b, 0, 0, 1, 0, 1, 2, 3, 4) },
		"a record of noise": func(b []byte) []byte { return append(b, 0, 0, 0, 1, 1, 2, 3, 4, 5) },
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "twin.db")
			b := start(t, func(c *stripesim.Config) { c.StateFile = file })
			first := b.post(intents, paidForm, "k").json("id").(string)
			require.NoError(t, b.twin.Close())
			whole, err := os.ReadFile(file)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(file, harm(whole), 0o600))

			c := b.again(file)
			require.Equal(t, "succeeded", c.book(first).Status)
			second := c.create("")
			d := c.again(file)
			require.Equal(t, 2, d.count())
			require.Equal(t, "requires_payment_method", d.book(second).Status)
		})
	}
}

func TestStateFileBelongsToOneTwin(t *testing.T) {
	file := filepath.Join(t.TempDir(), "twin.db")
	start(t, func(c *stripesim.Config) { c.StateFile = file })
	_, err := stripesim.New(stripesim.Config{StateFile: file})
	require.Error(t, err)
}

func TestResetEmptiesTheStateFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "twin.db")
	b := start(t, func(c *stripesim.Config) { c.StateFile = file })
	b.post(intents, paidForm, "k")
	require.NoError(t, b.ctl.Reset(t.Context()))
	after := b.create("")
	c := b.again(file)
	require.Equal(t, 1, c.count())
	require.Equal(t, "requires_payment_method", c.book(after).Status)
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
