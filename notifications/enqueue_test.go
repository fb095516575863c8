package notifications_test

import (
	"context"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"payonce/notifications"
	"payonce/payments"
)

func TestMessageIsQueuedOncePerEndpoint(t *testing.T) {
	t.Parallel()
	o := openOutbox(t)
	r := newReceiver(t)
	one, _ := o.newEndpoint(r.URL + "/one")
	two, _ := o.newEndpoint(r.URL + "/two")
	message := o.message(o.newPayment("order-1"), 1)

	require.Equal(t, notifications.Queued{Queued: 2}, o.enqueue(message))
	first := o.only(one).ID
	repeat := message
	repeat.Sequence, repeat.Body = 2, []byte(`{"other":"bytes"}`)
	require.Equal(t, notifications.Queued{Suppressed: 2}, o.enqueue(repeat))

	require.Equal(t, first, o.only(one).ID)
	require.NotEqual(t, first, o.only(two).ID)
	o.dispatch(o.dispatcher(patient(), r), 2)
	for _, d := range r.deliveries() {
		require.Equal(t, string(message.Body), d.body, "the first bytes stand")
	}
}

func TestOtherSubjectKindOrTenantIsAnotherMessage(t *testing.T) {
	t.Parallel()
	o := openOutbox(t)
	r := newReceiver(t)
	o.newEndpoint(r.URL)
	payment := o.newPayment("order-1")
	for n, message := range []notifications.Message{
		o.messageOf(notifications.PaymentDeclined, payment, "ch_1", 1),
		o.messageOf(notifications.PaymentDeclined, payment, "ch_2", 2),
		o.messageOf(notifications.PaymentSucceeded, payment, "", 3),
		o.messageOf(notifications.PaymentCanceled, payment, "", 4),
		o.message(o.newPayment("order-2"), 1),
	} {
		require.Equal(t, notifications.Queued{Queued: 1}, o.enqueue(message), "message %d", n)
	}
}

func TestTenantWithoutEndpointIsToldNothing(t *testing.T) {
	t.Parallel()
	o := openOutbox(t)
	r := newReceiver(t)
	payment := o.newPayment("order-1")
	require.Equal(t, notifications.Queued{}, o.enqueue(o.message(payment, 1)))

	disabled, _ := o.newEndpoint(r.URL)
	require.NoError(t, notifications.Disable(context.Background(), o.pool, o.tenant, disabled))
	require.Equal(t, notifications.Queued{}, o.enqueue(o.message(payment, 1)))
}

func TestMessageOfARolledBackChangeIsNotSent(t *testing.T) {
	t.Parallel()
	o := openOutbox(t)
	r := newReceiver(t)
	endpoint, _ := o.newEndpoint(r.URL)
	message := o.message(o.newPayment("order-1"), 1)
	tx, err := o.pool.Begin(context.Background())
	require.NoError(t, err)
	_, err = notifications.Enqueue(context.Background(), tx, o.sealer, message)
	require.NoError(t, err)
	require.NoError(t, tx.Rollback(context.Background()))
	require.Empty(t, o.stored(endpoint))
}

func TestRacingEnqueuesMakeOneMessage(t *testing.T) {
	t.Parallel()
	const racers = 4
	o := openOutbox(t)
	r := newReceiver(t)
	endpoint, _ := o.newEndpoint(r.URL)
	message := o.message(o.newPayment("order-1"), 1)
	var done sync.WaitGroup
	barrier := make(chan struct{})
	queued, errs := make([]notifications.Queued, racers), make([]error, racers)
	for i := range racers {
		done.Go(func() {
			<-barrier
			errs[i] = pgx.BeginFunc(context.Background(), o.pool, func(tx pgx.Tx) (err error) {
				queued[i], err = notifications.Enqueue(context.Background(), tx, o.sealer, message)
				return err
			})
		})
	}
	close(barrier)
	done.Wait()
	total := notifications.Queued{}
	for i := range racers {
		require.NoError(t, errs[i])
		total.Queued += queued[i].Queued
		total.Suppressed += queued[i].Suppressed
	}
	require.Equal(t, notifications.Queued{Queued: 1, Suppressed: racers - 1}, total)
	o.only(endpoint)
}

func TestBodyIsSealedAtRest(t *testing.T) {
	t.Parallel()
	o := openOutbox(t)
	r := newReceiver(t)
	o.newEndpoint(r.URL)
	message := o.message(o.newPayment("order-1"), 1)
	o.enqueue(message)
	var body, secret []byte
	require.NoError(t, o.pool.QueryRow(context.Background(),
		"SELECT n.body, e.secret FROM payonce.notifications n JOIN payonce.notification_endpoints e ON e.id = n.endpoint").Scan(&body, &secret))
	require.NotContains(t, string(body), "payment.succeeded")
	require.NotContains(t, string(secret), "whsec_")
}

func TestIncompleteMessageIsRefused(t *testing.T) {
	t.Parallel()
	o := openOutbox(t)
	whole := o.message(o.newPayment("order-1"), 1)
	for name, spoil := range map[string]func(*notifications.Message){
		"no subject":  func(m *notifications.Message) { m.Subject = "" },
		"no sequence": func(m *notifications.Message) { m.Sequence = 0 },
		"no body":     func(m *notifications.Message) { m.Body = nil },
		"no kind":     func(m *notifications.Message) { m.Kind = "" },
		"of nothing":  func(m *notifications.Message) { m.Payment = payments.PaymentID{} },
		"of two":      func(m *notifications.Message) { m.Payout.UUID = m.Payment.UUID },
	} {
		message := whole
		spoil(&message)
		_, err := notifications.Enqueue(context.Background(), nil, o.sealer, message)
		require.ErrorIs(t, err, notifications.ErrInvalidMessage, name)
	}
}
