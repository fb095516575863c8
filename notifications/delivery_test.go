package notifications_test

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"payonce/boundaries"
	"payonce/notifications"
)

func TestDeliversTheFrozenBytesWithAVerifiableSignature(t *testing.T) {
	t.Parallel()
	o, r := openOutbox(t), newReceiver(t)
	endpoint, secret := o.newEndpoint(r.URL)
	message := o.message(o.newPayment("order-1"), 1)
	o.enqueue(message)

	o.dispatch(o.dispatcher(patient(), r), 1)

	got := r.deliveries()
	require.Len(t, got, 1)
	require.Equal(t, string(message.Body), got[0].body)
	require.Equal(t, boundaries.NotificationID(o.tenant, message.Subject, string(message.Kind), endpoint).String(), got[0].id)
	webhook, err := standardwebhooks.NewWebhook(secret)
	require.NoError(t, err)
	require.NoError(t, webhook.Verify([]byte(got[0].body), got[0].header))
	require.Error(t, webhook.Verify([]byte(got[0].body+" "), got[0].header))
	row := o.only(endpoint)
	require.Equal(t, "delivered", row.Status)
	require.True(t, row.FirstSent)
	require.Equal(t, http.StatusOK, *row.LastStatus)
}

// G-01: the receiver took the message and the process ended before it could note that.
func TestCrashBetweenSendAndMarkRepeatsTheSameMessage(t *testing.T) {
	t.Parallel()
	o := openOutbox(t)
	dying := o.openPool()
	r := newReceiverThat(t, func(_ http.ResponseWriter, _ *http.Request, d delivery) {
		if d.number == 1 {
			dying.Close()
		}
	})
	endpoint, secret := o.newEndpoint(r.URL)
	o.enqueue(o.message(o.newPayment("order-1"), 1))
	_, err := o.dispatcherOn(dying, patient(), r).DispatchDue(context.Background())
	require.Error(t, err)
	require.True(t, o.only(endpoint).FirstSent, "first_sent_at is committed before the send")

	next := o.dispatcher(patient(), r)
	o.dispatch(next, 0) // the lease is another's
	o.db.AdvanceClock(t, patient().Lease)
	o.dispatch(next, 1)

	requireSameMessage(t, r.deliveries(), 2, secret)
	require.Equal(t, "delivered", o.only(endpoint).Status)
}

// G-01: the receiver took the message but its proxy answered 504.
func TestTimedOutProxyAfterAcceptRepeatsTheSameMessage(t *testing.T) {
	t.Parallel()
	o := openOutbox(t)
	r := newReceiverThat(t, func(w http.ResponseWriter, _ *http.Request, d delivery) {
		if d.number == 1 {
			w.WriteHeader(http.StatusGatewayTimeout)
		}
	})
	endpoint, secret := o.newEndpoint(r.URL)
	o.enqueue(o.message(o.newPayment("order-1"), 1))
	dispatcher := o.dispatcher(patient(), r)
	o.dispatch(dispatcher, 1)
	require.Equal(t, "queued", o.only(endpoint).Status)
	o.db.AdvanceClock(t, time.Hour)
	o.dispatch(dispatcher, 1)

	requireSameMessage(t, r.deliveries(), 2, secret)
}

func requireSameMessage(t *testing.T, got []delivery, times int, secret string) {
	t.Helper()
	require.Len(t, got, times)
	webhook, err := standardwebhooks.NewWebhook(secret)
	require.NoError(t, err)
	for _, d := range got {
		require.Equal(t, got[0].id, d.id)
		require.Equal(t, got[0].body, d.body)
		require.NoError(t, webhook.Verify([]byte(d.body), d.header))
	}
}

