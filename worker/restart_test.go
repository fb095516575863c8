package worker_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"payonce/internal/app"
	"payonce/internal/testkit/system"
	"payonce/internal/timing"
	"payonce/payments"
	"payonce/stripesim/control"
)

// Told to stop while the commit that books a charge is under way, a worker lets it end and leaves nothing half done.
func TestAWorkerToldToStopFinishesTheCommitUnderWay(t *testing.T) {
	t.Parallel()
	s := system.New(t, func(c *app.Config) { c.Timing = timing.Production() })
	s.StartAPI()
	s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDrop})
	worker := s.WorkerProcess()
	gate, err := s.Owner.Begin(t.Context())
	require.NoError(t, err)
	defer gate.Rollback(context.Background())
	_, err = gate.Exec(t.Context(), `LOCK TABLE payonce.ledger_journals IN SHARE MODE`)
	require.NoError(t, err)
	answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments", "K1", system.Order("order-1", 1000), "wait=0")
	require.NoError(t, err)
	id := answer.Payment(t).ID
	s.Eventually("the posting waits at the gate", func() bool {
		return s.Count(`SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'payonce.ledger_journals'::regclass`) > 0
	})
	worker.Terminate()
	require.NoError(t, gate.Rollback(t.Context()))
	require.Zero(t, worker.Ended())
	require.Equal(t, payments.StatusSucceeded, s.Payment(id).Status, "nobody else works")
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.ledger_journals`))
	require.Equal(t, 1, s.Book(id).ConfirmsExecuted)
}

// All workers are replaced, round after round, while orders come in: each order is paid once, every caller has its outcome, and each worker ends
// well.
func TestOrdersArePaidOnceWhileWorkersAreReplaced(t *testing.T) {
	t.Parallel()
	const rounds, orders, clients = 6, 10, 4
	s := system.New(t)
	s.StartAPI()
	running := s.WorkerProcess()
	for round := range rounds {
		var group errgroup.Group
		for client := range clients {
			group.Go(func() error {
				for n := client; n < orders; n += clients {
					if err := pay(t.Context(), s, fmt.Sprintf("%d-%d", round, n)); err != nil {
						return err
					}
				}
				return nil
			})
		}
		next := s.WorkerProcess()
		running.Terminate()
		require.NoError(t, group.Wait())
		require.Zero(t, running.Ended())
		running = next
	}
	s.Settle()
	require.Equal(t, rounds*orders, s.Count(`SELECT count(*) FROM payonce.payments WHERE status = 'succeeded'`))
	require.Equal(t, rounds*orders, s.Count(`SELECT count(*) FROM payonce.ledger_journals`))
	require.Equal(t, rounds*orders, s.Count(`SELECT count(*) FROM payonce.notifications`))
	books, err := s.Twin.AllBooks(t.Context())
	require.NoError(t, err)
	require.Len(t, books, rounds*orders)
	for _, book := range books {
		require.Equal(t, 1, book.ConfirmsExecuted)
	}
}

// pay pays an order, asking again under the same key as long as its outcome is not known: at most three times the longest wait.
func pay(ctx context.Context, s *system.System, order string) error {
	var answer system.Answer
	var err error
	for range 3 {
		answer, err = s.Post(ctx, s.APIKey, "/v1/payments", "key-"+order, system.Order("order-"+order, 1000), "wait=30")
		if err != nil || answer.Status == http.StatusCreated {
			return err
		}
	}
	return fmt.Errorf("order %s: %d %s", order, answer.Status, answer.Body)
}
