package stripesim_test

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v76/webhook"

	"payonce/stripesim"
	"payonce/stripesim/control"
)

func TestDeliveryIsSignedAsStripeGoChecks(t *testing.T) {
	b := start(t)
	h := b.listen(control.Endpoint{}, nil)
	b.create("")
	require.Equal(t, control.Counts{Delivered: 1}, b.flush())
	one := h.all()[0]
	event, err := webhook.ConstructEvent([]byte(one.body), one.header.Get("Stripe-Signature"), hookSecret)
	require.NoError(t, err)
	require.EqualValues(t, "payment_intent.created", event.Type)
	require.EqualValues(t, 1, event.PendingWebhooks)
	require.Contains(t, one.header.Get("Content-Type"), "application/json")
	_, err = webhook.ConstructEvent([]byte(one.body+" "), one.header.Get("Stripe-Signature"), hookSecret)
	require.Error(t, err)
	require.Contains(t, one.header.Get("Stripe-Signature"), ",v0=", "which is to be ignored")
}

func TestSignatureTimeIsWallTimeAndFreshForEachTry(t *testing.T) {
	wall := &testClock{now: time.Unix(1_800_000_000, 0)}
	b := start(t, func(c *stripesim.Config) { c.Wall = func() time.Time { now, _ := wall.Now(t.Context()); return now } })
	h := b.listen(control.Endpoint{}, func(n int, _ received) int { return []int{500, 200}[n-1] })
	b.create("")
	b.flush()
	wall.advance(time.Hour)
	b.clock.advance(10 * time.Minute)
	require.NoError(t, b.ctl.Tick(t.Context()))
	b.flush()
	got := h.all()
	require.Len(t, got, 2)
	require.True(t, strings.HasPrefix(got[0].header.Get("Stripe-Signature"), "t=1800000000,v1="))
	require.True(t, strings.HasPrefix(got[1].header.Get("Stripe-Signature"), "t=1800003600,v1="))
	require.Equal(t, got[0].body, got[1].body)
}

func TestEachEndpointHasItsSecretAndGetsTheSameEventID(t *testing.T) {
	b := start(t)
	one := b.listen(control.Endpoint{Secret: "whsec_one"}, nil)
	two := b.listen(control.Endpoint{Secret: "whsec_two"}, nil)
	b.create("")
	b.flush()
	for secret, h := range map[string]*hook{"whsec_one": one, "whsec_two": two} {
		_, err := webhook.ConstructEvent([]byte(h.all()[0].body), h.all()[0].header.Get("Stripe-Signature"), secret)
		require.NoError(t, err)
	}
	require.Equal(t, dig(one.all()[0].body, "id"), dig(two.all()[0].body, "id"))
}

func TestRolledSecretSignsTwice(t *testing.T) {
	b := start(t)
	h := b.listen(control.Endpoint{Secret: "whsec_new", OldSecret: "whsec_old"}, nil)
	b.create("")
	b.flush()
	for _, secret := range []string{"whsec_new", "whsec_old"} {
		_, err := webhook.ConstructEvent([]byte(h.all()[0].body), h.all()[0].header.Get("Stripe-Signature"), secret)
		require.NoError(t, err)
	}
}

func TestEndpointGetsOnlyWhatItIsFor(t *testing.T) {
	b := start(t)
	yes, no := true, false
	live := b.listen(control.Endpoint{Livemode: &yes}, nil)
	test := b.listen(control.Endpoint{Livemode: &no}, nil)
	other := b.listen(control.Endpoint{Account: "acct_other"}, nil)
	charges := b.listen(control.Endpoint{EnabledEvents: []string{"charge.*"}}, nil)
	b.create("confirm=true&payment_method=pm_card_visa")
	b.flush()
	require.Empty(t, live.all())
	require.Len(t, test.all(), 3)
	require.Empty(t, other.all())
	require.Equal(t, []string{"charge.succeeded"}, charges.kinds())
}

