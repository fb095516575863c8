package recovery_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/internal/app"
	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/recovery"
	"payonce/stripesim/control"
)

// setAside settles every stored event as one that says nothing, as a release might that did not understand it.
const setAside = `UPDATE payonce.provider_events SET status = 'ignored', reason = 'names no payment intent', settled_at = payonce.clock(), next_try_at = NULL`

// An event that was set aside is applied when it is replayed, and what is applied already is suppressed: by its id, its payment or its time, as often as
// anybody asks.
func TestAReplayedEventTakesEffectOnce(t *testing.T) {
	t.Parallel()
	s := system.New(t, func(c *app.Config) { c.Timing.PollAfter, c.Timing.PollMaximum = 24*time.Hour, 48*time.Hour })
	s.StartAPI()
	stop := s.StartWorker()
	payment := s.Create("K1", system.With(system.Order("order-1", 1000), "payment_method", nil)).Payment(t)
	s.Settle()
	stop()
	_, err := s.Twin.Pay(t.Context(), payment.PaymentIntent, control.Pay{PaymentMethod: "pm_card_visa"})
	require.NoError(t, err)
	s.Eventually("both events are stored", func() bool {
		return s.Count(`SELECT count(*) FROM payonce.provider_events WHERE type IN ('charge.succeeded', 'payment_intent.succeeded')`) == 2
	})
	s.Exec(setAside)
	s.StartWorker()
	require.Equal(t, payments.StatusRequiresPaymentMethod, s.Payment(payment.ID).Status)

	told := s.Event(payment.PaymentIntent, "payment_intent.succeeded").ID
	replay(t, s, recovery.Selection{Events: []string{told, "evt_unheard_of"}}, 1)
	s.Eventually("the event is applied", func() bool { return s.Payment(payment.ID).Status == payments.StatusSucceeded })
	s.Settle()
	for range 2 {
		replay(t, s, recovery.Selection{Events: []string{told}}, 1)
		replay(t, s, recovery.Selection{Payment: &payment.ID}, 1)
		replay(t, s, recovery.Selection{From: time.Now().Add(-time.Hour), To: time.Now().Add(time.Hour)}, 3)
		s.Settle()
	}
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.ledger_journals WHERE payment = $1`, payment.ID.UUID))
	require.Len(t, s.Receiver.Of(t, payment.ID.String()), 1)
}

// replay asks for events and says how many there must be at least: the wider selections find what the ones before matched.
func replay(t *testing.T, s *system.System, of recovery.Selection, atLeast int) {
	t.Helper()
	asked, err := recovery.Replay(t.Context(), s.App.System, of, 1000, nil)
	require.NoError(t, err)
	require.GreaterOrEqual(t, asked, atLeast)
	s.Settle()
}

// A replay of much leaves room for what arrives meanwhile: its events become due one after the other, in the order in which they came.
func TestAReplayIsPaced(t *testing.T) {
	t.Parallel()
	s := system.New(t)
	s.StartAPI()
	stop := s.StartWorker()
	payment := s.Create("K1", system.Order("order-1", 1000)).Payment(t)
	s.Settle()
	stop()
	asked, err := recovery.Replay(t.Context(), s.App.System, recovery.Selection{Payment: &payment.ID}, 0.5, nil)
	require.NoError(t, err)
	require.Equal(t, asked, s.Count(`SELECT count(*) FROM (
		SELECT extract(epoch FROM next_try_at - replayed_at)::int / 2 = row_number() OVER (ORDER BY id) AS spaced FROM payonce.provider_events) AS e WHERE spaced`))
	require.Greater(t, asked, 1)
	s.Exec(`UPDATE payonce.provider_events SET next_try_at = payonce.clock()`)
	s.StartWorker()
	s.Settle()
}

func TestAReplayNamesEventsInOneWay(t *testing.T) {
	t.Parallel()
	s := system.New(t)
	id := payments.PaymentID{}
	now := time.Now()
	for _, of := range []recovery.Selection{
		{}, {Events: []string{"evt_1"}, Payment: &id}, {Payment: &id, From: now, To: now.Add(time.Hour)}, {From: now}, {To: now}, {From: now, To: now},
	} {
		_, err := recovery.Replay(t.Context(), s.App.System, of, 50, nil)
		require.ErrorIs(t, err, recovery.ErrSelection)
	}
	_, err := recovery.Replay(t.Context(), s.App.System, recovery.Selection{Payment: &id}, 0, nil)
	require.Error(t, err)
}
