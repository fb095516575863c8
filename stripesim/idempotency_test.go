package stripesim_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/stripesim/control"
)

const paidForm = "amount=2000&currency=usd&confirm=true&payment_method=pm_card_visa"

func TestSameKeyReplaysStatusAndBodyByteForByte(t *testing.T) {
	b := start(t)
	first := b.post(intents, paidForm, "k")
	again := b.post(intents, paidForm, "k")
	require.Equal(t, http.StatusOK, first.status)
	require.Equal(t, first.status, again.status)
	require.Equal(t, first.body, again.body)
	books, err := b.ctl.AllBooks(t.Context())
	require.NoError(t, err)
	require.Len(t, books, 1)
}

func TestReplayCarriesItsHeaders(t *testing.T) {
	b := start(t)
	first := b.post(intents, paidForm, "k")
	again := b.post(intents, paidForm, "k")

	require.Equal(t, "k", first.header.Get("Idempotency-Key"))
	require.Equal(t, first.header.Get("Request-Id"), first.header.Get("Original-Request"))
	require.Empty(t, first.header.Get("Idempotent-Replayed"))
	require.Equal(t, "2023-10-16", first.header.Get("Stripe-Version"))

	require.Equal(t, "k", again.header.Get("Idempotency-Key"))
	require.Equal(t, first.header.Get("Request-Id"), again.header.Get("Original-Request"))
	require.NotEqual(t, first.header.Get("Request-Id"), again.header.Get("Request-Id"))
	require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
}

func TestDeclineIsStoredAndReplayed(t *testing.T) {
	b := start(t)
	id := b.create("")
	path := intents + "/" + id + "/confirm"
	first := b.post(path, "payment_method=pm_card_chargeDeclined", "k")
	again := b.post(path, "payment_method=pm_card_chargeDeclined", "k")
	require.Equal(t, http.StatusPaymentRequired, first.status)
	require.Equal(t, first.body, again.body)
	require.Equal(t, http.StatusPaymentRequired, again.status)
	require.Equal(t, "false", first.header.Get("Stripe-Should-Retry"))
	require.Equal(t, "false", again.header.Get("Stripe-Should-Retry"))
	require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
	require.Equal(t, 1, b.book(id).ConfirmsExecuted)
}

func TestExecutionRefusalIsStored(t *testing.T) {
	b := start(t)
	path := intents + "/pi_missing/confirm"
	first := b.post(path, "", "k")
	again := b.post(path, "", "k")
	require.Equal(t, http.StatusNotFound, first.status)
	require.Equal(t, first.body, again.body)
	require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
}

func TestServerErrorIsStored(t *testing.T) {
	b := start(t)
	b.fault(control.Rule{Fault: control.FaultErrorAfter, Times: 1})
	first := b.post(intents, paidForm, "k")
	again := b.post(intents, paidForm, "k")
	require.Equal(t, http.StatusInternalServerError, first.status)
	require.Equal(t, http.StatusInternalServerError, again.status)
	require.Equal(t, first.body, again.body)
	require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
}

func TestWhatComesBeforeExecutionIsNotStored(t *testing.T) {
	fine := request{path: intents, form: paidForm, key: "k"}
	for name, first := range map[string]struct {
		request request
		fault   string
		status  int
	}{
		"validation":   {request: request{path: intents, form: "amount=2000", key: "k"}, status: 400},
		"rate limit":   {request: fine, fault: control.FaultRateLimited, status: 429},
		"lock timeout": {request: fine, fault: control.FaultLockTimeout, status: 429},
		"unauthorized": {request: fine, fault: control.FaultUnauthorized, status: 401},
		"key mismatch": {request: fine, fault: control.FaultKeyMismatch, status: 400},
		"not executed": {request: fine, fault: control.FaultErrorBefore, status: 500},
		"bad api key":  {request: request{path: intents, form: paidForm, key: "k", auth: "Bearer nonsense"}, status: 401},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t)
			if first.fault != "" {
				b.fault(control.Rule{Fault: first.fault, Times: 1})
			}
			require.Equal(t, first.status, b.do(first.request).status)
			then := b.do(fine)
			require.Equal(t, http.StatusOK, then.status)
			require.Empty(t, then.header.Get("Idempotent-Replayed"))
		})
	}
}

