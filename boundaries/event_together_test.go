package boundaries_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"payonce/boundaries"
	"payonce/payments"
)

// The invariants: an event that came with others is stored as one that came alone is, once, and is no worse for their faults.

func TestAnEventThatComesWithOthersIsStoredAsOneThatComesAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	together := boundaries.NewEvents(w.system, w.sealer, time.Minute)
	full := succeededEvent(w.engine, offer{Identity: "order-1", Amount: 1000})
	full.APIVersion, full.Created = "2023-10-16", time.Unix(1_700_000_000, 0)
	bare := boundaries.Event{Account: payments.Account{ID: "acct_other", Livemode: true}, ID: "evt_bare", Type: "payout.paid", Body: []byte("{}"),
		Source: boundaries.EventFromBackfill, Ignored: "type_not_consumed"}
	for _, event := range []boundaries.Event{full, bare} {
		event.ID += "_alone"
		require.Equal(t, boundaries.Acquired, w.receive(event))
	}
	first, err := together.Insert(t.Context(), bare, full)
	require.NoError(t, err)
	require.Equal(t, []bool{true, true}, first)

	rows, err := w.system.Query(t.Context(), `SELECT array_agg(replace(event_id, '_alone', '')), account, livemode, type, api_version, object_kind,
			object_id, intent_id, created = received_at OR created = '2023-11-14 22:13:20Z', source, status, reason, next_try_at = received_at,
			settled_at = received_at, deliveries, tries, provider
		FROM payonce.provider_events GROUP BY 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17`)
	require.NoError(t, err)
	kinds, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) ([]any, error) { return row.Values() })
	require.NoError(t, err)
	require.Len(t, kinds, 2, "each as its twin: %v", kinds)
	require.Equal(t, 4, w.count(`SELECT count(*) FROM payonce.provider_events WHERE created = received_at OR event_id NOT LIKE 'evt_bare%'`))

	sealed := read[[]byte](w, `SELECT body FROM payonce.provider_events WHERE event_id = $1`, full.ID)
	body, err := boundaries.OpenEventBody(w.sealer, sealed)
	require.NoError(t, err)
	require.Equal(t, full.Body, body)
}

func TestOneEventTwiceInOneRoundTripIsOneRow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	together := boundaries.NewEvents(w.system, w.sealer, time.Minute)
	event := succeededEvent(w.engine, offer{Identity: "order-1", Amount: 1000})
	other := succeededEvent(w.engine, offer{Identity: "order-2", Amount: 1000})
	first, err := together.Insert(t.Context(), event, other, event)
	require.NoError(t, err)
	require.True(t, first[1])
	require.NotEqual(t, first[0], first[2], "one of the two is the first")
	first, err = together.Insert(t.Context(), event, event)
	require.NoError(t, err)
	require.Equal(t, []bool{false, false}, first)
	require.Equal(t, 2, w.count(`SELECT count(*) FROM payonce.provider_events`))
}

func TestEventsStoredAtOnceAreEachStoredOnceAndCounted(t *testing.T) {
	t.Parallel()
	const events, times = 12, 8
	w := newWorld(t)
	together := boundaries.NewEvents(w.system, w.sealer, time.Minute)
	var (
		storing errgroup.Group
		mutex   sync.Mutex
		got     = map[string][]boundaries.Outcome{}
	)
	for range times {
		for n := range events {
			storing.Go(func() error {
				reference := fmt.Sprint("order-", n)
				outcome, _, err := together.Store(t.Context(), succeededEvent(w.engine, offer{Identity: reference, Amount: 1000}))
				mutex.Lock()
				defer mutex.Unlock()
				got[reference] = append(got[reference], outcome)
				return err
			})
		}
	}
	bad := make(chan error, 1)
	storing.Go(func() error {
		event := succeededEvent(w.engine, offer{Identity: "too-long", Amount: 1000})
		event.ID = strings.Repeat("x", 256)
		_, _, err := together.Store(t.Context(), event)
		bad <- err
		return nil
	})
	require.NoError(t, storing.Wait(), "no other is harmed")
	require.ErrorContains(t, <-bad, "provider_events_event_id_check")
	require.Len(t, got, events)
	for _, outcomes := range got {
		require.Len(t, slices.DeleteFunc(outcomes, func(o boundaries.Outcome) bool { return o != boundaries.Acquired }), 1, "one claim wins")
	}
	require.Equal(t, events, w.count(`SELECT count(*) FROM payonce.provider_events WHERE deliveries = $1`, times))
	require.Equal(t, events, w.count(`SELECT count(*) FROM payonce.provider_events`))
}

// Whoever applies an event holds its row: a repeat of it waits, and events that come meanwhile do not.
func TestARepeatOfAnEventThatIsBeingAppliedHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	together := boundaries.NewEvents(w.system, w.sealer, time.Minute)
	held := succeededEvent(w.engine, offer{Identity: "held", Amount: 1000})
	require.Equal(t, boundaries.Acquired, w.receive(held))
	tx, err := w.system.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(t.Context()) }()
	_, err = tx.Exec(t.Context(), `SELECT FROM payonce.provider_events FOR UPDATE`)
	require.NoError(t, err)
	repeated := make(chan boundaries.Outcome, 1)
	go func() {
		outcome, _, _ := together.Store(t.Context(), held)
		repeated <- outcome
	}()
	require.Eventually(t, func() bool {
		return w.count(`SELECT count(*) FROM pg_locks WHERE NOT granted AND pid IN
			(SELECT pid FROM pg_stat_activity WHERE datname = current_database())`) == 1
	}, time.Minute, time.Millisecond)
	outcome, _, err := together.Store(t.Context(), succeededEvent(w.engine, offer{Identity: "other", Amount: 1000}))
	require.NoError(t, err)
	require.Equal(t, boundaries.Acquired, outcome)
	require.Empty(t, repeated)
	require.NoError(t, tx.Commit(t.Context()))
	require.Equal(t, boundaries.Replay, <-repeated)
	require.Equal(t, 2, w.count(`SELECT deliveries FROM payonce.provider_events WHERE event_id = $1`, held.ID))
}
