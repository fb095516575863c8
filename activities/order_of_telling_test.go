package activities_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

// The event of the creation comes before the create's answer: what the caller is told is the same as in the other order.
func TestACreateIsAnsweredTheSameWhoeverTellsOfItsIntentFirst(t *testing.T) {
	for name, answerComes := range map[string]bool{"the answer comes later": true, "the answer never comes": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := system.Start(t)
			if !answerComes {
				s.Fault(control.Rule{Match: control.Match{Method: http.MethodPost, Path: "/v1/payment_intents"}, Fault: control.FaultAnswerLost})
			}
			hold, err := s.Twin.Hold(t.Context(), control.Hold{Method: http.MethodPost, Path: "/v1/payment_intents", Point: control.AfterEffect})
			require.NoError(t, err)
			body := system.With(system.Order("order-1", 1000), "payment_method", nil)
			answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments", "K1", body, "wait=0")
			require.NoError(t, err)
			id := answer.Payment(t).ID
			s.Eventually("the event binds the intent", func() bool { return s.Payment(id).PaymentIntent != "" })
			require.NoError(t, s.Twin.Release(t.Context(), hold.ID))
			answer = s.Create("K1", body)
			require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Body)
			require.Equal(t, payments.StatusRequiresPaymentMethod, answer.Payment(t).Status)
			require.NotEmpty(t, answer.Payment(t).ClientSecret)
			s.Settle()
		})
	}
}

// An intent that names the payment and does not fit it is all that Stripe shows of a create: whether another exists is not known, so nothing is
// confirmed, nothing is asked again and again, and nothing is called failed.
func TestNothingIsConfirmedBehindACreateWhoseOutcomeIsUnknown(t *testing.T) {
	t.Parallel()
	s := system.New(t)
	s.StartAPI()
	answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments", "K1", system.Order("order-1", 1000), "wait=0")
	require.NoError(t, err)
	id := answer.Payment(t).ID
	s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDrop})
	s.CreateAtStripe(system.OutsideKey+"stray", "amount=77&currency=usd&metadata[payonce_payment]="+id.String())
	s.Fault(control.Rule{Match: control.Match{Method: http.MethodPost, Path: "/v1/payment_intents"}, Fault: control.FaultErrorBeforeStored, Times: 1})
	s.StartWorker()
	s.Eventually("the create is unknown and marked", func() bool {
		return s.Count(`SELECT count(*) FROM payonce.idempotency_records r JOIN payonce.payments p ON p.id = r.payment
			WHERE r.operation = 'create_payment' AND r.status = 'unknown' AND p.review_reason = 'outcome_unknown'`) == 1
	})
	again, err := s.Post(t.Context(), s.APIKey, "/v1/payments", "K1", system.Order("order-1", 1000), "wait=1")
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, again.Status, "%s", again.Body)
	require.Equal(t, payments.StatusSubmitted, s.Payment(id).Status)
	require.Zero(t, s.Count(`SELECT count(*) FROM payonce.provider_calls WHERE operation = 'confirm_payment'`))
	require.Less(t, len(s.Requests(http.MethodGet, "/v1/payment_intents")), 5)
}