func TestEveryOtherAnswerThanA2xxIsAFailureAndIsRetried(t *testing.T) {
	for _, status := range []int{302, 304, 400, 404, 500, 503} {
		b := start(t)
		h := b.listen(control.Endpoint{}, func(n int, _ received) int {
			if n == 1 {
				return status
			}
			return http.StatusNoContent
		})
		b.create("")
		require.Equal(t, control.Counts{Scheduled: 1}, b.flush(), status)
		require.Len(t, h.all(), 1, "a redirect is not followed")
		counts, err := b.ctl.Flush(t.Context(), true)
		require.NoError(t, err)
		require.Equal(t, control.Counts{Delivered: 1}, counts, "any 2xx acknowledges")
		b.clock.advance(100 * time.Hour)
		require.NoError(t, b.ctl.Tick(t.Context()))
		b.flush()
		require.Len(t, h.all(), 2, "an acknowledged event is not sent again")
	}
}

func TestNoAnswerIsAFailure(t *testing.T) {
	b := start(t, func(c *stripesim.Config) { c.WebhookTimeout = 20 * time.Millisecond })
	stuck := make(chan struct{})
	b.listen(control.Endpoint{}, func(int, received) int { <-stuck; return 200 })
	b.create("")
	require.Equal(t, control.Counts{Scheduled: 1}, b.flush())
	close(stuck)
	events, err := b.ctl.AllEvents(t.Context())
	require.NoError(t, err)
	require.Zero(t, events[0].Deliveries[0].Tries[0].Status)
	require.NotEmpty(t, events[0].Deliveries[0].Tries[0].Error)
}

func TestTestModeRetriesThreeTimesWithGrowingGapsThenGivesUp(t *testing.T) {
	b := start(t)
	h := b.listen(control.Endpoint{}, func(int, received) int { return 500 })
	b.create("")
	b.flush()
	for i, gap := range []time.Duration{10 * time.Minute, time.Hour, 2 * time.Hour} {
		b.clock.advance(gap - time.Second)
		require.NoError(t, b.ctl.Tick(t.Context()))
		b.flush()
		require.Len(t, h.all(), i+1, "not before its time")
		b.clock.advance(time.Second)
		require.NoError(t, b.ctl.Tick(t.Context()))
		b.flush()
		require.Len(t, h.all(), i+2)
	}
	require.Equal(t, control.Counts{Failed: 1}, b.flush())
}

func TestLiveModeRetriesForAboutThreeDays(t *testing.T) {
	b := start(t)
	h := b.listen(control.Endpoint{}, func(int, received) int { return 500 })
	b.do(request{path: intents, form: "amount=100&currency=usd", auth: "Bearer sk_live_shop"})
	b.flush()
	began := b.clock.now
	for {
		events, err := b.ctl.AllEvents(t.Context())
		require.NoError(t, err)
		next := events[0].Deliveries[0].NextTry
		if next == nil {
			break
		}
		b.clock.advance(next.Sub(b.clock.now))
		require.NoError(t, b.ctl.Tick(t.Context()))
		b.flush()
	}
	took := b.clock.now.Sub(began)
	require.Greater(t, took, 2*24*time.Hour)
	require.LessOrEqual(t, took, 3*24*time.Hour)
	require.Len(t, h.all(), 10)
}

func TestRetryScaleShrinksTheGaps(t *testing.T) {
	b := start(t, func(c *stripesim.Config) { c.RetryScale = 0.001 })
	b.listen(control.Endpoint{}, func(n int, _ received) int { return []int{500, 200}[n-1] })
	b.create("")
	b.flush()
	b.clock.advance(600 * time.Millisecond)
	require.NoError(t, b.ctl.Tick(t.Context()))
	require.Equal(t, control.Counts{Delivered: 1}, b.flush())
}

func TestRemovedEndpointGetsNoRetries(t *testing.T) {
	b := start(t)
	h := b.listen(control.Endpoint{}, func(int, received) int { return 500 })
	b.create("")
	b.flush()
	endpoints, err := b.ctl.Endpoints(t.Context())
	require.NoError(t, err)
	require.NoError(t, b.ctl.DeleteEndpoint(t.Context(), endpoints[0].ID))
	counts, err := b.ctl.Flush(t.Context(), true)
	require.NoError(t, err)
	require.Equal(t, control.Counts{Failed: 1}, counts)
	require.Len(t, h.all(), 1)
}

