package activities_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/internal/app"
	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

// requireOneRequest requires that all sends of a path were one request: the same key and the same bytes.
func requireOneRequest(t *testing.T, sends []control.Request) {
	t.Helper()
	require.NotEmpty(t, sends)
	for _, send := range sends {
		require.Equal(t, sends[0].IdempotencyKey, send.IdempotencyKey)
		require.Equal(t, sends[0].Body, send.Body)
	}
}

// That a key is still in use says that the first send runs, and nothing about the payment: it is neither failed nor canceled, and its caller gets
// the outcome of that first send.
func TestAKeyInUseIsNoRefusal(t *testing.T) {
	t.Parallel()
	const confirm = "/v1/payment_intents/*/confirm"
	s := system.Start(t)
	hold, err := s.Twin.Hold(t.Context(), control.Hold{Method: http.MethodPost, Path: confirm, Point: control.BeforeEffect})
	require.NoError(t, err)
	answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments", "K1", system.Order("order-1", 1000), "wait=0")
	require.NoError(t, err)
	id := answer.Payment(t).ID
	s.Eventually("three sends met at Stripe", func() bool { return len(s.Requests(http.MethodPost, confirm)) >= 3 })
	waiting := s.Payment(id)
	require.Equal(t, payments.StatusSubmitted, waiting.Status)
	require.Nil(t, waiting.LastError)
	require.NoError(t, s.Twin.Release(t.Context(), hold.ID))
	s.Eventually("its caller gets the outcome", func() bool {
		answer = s.Create("K1", system.Order("order-1", 1000))
		return answer.Status != http.StatusAccepted && answer.Status != http.StatusConflict
	})
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Body)
	require.Equal(t, payments.StatusSucceeded, answer.Payment(t).Status)
	s.Settle()
	sends := s.Requests(http.MethodPost, confirm)
	requireOneRequest(t, sends)
	require.Equal(t, http.StatusConflict, sends[1].Status)
	require.Empty(t, s.Requests(http.MethodPost, "/v1/payment_intents/*/cancel"))
	require.Len(t, s.Receiver.Of(t, id.String()), 1)
}

// A locked object is no answer of the card: it is asked again with the same key, and nobody is told of a decline.
func TestALockedObjectIsAskedAgainAndIsNoDecline(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	s.Fault(control.Rule{Match: control.Match{Method: http.MethodPost, Path: "/v1/payment_intents/*/confirm"}, Fault: control.FaultLockTimeout, Times: 2})
	answer := s.Create("K1", system.Order("order-1", 1000))
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Body)
	payment := answer.Payment(t)
	require.Equal(t, payments.StatusSucceeded, payment.Status)
	require.Nil(t, payment.LastError)
	s.Settle()
	sends := s.Requests(http.MethodPost, "/v1/payment_intents/*/confirm")
	require.Len(t, sends, 3)
	requireOneRequest(t, sends)
	messages := s.Receiver.Of(t, payment.ID.String())
	require.Len(t, messages, 1)
	require.Equal(t, "payment.succeeded", messages[0].Type)
	require.Zero(t, s.Count(`SELECT count(*) FROM payonce.payment_facts WHERE fact LIKE 'declined/%'`))
}

// A rate limit is waited for as long as Stripe says, from the first try on; by itself the engine would come back much sooner.
func TestARateLimitIsWaitedForAsLongAsStripeSays(t *testing.T) {
	t.Parallel()
	const retryAfter = 3 // seconds: beyond every pause of the quick durations
	s := system.Start(t)
	require.Less(t, s.Config.Timing.RetryMaximum, retryAfter*time.Second)
	s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDrop})
	s.Fault(control.Rule{
		Match: control.Match{Method: http.MethodPost, Path: "/v1/payment_intents/*/confirm"},
		Fault: control.FaultRateLimited, RetryAfterS: retryAfter, Times: 2,
	})
	payment := s.Create("K1", system.Order("order-1", 1000)).Payment(t)
	s.Eventually("the payment succeeds", func() bool { return s.Payment(payment.ID).Status == payments.StatusSucceeded })
	sends := s.Requests(http.MethodPost, "/v1/payment_intents/*/confirm")
	require.Len(t, sends, 3)
	requireOneRequest(t, sends)
	for i := range 2 { // by the twin's log: the answer left after the request came, so the distance is the longer one
		require.GreaterOrEqual(t, sends[i+1].Time.Sub(sends[i].Time), retryAfter*time.Second)
	}
	s.Settle()
	messages := s.Receiver.Of(t, payment.ID.String())
	require.Len(t, messages, 1)
	require.Equal(t, "payment.succeeded", messages[0].Type)
}