func TestSameKeyWithOtherParametersIsRefused(t *testing.T) {
	b := start(t)
	b.post(intents, paidForm, "k")
	for name, other := range map[string]request{
		"other amount": {path: intents, form: strings.Replace(paidForm, "2000", "2001", 1), key: "k"},
		"more":         {path: intents, form: paidForm + "&description=x", key: "k"},
		"other path":   {path: intents + "/pi_x/cancel", form: "", key: "k"},
		"invalid too":  {path: intents, form: "amount=oops", key: "k"},
	} {
		t.Run(name, func(t *testing.T) {
			answer := b.do(other)
			require.Equal(t, http.StatusBadRequest, answer.status)
			require.Equal(t, "idempotency_error", answer.json("error.type"))
			require.NotEmpty(t, answer.json("error.message"))
			require.Nil(t, answer.json("error.code"))
			require.Equal(t, "k", answer.header.Get("Idempotency-Key"))
			require.Empty(t, answer.header.Get("Original-Request"))
		})
	}
}

func TestSameParametersInAnotherOrderAreTheSameRequest(t *testing.T) {
	b := start(t)
	first := b.post(intents, "amount=2000&currency=usd&metadata[a]=1&metadata[b]=2", "k")
	again := b.post(intents, "metadata[b]=2&currency=usd&metadata[a]=1&amount=2000", "k")
	require.Equal(t, first.body, again.body)
}

func TestSameKeyInFlightIsAConflict(t *testing.T) {
	b := start(t)
	hold, err := b.ctl.Hold(t.Context(), control.Hold{Path: intents, Point: control.BeforeEffect})
	require.NoError(t, err)
	var first reply
	var done sync.WaitGroup
	done.Go(func() { first, _ = b.send(request{path: intents, form: paidForm, key: "k"}) })
	held, err := b.ctl.Held(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, "k", held[0].Key)

	second := b.post(intents, paidForm, "k")
	require.Equal(t, http.StatusConflict, second.status)
	require.Equal(t, "invalid_request_error", second.json("error.type"))
	require.Equal(t, "idempotency_key_in_use", second.json("error.code"))

	require.NoError(t, b.ctl.Release(t.Context(), hold.ID))
	done.Wait()
	require.Equal(t, http.StatusOK, first.status)
	require.Equal(t, first.body, b.post(intents, paidForm, "k").body, "the conflict was not stored")
}

func TestRacingRequestsWithOneKeyExecuteOnce(t *testing.T) {
	b := start(t)
	var done sync.WaitGroup
	answers := make([]reply, 20)
	for i := range answers {
		done.Go(func() { answers[i], _ = b.send(request{path: intents, form: paidForm, key: "k"}) })
	}
	done.Wait()
	for _, one := range answers {
		require.Contains(t, []int{http.StatusOK, http.StatusConflict}, one.status)
	}
	books, err := b.ctl.AllBooks(t.Context())
	require.NoError(t, err)
	require.Len(t, books, 1)
}

func TestKeyIsForgottenAfter24HoursOfTheTwinsClock(t *testing.T) {
	b := start(t)
	first := b.post(intents, paidForm, "k")
	b.clock.advance(24*time.Hour - time.Second)
	require.Equal(t, first.body, b.post(intents, paidForm, "k").body)
	b.clock.advance(time.Second)
	then := b.post(intents, paidForm, "k")
	require.Equal(t, http.StatusOK, then.status)
	require.Empty(t, then.header.Get("Idempotent-Replayed"))
	require.NotEqual(t, first.json("id"), then.json("id"), "the same key is a new request")
}

func TestKeysAreScopedByAccountAndMode(t *testing.T) {
	b := start(t)
	ids := map[any]bool{}
	for _, r := range []request{
		{}, {auth: "Bearer sk_test_other"}, {auth: "Bearer sk_live_shop"}, {connected: "acct_seller"},
	} {
		r.path, r.form, r.key = intents, paidForm, "k"
		answer := b.do(r)
		require.Equal(t, http.StatusOK, answer.status, answer.body)
		ids[answer.json("id")] = true
	}
	require.Len(t, ids, 4)
}

func TestKeyHasNoEffectOnGet(t *testing.T) {
	b := start(t)
	id := b.create("")
	read := request{method: http.MethodGet, path: intents + "/" + id, key: "k"}
	require.Equal(t, "requires_payment_method", b.do(read).json("status"))
	b.confirm(id, "payment_method=pm_card_visa")
	answer := b.do(read)
	require.Equal(t, "succeeded", answer.json("status"))
	require.Empty(t, answer.header.Get("Idempotent-Replayed"))
}

func TestKeyLongerThan255IsRefused(t *testing.T) {
	b := start(t)
	require.Equal(t, http.StatusOK, b.post(intents, paidForm, strings.Repeat("k", 255)).status)
	require.Equal(t, http.StatusBadRequest, b.post(intents, paidForm, strings.Repeat("k", 256)).status)
}

func TestRequestWithoutKeyHasNoOriginalRequest(t *testing.T) {
	b := start(t)
	answer := b.post(intents, paidForm, "")
	require.NotEmpty(t, answer.header.Get("Request-Id"))
	require.Empty(t, answer.header.Get("Original-Request"))
}