// G-02: one receiver refuses for ever.
func TestOneBadReceiverIsParkedAloneAndOthersGetOne(t *testing.T) {
	t.Parallel()
	o := openOutbox(t)
	good1, bad, good2 := newReceiver(t), newReceiverThat(t, answering(550)), newReceiver(t)
	o.newEndpoint(good1.URL)
	badEndpoint, _ := o.newEndpoint(bad.URL)
	o.newEndpoint(good2.URL)
	o.enqueue(o.message(o.newPayment("order-1"), 1))
	config := patient()
	config.MaxTries = 3
	dispatcher := o.dispatcher(config, good1, bad, good2)

	o.dispatch(dispatcher, 3)
	for range 2 {
		o.db.AdvanceClock(t, time.Hour)
		o.dispatch(dispatcher, 1)
	}
	o.db.AdvanceClock(t, 48*time.Hour)
	o.dispatch(dispatcher, 0)

	require.Len(t, good1.deliveries(), 1)
	require.Len(t, good2.deliveries(), 1)
	require.Len(t, bad.deliveries(), 3)
	row := o.only(badEndpoint)
	require.Equal(t, "parked", row.Status)
	require.Equal(t, "receiver: did not answer with success", *row.LastError)
	require.Equal(t, 550, *row.LastStatus)
}

// G-04: the receiver is away for two days.
func TestMessagesOfAnAbsentReceiverDrainLaterOnceEach(t *testing.T) {
	t.Parallel()
	const count = 30
	o := openOutbox(t)
	var away atomic.Bool
	away.Store(true)
	var taken sync.Map
	r := newReceiverThat(t, func(w http.ResponseWriter, _ *http.Request, d delivery) {
		if away.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		} else if _, again := taken.LoadOrStore(d.id, true); again {
			t.Errorf("message %s was taken twice", d.id)
		}
	})
	endpoint, _ := o.newEndpoint(r.URL)
	config := notifications.DefaultConfig()
	dispatcher := o.dispatcher(config, r)
	for n := range count {
		queued := o.enqueue(o.message(o.newPayment("order-"+strconv.Itoa(n)), 1))
		require.Equal(t, 1, queued.Queued, "queueing waits for no receiver")
	}
	for range 8 {
		o.dispatch(dispatcher, count)
		o.db.AdvanceClock(t, config.BackoffMax)
	}
	away.Store(false)
	o.dispatch(dispatcher, count)
	o.dispatch(dispatcher, 0)
	for _, row := range o.stored(endpoint) {
		require.Equal(t, "delivered", row.Status)
	}
}

// G-07: one receiver fails, the other is well, their messages alternate.
func TestFailingReceiverDoesNotHoldUpAnother(t *testing.T) {
	t.Parallel()
	const count = 100
	o := openOutbox(t)
	failing, healthy := newReceiverThat(t, answering(500)), newReceiver(t)
	failingEndpoint, _ := o.newEndpoint(failing.URL)
	o.newEndpoint(healthy.URL)
	for n := range count {
		o.enqueue(o.message(o.newPayment("order-"+strconv.Itoa(n)), 1))
	}
	config := patient()
	config.MaxTries = 2
	dispatcher := o.dispatcher(config, failing, healthy)

	o.dispatch(dispatcher, 2*count)
	require.Equal(t, count, healthy.requireOnceEach(t))
	o.db.AdvanceClock(t, time.Hour)
	o.dispatch(dispatcher, count)
	for _, row := range o.stored(failingEndpoint) {
		require.Equal(t, "parked", row.Status)
	}
}

