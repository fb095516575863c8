package recovery_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

// nowhere is an address at which no Temporal answers.
const nowhere = "127.0.0.1:1"

// The API dies between the claim and the start of the workflow: the relay starts it, whether the client comes back or not.
func TestAClaimWhoseProcessDiedBeforeTheStartGoesOn(t *testing.T) {
	t.Parallel()
	s := system.New(t)
	temporal := s.Config.TemporalAddress
	s.Config.TemporalAddress = nowhere
	api := s.ServeProcess()
	ctx, giveUp := context.WithCancel(t.Context())
	posted := make(chan struct{})
	go func() {
		defer close(posted)
		_, _ = s.Post(ctx, s.APIKey, "/v1/payments", "K1", system.Order("order-1", 1000), "wait=30")
	}()
	s.Eventually("the claim is committed", func() bool { return s.Count(`SELECT count(*) FROM payonce.payments`) == 1 })
	api.Kill()
	giveUp()
	<-posted
	s.Config.TemporalAddress = temporal
	s.WorkerProcess()
	s.Eventually("the payment succeeds without its client", func() bool {
		return s.Count(`SELECT count(*) FROM payonce.payments WHERE status = 'succeeded'`) == 1
	})
	s.ServeProcess()
	answer := s.Create("K1", system.Order("order-1", 1000))
	require.Equal(t, http.StatusCreated, answer.Status)
	require.True(t, answer.Replayed())
	require.EqualValues(t, 1000, s.Book(answer.Payment(t).ID).Captured)
}

// The client that comes back to a claim left alone gets its result, not an endless 409.
func TestARetryAfterTheProcessDiedGetsTheResult(t *testing.T) {
	t.Parallel()
	s := system.New(t)
	temporal := s.Config.TemporalAddress
	s.Config.TemporalAddress = nowhere
	api := s.ServeProcess()
	answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments", "K1", system.Order("order-1", 1000), "wait=0")
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, answer.Status)
	api.Kill()
	s.Config.TemporalAddress = temporal
	s.ServeProcess()
	s.WorkerProcess()
	s.Eventually("the retry is answered", func() bool {
		answer = s.Create("K1", system.Order("order-1", 1000))
		require.Less(t, answer.Status, 500)
		return answer.Status == http.StatusCreated
	})
	require.Equal(t, payments.StatusSucceeded, answer.Payment(t).Status)
}

// The worker dies after Stripe took the money and before the answer was stored: the next one asks with the same key and bytes.
func TestAWorkerThatDiesAfterTheChargeIsTakenOver(t *testing.T) {
	t.Parallel()
	s := system.New(t)
	s.ServeProcess()
	s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDrop})
	hold, err := s.Twin.Hold(t.Context(), control.Hold{Method: http.MethodPost, Path: "/v1/payment_intents/*/confirm", Point: control.AfterEffect})
	require.NoError(t, err)
	worker := s.WorkerProcess()
	answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments", "K1", system.Order("order-1", 1000), "wait=0")
	require.NoError(t, err)
	id := answer.Payment(t).ID
	_, err = s.Twin.Held(t.Context(), 1)
	require.NoError(t, err)
	worker.Kill()
	s.Exec(`UPDATE payonce.payments SET next_poll_at = next_poll_at + interval '1 day'`) // on a slow machine the poller would know first
	require.NoError(t, s.Twin.Release(t.Context(), hold.ID))
	s.WorkerProcess()
	s.Eventually("the payment succeeds", func() bool { return s.Payment(id).Status == payments.StatusSucceeded })
	book := s.Book(id)
	require.Equal(t, 1, book.ConfirmsExecuted)
	require.EqualValues(t, 1000, book.Captured)
	sends := s.Requests(http.MethodPost, "/v1/payment_intents/*/confirm")
	require.Greater(t, len(sends), 1)
	for _, send := range sends {
		require.Equal(t, sends[0].IdempotencyKey, send.IdempotencyKey)
		require.Equal(t, sends[0].Body, send.Body)
	}
}

// The webhook endpoint dies right after its 2xx: the event was stored before, and is applied after.
func TestAnEventIsDurableBeforeItIsAcknowledged(t *testing.T) {
	t.Parallel()
	s := system.New(t)
	api := s.ServeProcess()
	stopWorker := s.StartWorker()
	declined := s.Create("K1", system.With(system.Order("order-1", 1000), "payment_method", "pm_card_chargeDeclined")).Payment(t)
	require.Equal(t, payments.StatusRequiresPaymentMethod, declined.Status)
	s.Settle()
	stopWorker()
	s.Exec(`UPDATE payonce.payments SET next_poll_at = next_poll_at + interval '1 day'`) // the event alone tells
	s.Fault(control.Rule{Match: control.Match{EventType: "charge.succeeded"}, Fault: control.FaultDrop})
	_, err := s.Twin.Pay(t.Context(), declined.PaymentIntent, control.Pay{PaymentMethod: "pm_card_visa"})
	require.NoError(t, err)
	s.Eventually("the event is acknowledged", func() bool {
		deliveries := s.Event(declined.PaymentIntent, "payment_intent.succeeded").Deliveries
		return len(deliveries) > 0 && deliveries[0].Status == control.DeliveryDelivered
	})
	api.Kill()
	s.App = s.Open()
	s.WorkerProcess()
	s.Eventually("the payment succeeds", func() bool {
		return s.Count(`SELECT count(*) FROM payonce.payments WHERE status = 'succeeded'`) == 1
	})
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.payment_facts WHERE fact = 'succeeded' AND source = 'event'`))
}

// The worker dies after a receiver took a message and before that was noted: the message comes again under the same id, with the same bytes.
func TestAMessageTakenBeforeAKillComesAgainAsTheSame(t *testing.T) {
	t.Parallel()
	s := system.New(t)
	s.ServeProcess()
	worker := s.WorkerProcess()
	s.Receiver.Answer(func(http.ResponseWriter, system.Message) { worker.Kill() })
	answer := s.Create("K1", system.Order("order-1", 1000))
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Body)
	id := answer.Payment(t).ID.String()
	s.Eventually("the worker was killed by its first delivery", func() bool { return len(s.Receiver.Messages()) == 1 })
	worker.Kill()
	s.Receiver.Answer(nil)
	s.WorkerProcess()
	s.Settle()
	messages := s.Receiver.Of(t, id)
	require.Len(t, messages, 2)
	require.Equal(t, messages[0].ID, messages[1].ID)
	require.Equal(t, messages[0].Body, messages[1].Body)
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.notifications`))
}
