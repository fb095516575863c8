package stripesim_test

import (
	"context"
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/stripesim"
	"payonce/stripesim/control"
)

const key = "k"

// lost sends a request whose connection is cut.
func (b *bench) lost(r request) {
	b.t.Helper()
	_, err := b.send(r)
	require.Error(b.t, err)
}

func (b *bench) count() int {
	b.t.Helper()
	books, err := b.ctl.AllBooks(b.t.Context())
	require.NoError(b.t, err)
	return len(books)
}

func TestAnswerLostAfterTheEffect(t *testing.T) {
	b := start(t)
	rule := b.fault(control.Rule{Fault: control.FaultAnswerLost, Times: 1})
	b.lost(request{path: intents, form: paidForm, key: key})
	require.Equal(t, 1, b.count())
	log := b.lastRequest()
	require.True(t, log.Executed)
	require.Zero(t, log.Status)
	require.Equal(t, control.FaultAnswerLost, log.Fault)
	again := b.post(intents, paidForm, key)
	require.Equal(t, http.StatusOK, again.status)
	require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
	require.Equal(t, 1, b.count())
	require.Equal(t, 1, b.fired(rule.ID))
}

func TestResetBeforeTheEffect(t *testing.T) {
	b := start(t)
	b.fault(control.Rule{Fault: control.FaultReset, Times: 1})
	b.lost(request{path: intents, form: paidForm, key: key})
	require.Zero(t, b.count())
	require.False(t, b.lastRequest().Executed)
	require.Equal(t, control.FaultReset, b.lastRequest().Fault)
	require.Empty(t, b.post(intents, paidForm, key).header.Get("Idempotent-Replayed"))
}

func TestErrorBeforeIsNeitherExecutedNorStored(t *testing.T) {
	b := start(t)
	b.fault(control.Rule{Fault: control.FaultErrorBefore, Times: 1, Status: 503})
	answer := b.post(intents, paidForm, key)
	require.Equal(t, http.StatusServiceUnavailable, answer.status)
	require.Equal(t, "api_error", answer.json("error.type"))
	require.Zero(t, b.count())
	require.Equal(t, http.StatusOK, b.post(intents, paidForm, key).status)
}

func TestErrorBeforeStoredStaysWithItsKeyWithoutAnEffect(t *testing.T) {
	b := start(t)
	b.fault(control.Rule{Fault: control.FaultErrorBeforeStored, Times: 1})
	require.Equal(t, http.StatusInternalServerError, b.post(intents, paidForm, key).status)
	again := b.post(intents, paidForm, key)
	require.Equal(t, http.StatusInternalServerError, again.status)
	require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
	require.Zero(t, b.count())
	require.False(t, b.lastRequest().Executed)
	require.Equal(t, http.StatusOK, b.post(intents, paidForm, "other").status)
}

func TestErrorAfterStaysWithItsKeyAndTheMoneyMoved(t *testing.T) {
	b := start(t)
	b.fault(control.Rule{Fault: control.FaultErrorAfter, Times: 1, Match: control.Match{Path: "/v1/payment_intents/*/confirm"}})
	id := b.create("")
	path := intents + "/" + id + "/confirm"
	require.Equal(t, http.StatusInternalServerError, b.post(path, "payment_method=pm_card_visa", key).status)
	require.True(t, b.lastRequest().Executed)
	require.EqualValues(t, 2000, b.book(id).Captured)
	require.Equal(t, http.StatusInternalServerError, b.post(path, "payment_method=pm_card_visa", key).status)
	require.Equal(t, "succeeded", b.get(intents+"/"+id).json("status"))
	require.Equal(t, 1, b.book(id).ConfirmsExecuted)
}

func TestRateLimitedSaysWhenToComeAgain(t *testing.T) {
	b := start(t)
	b.fault(control.Rule{Fault: control.FaultRateLimited, RetryAfterS: 7, Times: 1})
	answer := b.post(intents, paidForm, key)
	require.Equal(t, http.StatusTooManyRequests, answer.status)
	require.Equal(t, "rate_limit", answer.json("error.code"))
	require.Equal(t, "7", answer.header.Get("Retry-After"))
}

