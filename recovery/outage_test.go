package recovery_test

import (
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/internal/testkit/system"
	"payonce/recovery"
)

// Temporal takes connections and does not answer: one round of the relay ends every create that was not sent in time, since a wake-up that hangs is
// given up and holds up no other payment.
func TestOneRoundEndsEveryLateCreateWhileTemporalHangs(t *testing.T) {
	t.Parallel()
	const orders = 32
	s := system.New(t)
	s.Config.TemporalAddress = nowhere
	s.App = s.Open()
	s.StartAPI()
	for i := range orders {
		_, err := s.Post(t.Context(), s.APIKey, "/v1/payments", fmt.Sprint("K", i), system.Order(fmt.Sprint("order-", i), 1000), "wait=0")
		require.NoError(t, err)
	}
	s.DB.AdvanceClock(t, s.Config.Timing.CommandDeadline+time.Second)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, silent.Close()) }()
	s.Config.TemporalAddress = silent.Addr().String()
	hung := s.Open()
	waker, _ := hung.Activities.Waker.(recovery.Waker)
	relay := &recovery.Relay{Pool: hung.System, Activities: hung.Activities, Waker: waker, Timing: s.Config.Timing, Log: system.Log()}
	taken, err := relay.Wake(t.Context())
	require.NoError(t, err)
	require.Equal(t, orders, taken)
	require.Equal(t, orders, s.Count(`SELECT count(*) FROM payonce.payments WHERE status = 'expired'`))
}
