package doctor_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

// A running system that met lost answers, lost events, a refusal and a payer who pays by himself comes to rest healthy.
func TestARunningSystemSettlesHealthy(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	for _, rule := range []control.Rule{
		{Match: control.Match{Method: http.MethodPost, Path: "/v1/payment_intents"}, Fault: control.FaultAnswerLost, Times: 1},
		{Match: control.Match{EventType: "payment_intent.succeeded"}, Fault: control.FaultDrop, Times: 1},
		{Match: control.Match{EventType: "*"}, Fault: control.FaultDouble, Times: 3},
	} {
		_, err := s.Twin.AddFault(t.Context(), rule)
		require.NoError(t, err)
	}
	require.Equal(t, payments.StatusSucceeded, s.Create("key-1", system.Order("order-1", 1000)).Payment(t).Status)
	require.Equal(t, http.StatusCreated, s.Create("key-2", system.Order("order-1", 1000)).Status)
	declined := s.Create("key-3", system.With(system.Order("order-2", 2000), "payment_method", "pm_card_chargeDeclined")).Payment(t)
	_, err := s.Twin.Pay(t.Context(), declined.PaymentIntent, control.Pay{PaymentMethod: "pm_card_visa", ClientSecret: declined.ClientSecret})
	require.NoError(t, err)

	s.Settle()

	require.Equal(t, payments.StatusSucceeded, s.Payment(declined.ID).Status)
}

// A further attempt of a reference derives its own ids and keys.
func TestAFurtherAttemptOfAReferenceIsHealthy(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	_, err := s.Twin.AddFault(t.Context(), control.Rule{
		Match: control.Match{Method: http.MethodPost, Path: "/v1/payment_intents"}, Fault: control.FaultRefused, Times: 1,
	})
	require.NoError(t, err)
	refused := s.Create("key-1", system.Order("order-1", 1000))
	require.Equal(t, http.StatusPaymentRequired, refused.Status, string(refused.Body))

	again := s.Create("key-2", system.With(system.Order("order-1", 1000), "replaces", refused.Problem(t).Payment))

	require.Equal(t, http.StatusCreated, again.Status, string(again.Body))
	s.Settle()
}