// Whatever a card is refused for, Stripe is asked once and the payer is told once.
func TestEachKindOfDeclineIsAskedOnce(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	for method, code := range map[string]string{
		"pm_card_chargeDeclinedExpiredCard": "expired_card", "pm_card_chargeDeclinedIncorrectCvc": "incorrect_cvc",
		"pm_card_chargeDeclinedProcessingError": "processing_error", "pm_card_chargeDeclinedInsufficientFunds": "card_declined",
	} {
		answer := s.Create(method, system.With(system.Order(method, 1000), "payment_method", method))
		require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Body)
		payment := answer.Payment(t)
		require.Equal(t, payments.StatusRequiresPaymentMethod, payment.Status)
		require.Equal(t, code, payment.LastError.Code)
		require.Len(t, s.Requests(http.MethodPost, "/v1/payment_intents/"+payment.PaymentIntent+"/confirm"), 1)
	}
	s.Settle()
	require.Len(t, s.Requests(http.MethodPost, "/v1/payment_intents/*/confirm"), 4)
	require.Len(t, s.Receiver.Messages(), 4)
	for _, message := range s.Receiver.Messages() {
		require.Equal(t, "payment.declined", message.Type)
	}
}

// front is a proxy before the twin that counts the requests of ours that wait for an answer.
type front struct {
	url  string
	open atomic.Int64
}

func newFront(t *testing.T, twin string) *front {
	t.Helper()
	target, err := url.Parse(twin)
	require.NoError(t, err)
	f := &front{}
	transport := &http.Transport{}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, Transport: transport,
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.open.Add(1)
		defer f.open.Add(-1)
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		transport.CloseIdleConnections()
	})
	f.url = server.URL
	return f
}

// Stripe holds every create for longer than any try waits, so that at Stripe the tries overlap: they are one request, none of them outlives its
// time-out here, and the worker can leave meanwhile.
func TestTriesThatOverlapAtStripeAreOneCharge(t *testing.T) {
	for name, point := range map[string]string{
		"the first still runs and the others are refused": control.BeforeEffect,
		"all are executed or repeated and none answered":  control.AfterEffect,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const create = "/v1/payment_intents"
			var before *front
			s := system.New(t, func(c *app.Config) {
				before = newFront(t, c.StripeURL)
				c.StripeURL = before.url
			})
			s.StartAPI()
			stopWorker := s.StartWorker()
			s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDrop})
			hold, err := s.Twin.Hold(t.Context(), control.Hold{Method: http.MethodPost, Path: create, Point: point})
			require.NoError(t, err)
			answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments", "K1", system.Order("order-1", 1000), "wait=0")
			require.NoError(t, err)
			id := answer.Payment(t).ID
			s.Eventually("three tries met at Stripe", func() bool { return len(s.Requests(http.MethodPost, create)) >= 3 })
			stopWorker()
			s.Eventually("no try waits any longer", func() bool { return before.open.Load() == 0 })
			require.Equal(t, payments.StatusSubmitted, s.Payment(id).Status)
			s.App = s.Open()
			s.StartWorker()
			require.NoError(t, s.Twin.Release(t.Context(), hold.ID))
			s.Eventually("the payment succeeds", func() bool { return s.Payment(id).Status == payments.StatusSucceeded })
			requireOneRequest(t, s.Requests(http.MethodPost, create))
			require.Equal(t, 1, s.Book(id).ConfirmsExecuted)
			require.EqualValues(t, 1000, s.Book(id).Captured)
		})
	}
}
