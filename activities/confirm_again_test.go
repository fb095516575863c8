package activities_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

const confirms = "/v1/payment_intents/*/confirm"

// post sends a command of a payment and waits for its outcome.
func post(t *testing.T, s *system.System, id payments.PaymentID, operation, key string, body any) system.Answer {
	t.Helper()
	answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments/"+id.String()+"/"+operation, key, body, "wait=20")
	require.NoError(t, err)
	return answer
}

func method(name string) map[string]any { return map[string]any{"payment_method": name} }

// The shopper's first card is declined and the second one pays: a key and an attempt of its own at Stripe, on the same intent. Each key keeps the
// answer that it got.
func TestAnotherCardAfterADeclinePaysTheSamePayment(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	declined := s.Create("K1", system.With(system.Order("order-1", 1000), "payment_method", "pm_card_chargeDeclined"))
	require.Equal(t, http.StatusCreated, declined.Status, "%s", declined.Body)
	payment := declined.Payment(t)
	require.Equal(t, payments.StatusRequiresPaymentMethod, payment.Status)
	require.NotNil(t, payment.ExpiresAt, "it is given up when nobody comes back")

	paid := post(t, s, payment.ID, "confirm", "K2", method("pm_card_visa"))
	require.Equal(t, http.StatusOK, paid.Status, "%s", paid.Body)
	require.Equal(t, payments.StatusSucceeded, paid.Payment(t).Status)
	require.Nil(t, paid.Payment(t).LastError)

	again := post(t, s, payment.ID, "confirm", "K2", method("pm_card_visa"))
	require.True(t, again.Replayed())
	require.Equal(t, paid.Body, again.Body)
	require.Equal(t, declined.Body, s.Create("K1", system.With(system.Order("order-1", 1000), "payment_method", "pm_card_chargeDeclined")).Body)
	s.Settle()
	sends := s.Requests(http.MethodPost, confirms)
	require.Len(t, sends, 2)
	require.NotEqual(t, sends[0].IdempotencyKey, sends[1].IdempotencyKey)
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.ledger_journals WHERE payment = $1`, payment.ID.UUID))
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.payment_facts WHERE payment = $1 AND fact LIKE 'declined/%'`, payment.ID.UUID))
}

// A shopper clicks eleven times, each click with a key of its own: one confirm. Whoever comes while it runs gets its outcome, whoever comes later
// is told that it is paid.
func TestElevenImpatientClicksAreOneConfirm(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	created := s.Create("K", system.With(system.Order("order-1", 1000), "payment_method", nil)).Payment(t)
	var clicks sync.WaitGroup
	answers := make([]system.Answer, 11)
	for i := range answers {
		clicks.Go(func() {
			answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments/"+created.ID.String()+"/confirm", "click-"+string(rune('a'+i)), method("pm_card_visa"), "wait=20")
			if err != nil {
				t.Error(err)
			}
			answers[i] = answer
		})
	}
	clicks.Wait()
	for i, answer := range answers {
		switch answer.Status {
		case http.StatusOK:
			require.Equal(t, payments.StatusSucceeded, answer.Payment(t).Status, i)
		default:
			require.Equal(t, http.StatusConflict, answer.Status, "%s", answer.Body)
			require.Equal(t, payments.CodePaymentSucceeded, answer.Problem(t).Code)
			require.Equal(t, created.ID, *answer.Problem(t).Payment)
		}
	}
	s.Settle()
	require.Equal(t, 1, s.Book(created.ID).ConfirmsExecuted)
	for _, send := range s.Requests(http.MethodPost, confirms) { // a slow machine may send it again, as it was
		require.Equal(t, s.Requests(http.MethodPost, confirms)[0].IdempotencyKey, send.IdempotencyKey)
	}
}