// G-08: a refusal is tried again when it is due, and not before.
func TestRefusedMessageIsTriedAgainBySchedule(t *testing.T) {
	t.Parallel()
	o := openOutbox(t)
	r := newReceiverThat(t, func(w http.ResponseWriter, _ *http.Request, d delivery) {
		if d.number == 1 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	endpoint, _ := o.newEndpoint(r.URL)
	o.enqueue(o.message(o.newPayment("order-1"), 1))
	dispatcher := o.dispatcher(patient(), r)
	o.dispatch(dispatcher, 1)
	o.dispatch(dispatcher, 0)
	o.db.AdvanceClock(t, time.Hour)
	o.dispatch(dispatcher, 1)
	require.Equal(t, "delivered", o.only(endpoint).Status)
}

// G-08: a receiver accepts the connection and never answers.
func TestSilentReceiverEndsAtTheDeadline(t *testing.T) {
	t.Parallel()
	o := openOutbox(t)
	r := newReceiverThat(t, func(_ http.ResponseWriter, request *http.Request, _ delivery) { <-request.Context().Done() })
	endpoint, _ := o.newEndpoint(r.URL)
	o.enqueue(o.message(o.newPayment("order-1"), 1))
	config := patient()
	config.SendTimeout = 50 * time.Millisecond
	o.dispatch(o.dispatcher(config, r), 1)
	row := o.only(endpoint)
	require.Equal(t, "queued", row.Status)
	require.Equal(t, "receiver: did not answer in time", *row.LastError)
}

// G-08: while a receiver is silent and has more waiting than there are sends, a message that comes later reaches another receiver.
func TestSilentReceiverDoesNotHoldUpLaterMessages(t *testing.T) {
	t.Parallel()
	const waiting = 10
	o := openOutbox(t)
	config := patient()
	config.PollInterval, config.MaxSends, config.MaxSendsPerEndpoint = time.Hour, 3, 2
	holds, healthyGot, release := make(chan struct{}, waiting), make(chan struct{}, 1), make(chan struct{})
	silent := newReceiverThat(t, func(http.ResponseWriter, *http.Request, delivery) {
		holds <- struct{}{}
		<-release
	})
	healthy := newReceiverThat(t, func(http.ResponseWriter, *http.Request, delivery) { healthyGot <- struct{}{} })
	o.newEndpoint(silent.URL)
	for n := range waiting {
		o.enqueue(o.message(o.newPayment("silent-"+strconv.Itoa(n)), 1))
	}
	running := o.run(o.dispatcher(config, silent, healthy))
	defer close(release)
	await(t, holds)
	await(t, holds)

	o.tenant = o.newTenant("other-shop")
	o.newEndpoint(healthy.URL)
	o.enqueue(o.message(o.newPayment("order-1"), 1))
	running.Nudge()

	await(t, healthyGot)
	require.Len(t, silent.deliveries(), config.MaxSendsPerEndpoint)
}

// await fails the test when what it waits for never comes.
func await(t *testing.T, signal <-chan struct{}) {
	t.Helper()
	select {
	case <-signal:
	case <-time.After(time.Minute):
		require.FailNow(t, "the signal never came")
	}
}

// running is a dispatcher that runs until the test ends.
type running struct{ *notifications.Dispatcher }

func (o *outbox) run(dispatcher *notifications.Dispatcher) running {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- dispatcher.Run(ctx) }()
	o.t.Cleanup(func() {
		stop()
		require.NoError(o.t, <-ended)
	})
	return running{dispatcher}
}

// G-12: the answer's body is huge or never ends.
func TestHugeAnswerIsDeliveredOnce(t *testing.T) {
	t.Parallel()
	const huge = 50 << 20
	o := openOutbox(t)
	block := make([]byte, 1<<20)
	var taken atomic.Int64
	r := newReceiverThat(t, func(w http.ResponseWriter, _ *http.Request, _ delivery) {
		for taken.Load() < huge {
			n, err := w.Write(block)
			taken.Add(int64(n))
			if err != nil {
				return // the dispatcher hung up
			}
		}
	})
	endpoint, _ := o.newEndpoint(r.URL)
	o.enqueue(o.message(o.newPayment("order-1"), 1))
	dispatcher := o.dispatcher(patient(), r)
	o.dispatch(dispatcher, 1)
	o.db.AdvanceClock(t, 24*time.Hour)
	o.dispatch(dispatcher, 0)
	require.Equal(t, "delivered", o.only(endpoint).Status)
	require.Len(t, r.deliveries(), 1)
	r.Close() // the handler has ended
	require.Less(t, taken.Load(), int64(huge), "no more is read than fills the buffers on the way")
}

func TestRedirectIsAFailureAndNotFollowed(t *testing.T) {
	t.Parallel()
	o := openOutbox(t)
	elsewhere := newReceiver(t)
	r := newReceiverThat(t, func(w http.ResponseWriter, request *http.Request, _ delivery) {
		http.Redirect(w, request, elsewhere.URL, http.StatusTemporaryRedirect)
	})
	endpoint, _ := o.newEndpoint(r.URL)
	o.enqueue(o.message(o.newPayment("order-1"), 1))
	o.dispatch(o.dispatcher(patient(), r, elsewhere), 1)
	require.Empty(t, elsewhere.deliveries())
	require.Equal(t, "receiver: answered with a redirect, which is not followed", *o.only(endpoint).LastError)
}
