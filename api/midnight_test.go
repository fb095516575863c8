package api_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

// Before midnight the answer is lost, and the client comes back on the next day, to a process in another time zone: it is the same order. Two
// purchases of one day are two. No key of ours knows what time it is.
func TestARetryOverMidnightIsTheSameOrder(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	var now time.Time
	require.NoError(t, s.Owner.QueryRow(t.Context(), `SELECT payonce.clock()`).Scan(&now))
	const before = 10 * time.Minute
	midnight := now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	hold, err := s.Twin.Hold(t.Context(), control.Hold{Method: http.MethodPost, Path: "/v1/payment_intents", Point: control.AfterEffect, Times: 1})
	require.NoError(t, err)
	s.DB.AdvanceClock(t, midnight.Sub(now)-before)
	ctx, giveUp := context.WithCancel(t.Context())
	posted := make(chan error, 1)
	go func() {
		_, err := s.Post(ctx, s.APIKey, "/v1/payments", "K1", system.Order("order-1", 1000), "wait=30")
		posted <- err
	}()
	_, err = s.Twin.Held(t.Context(), 1)
	require.NoError(t, err)
	giveUp()
	require.Error(t, <-posted)
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.payments WHERE created_at < $1`, midnight))
	s.DB.AdvanceClock(t, before)
	require.NoError(t, s.Twin.Release(t.Context(), hold.ID))

	s.Exec(`ALTER DATABASE "` + s.DB.Name + `" SET TimeZone TO 'Pacific/Kiritimati'`)
	s.App = s.Open()
	s.StartAPI()
	named := map[payments.PaymentID]bool{}
	for _, key := range []string{"K1", "K2"} {
		s.Eventually("the retry is answered", func() bool {
			answer := s.Create(key, system.Order("order-1", 1000))
			if answer.Status == http.StatusCreated {
				named[answer.Payment(t).ID] = true
			}
			return answer.Status == http.StatusCreated
		})
	}
	require.Len(t, named, 1)
	for order, amount := range map[string]int64{"order-2": 1000, "order-3": 2000} {
		answer := s.Create(order, system.Order(order, amount))
		require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Body)
		require.False(t, answer.Replayed())
		require.Equal(t, amount, s.Book(answer.Payment(t).ID).Captured)
	}
	require.Equal(t, 3, s.Count(`SELECT count(*) FROM payonce.payments WHERE status = 'succeeded'`))
}