func TestLockTimeout(t *testing.T) {
	b := start(t)
	b.fault(control.Rule{Fault: control.FaultLockTimeout, Times: 1})
	answer := b.post(intents, paidForm, key)
	require.Equal(t, http.StatusTooManyRequests, answer.status)
	require.Equal(t, "invalid_request_error", answer.json("error.type"))
	require.Equal(t, "lock_timeout", answer.json("error.code"))
	require.Equal(t, "true", answer.header.Get("Stripe-Should-Retry"))
}

func TestUnauthorizedForAWhile(t *testing.T) {
	b := start(t)
	b.fault(control.Rule{Fault: control.FaultUnauthorized, Times: 1})
	require.Equal(t, http.StatusUnauthorized, b.post(intents, paidForm, key).status)
	require.Equal(t, http.StatusOK, b.post(intents, paidForm, key).status)
}

func TestRefusedIsADefiniteStoredRefusal(t *testing.T) {
	b := start(t)
	b.fault(control.Rule{Fault: control.FaultRefused, Times: 1, Match: control.Match{Path: "/v1/payment_intents/*/confirm"}})
	id := b.create("")
	path := intents + "/" + id + "/confirm"
	answer := b.post(path, "payment_method=pm_card_visa", key)
	require.Equal(t, http.StatusBadRequest, answer.status)
	require.Equal(t, "invalid_request_error", answer.json("error.type"))
	require.Equal(t, answer.body, b.post(path, "payment_method=pm_card_visa", key).body)
	require.Zero(t, b.book(id).ConfirmsExecuted)
}

// abandon sends a request and gives it up as soon as the twin has stopped it at the point.
func (b *bench) abandon(r request, point string) {
	b.t.Helper()
	ctx, giveUp := context.WithCancel(b.t.Context())
	r.ctx = ctx
	failed := make(chan error, 1)
	go func() {
		_, err := b.send(r)
		failed <- err
	}()
	_, err := b.ctl.HeldAt(b.t.Context(), point, 1)
	giveUp()
	require.NoError(b.t, err)
	require.Error(b.t, <-failed)
}

func TestSlowDelaysTheAnswerOnly(t *testing.T) {
	b := start(t)
	b.fault(control.Rule{Fault: control.FaultSlow, DelayMS: 3_600_000, Times: 1})
	b.abandon(request{path: intents, form: paidForm, key: key}, control.FaultSlow)
	require.Equal(t, 1, b.count())
	again := b.post(intents, paidForm, key)
	require.Equal(t, http.StatusOK, again.status, "the answer is stored already")
	require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
}

func TestSlowBeforeKeepsTheKeyInFlight(t *testing.T) {
	b := start(t)
	b.fault(control.Rule{Fault: control.FaultSlowBefore, DelayMS: 3_600_000, Times: 1})
	b.abandon(request{path: intents, form: paidForm, key: key}, control.FaultSlowBefore)
	require.Equal(t, http.StatusConflict, b.post(intents, paidForm, key).status)
	require.Zero(t, b.count())
}

func TestRequestIsExecutedThoughTheClientIsGone(t *testing.T) {
	b := start(t)
	before, err := b.ctl.Hold(t.Context(), control.Hold{Point: control.BeforeEffect})
	require.NoError(t, err)
	_, err = b.ctl.Hold(t.Context(), control.Hold{Point: control.AfterEffect})
	require.NoError(t, err)
	b.abandon(request{path: intents, form: paidForm, key: key}, control.BeforeEffect)
	require.Zero(t, b.count())
	require.NoError(t, b.ctl.Release(t.Context(), before.ID))
	_, err = b.ctl.HeldAt(t.Context(), control.AfterEffect, 1)
	require.NoError(t, err)
	require.Equal(t, 1, b.count())
	require.NoError(t, b.ctl.Release(t.Context(), ""))
}

