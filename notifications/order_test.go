package notifications_test

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/internal/seal"
	"payonce/notifications"
)

func TestMessagesOfAPaymentArriveInOrder(t *testing.T) {
	t.Parallel()
	o := openOutbox(t)
	var refuse atomic.Bool
	refuse.Store(true)
	r := newReceiverThat(t, func(w http.ResponseWriter, _ *http.Request, _ delivery) {
		if refuse.Load() {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	o.newEndpoint(r.URL)
	payment, other := o.newPayment("order-1"), o.newPayment("order-2")
	o.enqueue(o.messageOf(notifications.PaymentDeclined, payment, "ch_1", 1))
	o.enqueue(o.messageOf(notifications.PaymentDeclined, payment, "ch_2", 2))
	o.enqueue(o.message(payment, 3))
	o.enqueue(o.message(other, 1))
	dispatcher := o.dispatcher(patient(), r)

	o.dispatch(dispatcher, 2) // the first message of each payment
	refuse.Store(false)
	o.db.AdvanceClock(t, patient().BackoffMax)
	o.dispatch(dispatcher, 4)

	var subjects []string
	for _, d := range r.deliveries()[2:] {
		if strings.Contains(d.body, payment.String()) {
			subjects = append(subjects, subjectOf(d.body))
		}
	}
	require.Equal(t, []string{"charge/ch_1", "charge/ch_2", "payment/" + payment.String()}, subjects)
}

func subjectOf(body string) string {
	_, after, _ := strings.Cut(body, `"subject":"`)
	subject, _, _ := strings.Cut(after, `"`)
	return subject
}

func TestParkedMessageLetsTheNextOneGo(t *testing.T) {
	t.Parallel()
	o := openOutbox(t)
	r := newReceiverThat(t, func(w http.ResponseWriter, _ *http.Request, d delivery) {
		if d.number == 1 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	endpoint, _ := o.newEndpoint(r.URL)
	payment := o.newPayment("order-1")
	o.enqueue(o.messageOf(notifications.PaymentDeclined, payment, "ch_1", 1))
	o.enqueue(o.message(payment, 2))
	config := patient()
	config.MaxTries = 1
	o.dispatch(o.dispatcher(config, r), 2)
	rows := o.stored(endpoint)
	require.Equal(t, "parked", rows[0].Status)
	require.Equal(t, "delivered", rows[1].Status)
}

func TestRacingDispatchersSendEachMessageOnce(t *testing.T) {
	t.Parallel()
	const payments, racers = 60, 3
	o := openOutbox(t)
	r := newReceiver(t)
	o.newEndpoint(r.URL)
	for n := range payments {
		payment := o.newPayment("order-" + strconv.Itoa(n))
		o.enqueue(o.messageOf(notifications.PaymentDeclined, payment, "ch_"+strconv.Itoa(n), 1))
		o.enqueue(o.message(payment, 2))
	}
	var ready, done sync.WaitGroup
	barrier := make(chan struct{})
	tries, errs := make([]int, racers), make([]error, racers)
	for i := range racers {
		dispatcher := o.dispatcherOn(o.openPool(), patient(), r)
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-barrier
			tries[i], errs[i] = dispatcher.DispatchDue(context.Background())
		})
	}
	ready.Wait()
	close(barrier)
	done.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	sent := tries[0] + tries[1] + tries[2]
	o.dispatch(o.dispatcher(patient(), r), 2*payments-sent) // a follower whose first was under way elsewhere
	require.Equal(t, 2*payments, r.requireOnceEach(t))
}

func TestRefusalOfATryWhoseLeaseWasTakenOverChangesNothing(t *testing.T) {
	t.Parallel()
	o := openOutbox(t)
	var second *notifications.Dispatcher
	r := newReceiverThat(t, func(w http.ResponseWriter, _ *http.Request, d delivery) {
		if d.number == 1 { // slow: meanwhile the lease ends and another delivers
			o.db.AdvanceClock(t, patient().Lease)
			o.dispatch(second, 1)
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	second = o.dispatcher(patient(), r)
	endpoint, secret := o.newEndpoint(r.URL)
	o.enqueue(o.message(o.newPayment("order-1"), 1))
	o.dispatch(o.dispatcher(patient(), r), 1)
	requireSameMessage(t, r.deliveries(), 2, secret)
	require.Equal(t, "delivered", o.only(endpoint).Status)
}

func TestAcceptanceLearntAfterTheLeaseStillCounts(t *testing.T) {
	t.Parallel()
	o := openOutbox(t)
	var second *notifications.Dispatcher
	r := newReceiverThat(t, func(w http.ResponseWriter, _ *http.Request, d delivery) {
		if d.number == 1 {
			o.db.AdvanceClock(t, patient().Lease)
			o.dispatch(second, 1)
			return
		}
		w.WriteHeader(http.StatusInternalServerError)
	})
	second = o.dispatcher(patient(), r)
	endpoint, _ := o.newEndpoint(r.URL)
	o.enqueue(o.message(o.newPayment("order-1"), 1))
	o.dispatch(o.dispatcher(patient(), r), 1)
	require.Equal(t, "delivered", o.only(endpoint).Status)
}

func TestMessageTooOldIsParkedBeforeItsTriesAreUsedUp(t *testing.T) {
	t.Parallel()
	o := openOutbox(t)
	r := newReceiverThat(t, answering(http.StatusInternalServerError))
	endpoint, _ := o.newEndpoint(r.URL)
	o.enqueue(o.message(o.newPayment("order-1"), 1))
	o.db.AdvanceClock(t, patient().MaxAge)
	o.dispatch(o.dispatcher(patient(), r), 1)
	require.Equal(t, "parked", o.only(endpoint).Status)
}

func TestMessageWhoseEveryTryDiedIsParkedAsOurFailure(t *testing.T) {
	t.Parallel()
	o := openOutbox(t)
	r := newReceiver(t)
	endpoint, _ := o.newEndpoint(r.URL)
	o.enqueue(o.message(o.newPayment("order-1"), 1))
	o.exec("UPDATE payonce.notifications SET tries = $1", patient().MaxTries)
	o.dispatch(o.dispatcher(patient(), r), 1)
	row := o.only(endpoint)
	require.Equal(t, "parked", row.Status)
	require.Equal(t, "internal: no answer was ever stored", *row.LastError)
	require.Empty(t, r.deliveries())
}

func TestMessageThatDoesNotOpenIsParkedAsOurFailure(t *testing.T) {
	t.Parallel()
	o := openOutbox(t)
	r := newReceiver(t)
	endpoint, _ := o.newEndpoint(r.URL)
	o.enqueue(o.message(o.newPayment("order-1"), 1))
	keyset, err := seal.NewKeyset()
	require.NoError(t, err)
	o.sealer, err = seal.New(keyset)
	require.NoError(t, err)
	config := patient()
	config.MaxTries = 2
	dispatcher := o.dispatcher(config, r)
	o.dispatch(dispatcher, 1)
	require.Equal(t, "queued", o.only(endpoint).Status, "another process may hold the key")
	o.db.AdvanceClock(t, config.BackoffMax)
	o.dispatch(dispatcher, 1)
	require.Equal(t, "parked", o.only(endpoint).Status)
	require.Equal(t, "internal: the message or its secret does not open", *o.only(endpoint).LastError)
	require.Empty(t, r.deliveries())
}

func TestRunDeliversOnANudgeAndEndsWhenTold(t *testing.T) {
	t.Parallel()
	o := openOutbox(t)
	got := make(chan struct{}, 2)
	r := newReceiverThat(t, func(http.ResponseWriter, *http.Request, delivery) { got <- struct{}{} })
	o.newEndpoint(r.URL)
	config := patient()
	config.PollInterval = 1 << 40 // polls never: only the nudge wakes
	running := o.run(o.dispatcher(config, r))
	for n := range 2 {
		o.enqueue(o.message(o.newPayment("order-"+strconv.Itoa(n)), 1))
		running.Nudge()
		await(t, got)
	}
}

func TestRunFindsByPollingWhatNobodyNudgedAbout(t *testing.T) {
	t.Parallel()
	o := openOutbox(t)
	got := make(chan struct{}, 1)
	r := newReceiverThat(t, func(http.ResponseWriter, *http.Request, delivery) { got <- struct{}{} })
	o.newEndpoint(r.URL)
	config := patient()
	config.PollInterval = 1 << 20
	o.run(o.dispatcher(config, r))
	o.enqueue(o.message(o.newPayment("order-1"), 1))
	await(t, got)
}

func TestTryUnderWayIsFinishedAndStoredWhenTheProcessEnds(t *testing.T) {
	t.Parallel()
	o := openOutbox(t)
	arrived, release := make(chan struct{}), make(chan struct{})
	r := newReceiverThat(t, func(http.ResponseWriter, *http.Request, delivery) { close(arrived); <-release })
	endpoint, _ := o.newEndpoint(r.URL)
	o.enqueue(o.message(o.newPayment("order-1"), 1))
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	dispatcher := o.dispatcher(patient(), r)
	go func() { ended <- dispatcher.Run(ctx) }()
	await(t, arrived)
	stop()
	close(release)
	require.NoError(t, <-ended)
	require.Equal(t, "delivered", o.only(endpoint).Status)
}
