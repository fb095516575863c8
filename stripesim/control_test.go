package stripesim_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/stripesim"
	"payonce/stripesim/control"
)

func TestLogHoldsEverySendWithItsBytes(t *testing.T) {
	b := start(t)
	b.post(intents, paidForm, "k")
	b.post(intents, paidForm, "k")
	b.do(request{method: http.MethodGet, path: intents + "?limit=1", auth: "Bearer sk_live_acme"})
	b.do(request{path: intents, form: "x=y", auth: "Bearer nonsense"})
	rows, err := b.ctl.AllRequests(t.Context())
	require.NoError(t, err)
	require.Len(t, rows, 4)
	sum := sha256.Sum256([]byte(paidForm))
	for i, row := range rows[:2] {
		require.EqualValues(t, i+1, row.Seq)
		require.Equal(t, "POST", row.Method)
		require.Equal(t, intents, row.Path)
		require.Equal(t, "k", row.IdempotencyKey)
		require.Equal(t, paidForm, row.Body)
		require.Equal(t, hex.EncodeToString(sum[:]), row.BodySHA256)
		require.Equal(t, "acct_shop", row.Account)
		require.Equal(t, 200, row.Status)
		require.Equal(t, i == 0, row.Executed)
		require.Equal(t, i == 1, row.Replayed)
		require.NotEmpty(t, row.RequestID)
		require.True(t, row.Time.Equal(b.clock.now))
	}
	require.True(t, rows[2].Livemode)
	require.Equal(t, "limit=1", rows[2].Query)
	require.False(t, rows[2].Executed)
	require.Equal(t, 401, rows[3].Status)

	page, err := b.ctl.Requests(t.Context(), 2, 1)
	require.NoError(t, err)
	require.Len(t, page, 1)
	require.EqualValues(t, 3, page[0].Seq)
}

func TestLogShowsTwoBodiesUnderOneKey(t *testing.T) {
	b := start(t)
	b.post(intents, "amount=100&currency=usd", "k")
	b.post(intents, "currency=usd&amount=100", "k")
	rows, err := b.ctl.AllRequests(t.Context())
	require.NoError(t, err)
	require.True(t, rows[1].Replayed, "the same parameters to the keys")
	require.NotEqual(t, rows[0].BodySHA256, rows[1].BodySHA256, "other bytes to an outsider")
	require.False(t, rows[0].BodyDiffers)
	require.True(t, rows[1].BodyDiffers)
}

func TestBooksFilterAndPage(t *testing.T) {
	b := start(t)
	for _, auth := range []string{"Bearer sk_test_a", "Bearer sk_live_a", "Bearer sk_test_b"} {
		b.do(request{path: intents, form: paidForm + "&metadata[order]=1", auth: auth})
	}
	live := true
	rows, err := b.ctl.Books(t.Context(), control.BooksQuery{Account: "acct_a", Livemode: &live})
	require.NoError(t, err)
	require.Len(t, rows, 1)
	one := rows[0]
	require.EqualValues(t, 2, one.Seq)
	require.Equal(t, control.Book{Seq: 2, ID: one.ID, Account: "acct_a", Livemode: true, Metadata: map[string]string{"order": "1"},
		Status: "succeeded", Amount: 2000, Currency: "usd", AmountReceived: 2000, Captured: 2000, Fees: 88, ConfirmsExecuted: 1,
		ChargesSucceeded: 1, Created: one.Created}, one)
	rows, err = b.ctl.Books(t.Context(), control.BooksQuery{After: 1, Limit: 1})
	require.NoError(t, err)
	require.EqualValues(t, 2, rows[0].Seq)
}

func TestHoldAfterTheEffectWithholdsOnlyTheAnswer(t *testing.T) {
	b := start(t)
	hold, err := b.ctl.Hold(t.Context(), control.Hold{Method: http.MethodPost, Path: "/v1/payment_intents/*/confirm", Point: control.AfterEffect})
	require.NoError(t, err)
	id := b.create("")
	path := intents + "/" + id + "/confirm"
	var first reply
	var done sync.WaitGroup
	done.Go(func() { first, _ = b.send(request{path: path, form: "payment_method=pm_card_visa", key: "k"}) })
	held, err := b.ctl.Held(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, control.Held{Hold: hold.ID, Point: control.AfterEffect, RequestSeq: held[0].RequestSeq, RequestID: held[0].RequestID,
		Method: "POST", Path: path, Key: "k"}, held[0])
	require.Equal(t, "succeeded", b.book(id).Status)
	require.NoError(t, b.ctl.Release(t.Context(), hold.ID))
	done.Wait()
	require.Equal(t, "succeeded", first.json("status"))
	none, err := b.ctl.Held(t.Context(), 0)
	require.NoError(t, err)
	require.Empty(t, none)
}

func TestHoldCatchesOnlySoManyTimes(t *testing.T) {
	b := start(t)
	_, err := b.ctl.Hold(t.Context(), control.Hold{Path: intents, Point: control.BeforeEffect, Times: 1})
	require.NoError(t, err)
	var done sync.WaitGroup
	done.Go(func() { _, _ = b.send(request{path: intents, form: paidForm}) })
	_, err = b.ctl.Held(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, b.post(intents, paidForm, "").status)
	require.NoError(t, b.ctl.Release(t.Context(), ""))
	done.Wait()
	require.Equal(t, 2, b.count())
}