func TestRuleMatchesEveryFieldThatIsSet(t *testing.T) {
	b := start(t)
	id := b.create("metadata[order]=1")
	for name, one := range map[string]struct {
		match control.Match
		fires bool
	}{
		"nothing set":     {control.Match{}, true},
		"method":          {control.Match{Method: "POST"}, true},
		"other method":    {control.Match{Method: "GET"}, false},
		"path":            {control.Match{Path: "/v1/payment_intents/*"}, true},
		"other path":      {control.Match{Path: "/v1/payment_intents"}, false},
		"account":         {control.Match{Account: "acct_shop"}, true},
		"other account":   {control.Match{Account: "acct_other"}, false},
		"key":             {control.Match{Key: "key-1"}, true},
		"other key":       {control.Match{Key: "key"}, false},
		"key prefix":      {control.Match{KeyPrefix: "key"}, true},
		"other prefix":    {control.Match{KeyPrefix: "kez"}, false},
		"metadata":        {control.Match{Metadata: map[string]string{"order": "1"}}, true},
		"other metadata":  {control.Match{Metadata: map[string]string{"order": "2"}}, false},
		"one of two does": {control.Match{Method: "POST", Account: "acct_other"}, false},
	} {
		rule := b.fault(control.Rule{Fault: control.FaultErrorBefore, Match: one.match})
		answer := b.post(intents+"/"+id, "description=x", "key-1")
		require.Equal(t, one.fires, answer.status == http.StatusInternalServerError, name)
		require.Equal(t, one.fires, b.fired(rule.ID) == 1, name)
		require.NoError(t, b.ctl.DeleteFault(t.Context(), rule.ID))
	}
}

func TestRuleMatchesTheMetadataOfACreate(t *testing.T) {
	b := start(t)
	b.fault(control.Rule{Fault: control.FaultErrorBefore, Match: control.Match{Metadata: map[string]string{"order": "1"}}})
	require.Equal(t, http.StatusInternalServerError, b.post(intents, paidForm+"&metadata[order]=1", "").status)
	require.Equal(t, http.StatusOK, b.post(intents, paidForm+"&metadata[order]=2", "").status)
}

func TestRuleSkipsAndCounts(t *testing.T) {
	b := start(t)
	rule := b.fault(control.Rule{Fault: control.FaultErrorBefore, After: 1, Times: 2})
	var got []int
	for range 5 {
		got = append(got, b.get(intents).status)
	}
	require.Equal(t, []int{200, 500, 500, 200, 200}, got)
	read, err := b.ctl.Fault(t.Context(), rule.ID)
	require.NoError(t, err)
	require.Equal(t, 5, read.Seen)
	require.Equal(t, 2, read.Fired)
}

func TestSeedDecidesByKeyWhateverTheOrder(t *testing.T) {
	run := func(seed int64, order func(i int) int) map[string]int {
		b := start(t, func(c *stripesim.Config) { c.Seed = seed })
		b.fault(control.Rule{ID: "some", Fault: control.FaultErrorBefore, Probability: 0.3})
		statuses := map[string]int{}
		for i := range 60 {
			name := "key-" + strconv.Itoa(order(i))
			statuses[name] = b.post(intents, "amount=100&currency=usd", name).status
		}
		return statuses
	}
	forward := run(7, func(i int) int { return i })
	require.Equal(t, forward, run(7, func(i int) int { return 59 - i }))
	require.NotEqual(t, forward, run(8, func(i int) int { return i }))
	failed := 0
	for _, status := range forward {
		if status == http.StatusInternalServerError {
			failed++
		}
	}
	require.Greater(t, failed, 5)
	require.Less(t, failed, 35)
}

func TestBadRulesAreRefused(t *testing.T) {
	b := start(t)
	for _, rule := range []control.Rule{{Fault: "earthquake"}, {}, {Fault: control.FaultReset, Probability: 2}, {Fault: control.FaultReset, Match: control.Match{Path: "["}}} {
		_, err := b.ctl.AddFault(t.Context(), rule)
		var refused *control.Error
		require.ErrorAs(t, err, &refused)
		require.Equal(t, http.StatusBadRequest, refused.Status)
	}
	b.fault(control.Rule{ID: "one", Fault: control.FaultReset, Times: 1})
	_, err := b.ctl.AddFault(t.Context(), control.Rule{ID: "one", Fault: control.FaultReset})
	require.Error(t, err)
	require.NoError(t, b.ctl.DeleteFault(t.Context(), ""))
	rules, err := b.ctl.Faults(t.Context())
	require.NoError(t, err)
	require.Empty(t, rules)
	require.Error(t, b.ctl.DeleteFault(t.Context(), "one"))
}
