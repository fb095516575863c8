package boundaries_test

import (
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"payonce/boundaries"
	"payonce/notifications"
)

// tell queues a message in a transaction of its own.
func (w *world) tell(message notifications.Message) notifications.Queued {
	w.t.Helper()
	var queued notifications.Queued
	require.NoError(w.t, pgx.BeginFunc(w.t.Context(), w.system, func(tx pgx.Tx) (err error) {
		queued, err = notifications.Enqueue(w.t.Context(), tx, w.sealer, message)
		return err
	}))
	return queued
}

func TestAMessageHasOneIDForEver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	message := succeededMessage(w.engine, w.offer(notificationBoundary(), "order-1", 1000))
	require.Equal(t, notifications.Queued{Queued: 1}, w.tell(message))
	require.Equal(t, boundaries.NotificationID(w.Tenants[0], message.Subject, string(message.Kind), w.endpoints[0]),
		read[uuid.UUID](w, `SELECT id FROM payonce.notifications`))
	for _, settled := range []string{"delivered", "parked"} {
		w.exec(`UPDATE payonce.notifications SET status = $1, next_try_at = NULL, settled_at = payonce.clock()`, settled)
		require.Equal(t, notifications.Queued{Suppressed: 1}, w.tell(message), "%s: it is not told again", settled)
	}
}

func TestAMessageIsToldToEachReceiverOfItsTenantAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	message := succeededMessage(w.engine, w.offer(notificationBoundary(), "order-1", 1000))
	require.Equal(t, notifications.Queued{Queued: 1}, w.tell(message))
	second := uuid.New()
	w.exec(`INSERT INTO payonce.notification_endpoints (id, tenant, url, secret, created_at)
		VALUES ($1, $2, 'https://second.example/', '', payonce.clock())`, second, w.Tenants[0].UUID)
	require.Equal(t, notifications.Queued{Queued: 1, Suppressed: 1}, w.tell(message), "who registered later is told once, too")
	require.Equal(t, notifications.Queued{Suppressed: 2}, w.tell(message))
	require.Zero(t, w.count(`SELECT count(*) FROM payonce.notifications WHERE endpoint = $1`, w.endpoints[1]))
}

func TestOtherSubjectsAndKindsAreOtherMessages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	message := succeededMessage(w.engine, w.offer(notificationBoundary(), "order-1", 1000))
	w.tell(message)
	declined := message
	declined.Kind = notifications.PaymentDeclined
	for _, subject := range []string{"charge/ch_1", "charge/ch_2"} {
		declined.Subject = subject
		require.Equal(t, notifications.Queued{Queued: 1}, w.tell(declined))
		require.Equal(t, notifications.Queued{Suppressed: 1}, w.tell(declined))
	}
	require.Equal(t, 3, w.count(`SELECT count(*) FROM payonce.notifications`))
}

func TestAMessageIsQueuedOnlyWithWhatItTellsOf(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	message := succeededMessage(w.engine, w.offer(notificationBoundary(), "order-1", 1000))
	undone := errors.New("the change was not committed")
	require.ErrorIs(t, pgx.BeginFunc(t.Context(), w.system, func(tx pgx.Tx) error {
		queued, err := notifications.Enqueue(t.Context(), tx, w.sealer, message)
		require.NoError(t, err)
		require.Equal(t, 1, queued.Queued)
		return undone
	}), undone)
	require.Zero(t, w.count(`SELECT count(*) FROM payonce.notifications`))
	require.Equal(t, notifications.Queued{Queued: 1}, w.tell(message))
}

// Each stage is guarded by its own boundary: that the money is booked does not mean that the message was queued, or the command answered.
func TestNoBoundaryStandsForAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	claim := w.claim("K", paid("order-1", 1000))
	o := offer{Identity: "order-1", Amount: 1000}
	require.Equal(t, notifications.Queued{Queued: 1}, w.tell(succeededMessage(w.engine, o)), "the message is there before the fact")
	w.receive(succeededEvent(w.engine, o))
	require.Equal(t, 1, w.applyEvents())
	w.requireBooked("order-1", 1000)
	require.Equal(t, boundaries.Replay, w.claim("K", paid("order-1", 1000)).Outcome)
	require.Equal(t, 1, w.count(`SELECT suppressed_messages FROM payonce.payments WHERE id = $1`, claim.Payment.UUID))
}