func TestHoldIsReleasedByPathAndStopsReadsToo(t *testing.T) {
	b := start(t)
	id := b.create("")
	for _, path := range []string{intents, intents + "/" + id} {
		_, err := b.ctl.Hold(t.Context(), control.Hold{Method: http.MethodGet, Path: path, Point: control.BeforeEffect})
		require.NoError(t, err)
	}
	var done sync.WaitGroup
	done.Go(func() { _, _ = b.send(request{method: http.MethodGet, path: intents}) })
	done.Go(func() { _, _ = b.send(request{method: http.MethodGet, path: intents + "/" + id}) })
	_, err := b.ctl.Held(t.Context(), 2)
	require.NoError(t, err)
	answer := b.do(request{path: "/_twin/release", form: `{"method":"GET","path":"` + intents + `"}`})
	require.EqualValues(t, 1, answer.json("released"))
	require.NoError(t, b.ctl.Release(t.Context(), ""))
	done.Wait()
}

func TestCloseCutsHeldRequestsWithoutAnEffect(t *testing.T) {
	b := start(t)
	_, err := b.ctl.Hold(t.Context(), control.Hold{Point: control.BeforeEffect})
	require.NoError(t, err)
	failed := make(chan error, 1)
	go func() {
		_, err := b.send(request{path: intents, form: paidForm})
		failed <- err
	}()
	_, err = b.ctl.Held(t.Context(), 1)
	require.NoError(t, err)
	require.NoError(t, b.twin.Close())
	require.Error(t, <-failed)
	require.NoError(t, b.twin.Close(), "closing twice is harmless")
}

func TestEndpointsAreRegisteredReplacedAndRemoved(t *testing.T) {
	b := start(t)
	first, err := b.ctl.AddEndpoint(t.Context(), control.Endpoint{URL: "http://127.0.0.1:1/hook"})
	require.NoError(t, err)
	require.NotEmpty(t, first.ID)
	require.NotEmpty(t, first.Secret)
	again, err := b.ctl.AddEndpoint(t.Context(), control.Endpoint{URL: "http://127.0.0.1:1/hook", Secret: "whsec_new"})
	require.NoError(t, err)
	require.Equal(t, first.ID, again.ID)
	list, err := b.ctl.Endpoints(t.Context())
	require.NoError(t, err)
	require.Equal(t, []control.Endpoint{again}, list)
	require.NoError(t, b.ctl.DeleteEndpoint(t.Context(), first.ID))
	require.Error(t, b.ctl.DeleteEndpoint(t.Context(), first.ID))
	_, err = b.ctl.AddEndpoint(t.Context(), control.Endpoint{URL: "nowhere"})
	require.Error(t, err)
}

func TestResetForgetsAllButTheConfiguredEndpoints(t *testing.T) {
	configured := control.Endpoint{URL: "http://127.0.0.1:1/hook", Secret: "whsec_x", EnabledEvents: []string{"none"}}
	b := start(t, func(c *stripesim.Config) { c.Endpoints = []control.Endpoint{configured} })
	b.listen(control.Endpoint{}, nil)
	b.post(intents, paidForm, "k")
	b.fault(control.Rule{Fault: control.FaultErrorBefore, Match: control.Match{Method: "DELETE"}})
	b.flush()
	require.NoError(t, b.ctl.Reset(t.Context()))
	require.Zero(t, b.count())
	rows, err := b.ctl.AllRequests(t.Context())
	require.NoError(t, err)
	require.Empty(t, rows)
	events, err := b.ctl.AllEvents(t.Context())
	require.NoError(t, err)
	require.Empty(t, events)
	rules, err := b.ctl.Faults(t.Context())
	require.NoError(t, err)
	require.Empty(t, rules)
	endpoints, err := b.ctl.Endpoints(t.Context())
	require.NoError(t, err)
	require.Len(t, endpoints, 1)
	require.Empty(t, b.post(intents, paidForm, "k").header.Get("Idempotent-Replayed"))
}

func TestControlAPIRefusesNonsense(t *testing.T) {
	b := start(t)
	for _, r := range []request{
		{path: "/_twin/faults", form: "not json"}, {path: "/_twin/hold", form: `{"point":"lunch"}`},
		{path: "/_twin/faults", form: `{"fault":"reset","colour":"red"}`}, {path: "/_twin/events/emit", form: `{}`},
		{method: http.MethodGet, path: "/_twin/books?limit=0"}, {method: http.MethodGet, path: "/_twin/requests?after=x"},
	} {
		require.Equal(t, http.StatusBadRequest, b.do(r).status, r.path)
	}
	require.Equal(t, http.StatusNotFound, b.get("/_twin/nothing").status)
	_, err := b.ctl.Succeed(context.Background(), "pi_missing")
	var missing *control.Error
	require.ErrorAs(t, err, &missing)
	require.Equal(t, http.StatusNotFound, missing.Status)
}
