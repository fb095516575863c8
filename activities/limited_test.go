package activities_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/internal/clock"
	"payonce/internal/testkit/system"
	"payonce/payments"
)

// posts are the paths of the POSTs that reached the twin, in their order.
func posts(t *testing.T, s *system.System) []string {
	t.Helper()
	all, err := s.Twin.AllRequests(t.Context())
	require.NoError(t, err)
	var paths []string
	for _, request := range all {
		if request.Method == http.MethodPost {
			paths = append(paths, request.Path)
		}
	}
	return paths
}

// An account that has used up its calls makes a payment wait, not fail: nothing is frozen or sent until there is a call again, and then just that one.
func TestAPaymentOfAnAccountWithoutCallsWaitsUnsent(t *testing.T) {
	t.Parallel()
	const every = 5 * time.Minute // one call
	s := system.Start(t, system.Unhurried)
	s.LimitCalls(1 / every.Seconds())
	answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments", "K1", system.Order("order-1", 1000), "wait=1")
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, answer.Status, "%s", answer.Body)
	id := answer.Payment(t).ID
	s.Eventually("its intent is created", func() bool { return s.Payment(id).Stage == payments.StageExternalResourceCreated })
	other, err := s.Post(t.Context(), s.APIKey, "/v1/payments", "K2", system.Order("order-2", 1000), "wait=2")
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, other.Status, "%s", other.Body)

	for _, payment := range []payments.View{s.Payment(id), s.Payment(other.Payment(t).ID)} {
		require.Equal(t, payments.StatusSubmitted, payment.Status)
		require.Nil(t, payment.LastError)
	}
	require.Len(t, posts(t, s), 1, "one call, one send")
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.provider_calls`), "what is not sent is not frozen")

	s.DB.AdvanceClock(t, every)
	s.Eventually("the next call goes, be it a read", func() bool {
		all, err := s.Twin.AllRequests(t.Context())
		require.NoError(t, err)
		return len(all) == 2
	})
	s.LimitCalls(1000)
	s.Eventually("both are paid once the rate is raised", func() bool {
		return s.Count(`SELECT count(*) FROM payonce.payments WHERE status = 'succeeded'`) == 2
	})
	s.Settle()
	require.Len(t, posts(t, s), 4)
}

// A create whose turn does not come before its deadline ends as unsent, like one that met no worker: the wait for a call does not outlast it.
func TestAPaymentThatGetsNoCallInTimeEndsUnsent(t *testing.T) {
	t.Parallel()
	s := system.Start(t, system.Unhurried)
	s.LimitCalls(1.0 / (24 * 3600))
	first := s.Create("K1", system.With(system.Order("order-1", 1000), "payment_method", nil))
	require.Equal(t, http.StatusCreated, first.Status, "%s", first.Body)
	answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments", "K2", system.Order("order-2", 1000), "wait=1")
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, answer.Status, "%s", answer.Body)
	s.DB.AdvanceClock(t, s.Config.Timing.CommandDeadline+time.Second)
	s.Eventually("it ends", func() bool { return s.Payment(answer.Payment(t).ID).Status == payments.StatusExpired })
	require.Equal(t, payments.FailureExpiredUnsent, s.Payment(answer.Payment(t).ID).Failure.Code)
	require.Len(t, posts(t, s), 1)
}

// Whatever the workers want, Stripe is sent no more than the bucket gives, by the clock of both: a call reaches Stripe after it was taken.
func TestStripeIsSentNoMoreThanTheBucketGives(t *testing.T) {
	t.Parallel()
	const orders, perSecond, bucket = 4, 1.0, 1
	s := system.Start(t, system.Unhurried)
	s.LimitCalls(perSecond)
	began, err := clock.Postgres{Source: s.Owner}.Now(t.Context())
	require.NoError(t, err)
	for i := range orders {
		name := string(rune('a' + i))
		_, err := s.Post(t.Context(), s.APIKey, "/v1/payments", name, system.Order("order-"+name, 1000), "wait=0")
		require.NoError(t, err)
	}
	s.Eventually("all are paid", func() bool {
		return s.Count(`SELECT count(*) FROM payonce.payments WHERE status = 'succeeded'`) == orders
	})
	all, err := s.Twin.AllRequests(t.Context())
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(all), 2*orders)
	for i, request := range all {
		require.LessOrEqual(t, float64(i+1), bucket+perSecond*request.Time.Sub(began).Seconds(), "%s %s", request.Method, request.Path)
	}
}
