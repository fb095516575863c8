package recovery_test

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"payonce/internal/testkit/system"
	"payonce/payments"
)

// The receiver of messages is away for two days while a hundred orders are paid: none of them waits for it, and when it is back it takes each
// message once.
func TestAHundredPaymentsDoNotWaitForAReceiverThatIsAway(t *testing.T) {
	t.Parallel()
	const orders, steps = 100, 8
	s := system.Start(t)
	var back atomic.Bool
	var taken sync.Map
	s.Receiver.Answer(func(w http.ResponseWriter, message system.Message) {
		if !back.Load() {
			hangUp(w)
		} else if _, again := taken.LoadOrStore(message.ID, true); again {
			t.Errorf("message %s was taken twice", message.ID)
		}
	})
	for step := range steps {
		var group errgroup.Group
		group.SetLimit(4)
		for n := step; n < orders; n += steps {
			group.Go(func() error {
				answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments", fmt.Sprint("K", n), system.Order(fmt.Sprint("order-", n), 1000), "wait=30")
				if err == nil && answer.Status != http.StatusCreated {
					err = fmt.Errorf("order %d: %d %s", n, answer.Status, answer.Body)
				}
				return err
			})
		}
		require.NoError(t, group.Wait())
		s.DB.AdvanceClock(t, 48*time.Hour/steps)
	}
	const done = `SELECT count(*) FROM payonce.payments WHERE status = $1 AND stage = $2`
	require.Equal(t, orders, s.Count(done, payments.StatusSucceeded, payments.StageLedgerApplied), "while nobody takes a message")
	require.Zero(t, s.Count(`SELECT count(*) FROM payonce.notifications WHERE status <> 'queued'`))
	back.Store(true)
	s.Settle()
	require.Equal(t, orders, s.Count(`SELECT count(*) FROM payonce.notifications WHERE status = 'delivered'`))
	require.Equal(t, orders, s.Count(`SELECT count(*) FROM payonce.notifications`))
}

// hangUp closes the connection without an answer.
func hangUp(w http.ResponseWriter) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_ = connection.Close()
	}
}
