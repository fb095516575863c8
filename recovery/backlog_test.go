package recovery_test

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/recovery"
)

// woken counts wake-ups and wakes nobody.
type woken struct{ count atomic.Int64 }

func (w *woken) Start(ctx context.Context, payment payments.PaymentID) error {
	return w.Wake(ctx, payment)
}

func (w *woken) Wake(context.Context, payments.PaymentID) error {
	w.count.Add(1)
	return nil
}

func (w *woken) WakeRefund(ctx context.Context, payment payments.PaymentID, _ payments.RefundID) error {
	return w.Wake(ctx, payment)
}

func (w *woken) WakeProvision(ctx context.Context, _ payments.ProvisionID, _ payments.RecordID) error {
	return w.Wake(ctx, payments.PaymentID{})
}

func (w *woken) WakePayout(ctx context.Context, _ payments.PayoutID) error {
	return w.Wake(ctx, payments.PaymentID{})
}

// A backlog is woken a few commands at a time, and leaves room for those that come now; it never stands still for them.
func TestABacklogLeavesRoomForWhoComesNow(t *testing.T) {
	t.Parallel()
	s := system.New(t)
	s.StartAPI() // and no worker: nothing ends
	accept := func(reference string) {
		answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments", reference, system.Order(reference, 1000), "wait=0")
		require.NoError(t, err)
		require.Equal(t, http.StatusAccepted, answer.Status, "%s", answer.Body)
	}
	for i := range 8 {
		accept(fmt.Sprint("backlog-", i))
	}
	waker := &woken{}
	relay := &recovery.Relay{
		Pool: s.App.System, Activities: s.App.Activities, Waker: waker, Timing: s.Config.Timing, InFlight: 3, Log: system.Log(),
	}
	wakes := func() int {
		taken, err := relay.Wake(t.Context())
		require.NoError(t, err)
		return taken
	}
	done := func() { s.Exec(`UPDATE payonce.idempotency_records SET wakes = 2 WHERE wakes = 1`) } // no longer under way
	s.DB.AdvanceClock(t, time.Minute)
	require.Equal(t, 3, wakes())
	require.Equal(t, 0, wakes(), "as many as may are under way")
	require.True(t, relay.Behind())
	s.Exec(`UPDATE payonce.idempotency_records SET next_wake_at = payonce.clock() + interval '1 hour' WHERE wakes = 1`)
	accept("live-1")
	s.Exec(`UPDATE payonce.idempotency_records SET next_wake_at = payonce.clock() + interval '1 hour' WHERE wakes = 0 AND next_wake_at > payonce.clock()`)
	require.Equal(t, 0, wakes())
	done()
	require.Equal(t, 2, wakes(), "one came now")
	done()
	for i := range 4 {
		accept(fmt.Sprint("live-", i+2))
	}
	s.Exec(`UPDATE payonce.idempotency_records SET next_wake_at = payonce.clock() + interval '1 hour' WHERE wakes = 0 AND next_wake_at > payonce.clock()`)
	require.Equal(t, 1, wakes(), "many came now, and the backlog goes on")
	require.EqualValues(t, 6, waker.count.Load())
	s.Exec(`UPDATE payonce.idempotency_records SET wakes = 2, next_wake_at = payonce.clock() + interval '1 hour' WHERE wakes < 2`)
	require.Zero(t, wakes())
	s.Exec(`UPDATE payonce.idempotency_records SET wakes = 0, next_wake_at = payonce.clock() WHERE operation = $1`, payments.OperationCreate)
	require.Equal(t, 3, wakes(), "nobody came any more")
	done()
	relay.Linger = 24 * time.Hour
	require.Equal(t, 2, wakes(), "the next one may follow at once")
}