// While a confirm is open, other content is a conflict, whatever its key; a repeat of its own key is in progress.
func TestOneConfirmIsOpenAtATime(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	created := s.Create("K", system.With(system.Order("order-1", 1000), "payment_method", nil)).Payment(t)
	hold, err := s.Twin.Hold(t.Context(), control.Hold{Method: http.MethodPost, Path: confirms, Point: control.BeforeEffect})
	require.NoError(t, err)
	first := make(chan system.Answer, 1)
	go func() {
		answer, err := s.Post(context.WithoutCancel(t.Context()), s.APIKey, "/v1/payments/"+created.ID.String()+"/confirm", "K1", method("pm_card_visa"), "wait=20")
		if err != nil {
			t.Error(err)
		}
		first <- answer
	}()
	s.Eventually("the confirm is at Stripe", func() bool { return len(s.Requests(http.MethodPost, confirms)) > 0 })

	other := post(t, s, created.ID, "confirm", "K2", method("pm_card_mastercard"))
	require.Equal(t, http.StatusConflict, other.Status)
	require.Equal(t, "reference_conflict", other.Problem(t).Code)
	repeat := post(t, s, created.ID, "confirm", "K1", method("pm_card_visa"))
	require.Equal(t, http.StatusConflict, repeat.Status)
	require.Equal(t, "in_progress", repeat.Problem(t).Code)
	require.NotEmpty(t, repeat.Header.Get("Retry-After"))
	require.Equal(t, "/v1/payments/"+created.ID.String(), repeat.Header.Get("Location"))
	reused := post(t, s, created.ID, "confirm", "K1", method("pm_card_mastercard"))
	require.Equal(t, http.StatusUnprocessableEntity, reused.Status)
	require.Equal(t, "key_reused", reused.Problem(t).Code)

	require.NoError(t, s.Twin.Release(t.Context(), hold.ID))
	require.Equal(t, payments.StatusSucceeded, (<-first).Payment(t).Status)
	s.Settle()
}

// A cancel ends the intent at Stripe before the payment is called canceled; every further cancel gets the same answer, and a confirm is told.
func TestACanceledPaymentCanNoLongerBePaid(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	created := s.Create("K", system.With(system.Order("order-1", 1000), "payment_method", nil)).Payment(t)
	canceled := post(t, s, created.ID, "cancel", "K1", map[string]any{"cancellation_reason": "requested_by_customer"})
	require.Equal(t, http.StatusOK, canceled.Status, "%s", canceled.Body)
	require.Equal(t, payments.StatusCanceled, canceled.Payment(t).Status)
	require.Equal(t, "canceled", s.Book(created.ID).Status)

	require.Equal(t, canceled.Body, post(t, s, created.ID, "cancel", "K2", map[string]any{}).Body, "whatever reason was given first")
	late := post(t, s, created.ID, "confirm", "K3", method("pm_card_visa"))
	require.Equal(t, http.StatusConflict, late.Status)
	require.Equal(t, payments.CodePaymentEnded, late.Problem(t).Code)
	s.Settle()
	require.Len(t, s.Requests(http.MethodPost, "/v1/payment_intents/*/cancel"), 1)
	require.Empty(t, s.Requests(http.MethodPost, confirms))
	require.Len(t, s.Receiver.Of(t, created.ID.String()), 1)
}

// A cancel that meets success is refused, and the refusal is its stored answer. Nothing is asked of Stripe: the payment is over.
func TestACancelOfAPaidPaymentIsRefusedInPostgres(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	paid := s.Create("K", system.Order("order-1", 1000)).Payment(t)
	require.Equal(t, payments.StatusSucceeded, paid.Status)
	refused := post(t, s, paid.ID, "cancel", "K1", map[string]any{})
	require.Equal(t, http.StatusConflict, refused.Status, "%s", refused.Body)
	require.Equal(t, payments.CodePaymentSucceeded, refused.Problem(t).Code)
	again := post(t, s, paid.ID, "cancel", "K1", map[string]any{})
	require.True(t, again.Replayed())
	require.Equal(t, refused.Body, again.Body)
	s.Settle()
	require.Empty(t, s.Requests(http.MethodPost, "/v1/payment_intents/*/cancel"))
	require.Equal(t, payments.StatusSucceeded, s.Payment(paid.ID).Status)
}

// A payer who does not come back is given up: the intent is canceled, so that nobody can pay it later, and the payment ends as expired.
func TestAnAbandonedPaymentExpiresAndCannotBePaidLater(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	created := s.Create("K", system.With(system.Order("order-1", 1000), "payment_method", "pm_card_authenticationRequired")).Payment(t)
	require.Equal(t, payments.StatusRequiresAction, created.Status)
	require.NotNil(t, created.NextAction)
	s.DB.AdvanceClock(t, 2*time.Hour)
	s.Eventually("it is given up", func() bool { return s.Payment(created.ID).Status == payments.StatusExpired })
	require.Equal(t, "canceled", s.Book(created.ID).Status)
	require.Equal(t, payments.FailureAbandoned, s.Payment(created.ID).Failure.Code)
	s.Settle()
	require.Len(t, s.Receiver.Of(t, created.ID.String()), 1)
}