func TestOneWorkerDeliversInOrderOfCreation(t *testing.T) {
	b := start(t, func(c *stripesim.Config) { c.WebhookWorkers = 1 })
	h := b.listen(control.Endpoint{}, nil)
	b.create("confirm=true&payment_method=pm_card_visa")
	b.flush()
	require.Equal(t, []string{"payment_intent.created", "charge.succeeded", "payment_intent.succeeded"}, h.kinds())
}

func TestDeliveryDoesNotKeepTheAPIWaiting(t *testing.T) {
	b := start(t)
	stuck := make(chan struct{})
	b.listen(control.Endpoint{}, func(int, received) int { <-stuck; return 200 })
	require.Equal(t, "succeeded", b.post(intents, paidForm, "").json("status"))
	close(stuck)
	require.Equal(t, control.Counts{Delivered: 3}, b.flush())
}

func TestRedeliveryByHandWaitsForTheAnswers(t *testing.T) {
	b := start(t)
	var mu sync.Mutex
	bodies := map[string]int{}
	h := b.listen(control.Endpoint{}, func(n int, r received) int {
		mu.Lock()
		defer mu.Unlock()
		bodies[dig(r.body, "id").(string)]++
		return 200 + n
	})
	b.create("")
	b.flush()
	events, err := b.ctl.AllEvents(t.Context())
	require.NoError(t, err)
	sent, err := b.ctl.Deliver(t.Context(), events[0].ID, control.Deliver{Times: 3})
	require.NoError(t, err)
	require.Equal(t, []int{202, 203, 204}, []int{sent.Answers[0].Status, sent.Answers[1].Status, sent.Answers[2].Status})
	sent, err = b.ctl.Deliver(t.Context(), events[0].ID, control.Deliver{Times: 5, Concurrent: true})
	require.NoError(t, err)
	require.Len(t, sent.Answers, 5)
	require.Len(t, h.all(), 9)
	require.Equal(t, 9, bodies[events[0].ID])
	_, err = b.ctl.Deliver(t.Context(), "evt_missing", control.Deliver{})
	require.Error(t, err)
}

func TestHandMadeEventIsSignedSentAndListed(t *testing.T) {
	b := start(t)
	h := b.listen(control.Endpoint{}, nil)
	sent, err := b.ctl.Emit(t.Context(), control.Emit{ID: "evt_made", Type: "payment_intent.succeeded", Account: "acct_shop",
		Object: []byte(`{"id":"pi_foreign","object":"payment_intent"}`)})
	require.NoError(t, err)
	require.Equal(t, 200, sent.Answers[0].Status)
	event, err := webhook.ConstructEvent([]byte(h.all()[0].body), h.all()[0].header.Get("Stripe-Signature"), hookSecret)
	require.NoError(t, err)
	require.Equal(t, "evt_made", event.ID)
	require.Equal(t, "pi_foreign", b.get("/v1/events/evt_made").json("data.object.id"))

	_, err = b.ctl.Emit(t.Context(), control.Emit{ID: "evt_made", Type: "payment_intent.succeeded", Account: "acct_shop", Object: []byte(`{"id":"pi_b"}`)})
	require.NoError(t, err)
	require.Equal(t, "pi_b", dig(h.all()[1].body, "data.object.id"), "other bytes go out")
	require.Equal(t, "pi_foreign", b.get("/v1/events/evt_made").json("data.object.id"), "the first are kept")
}

func TestHandMadeEventCanBeBadlySigned(t *testing.T) {
	b := start(t)
	h := b.listen(control.Endpoint{}, nil)
	_, err := b.ctl.Emit(t.Context(), control.Emit{Raw: "not json", Secret: "whsec_wrong", SignatureOffsetS: -3600})
	require.NoError(t, err)
	one := h.all()[0]
	require.Equal(t, "not json", one.body)
	require.ErrorIs(t, webhook.ValidatePayloadIgnoringTolerance([]byte(one.body), one.header.Get("Stripe-Signature"), hookSecret), webhook.ErrNoValidSignature)
	require.ErrorIs(t, webhook.ValidatePayload([]byte(one.body), one.header.Get("Stripe-Signature"), "whsec_wrong"), webhook.ErrTooOld)
	at, err := strconv.ParseInt(strings.TrimPrefix(strings.Split(one.header.Get("Stripe-Signature"), ",")[0], "t="), 10, 64)
	require.NoError(t, err)
	require.Positive(t, at)
}
