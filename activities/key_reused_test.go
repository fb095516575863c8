package activities_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

// Stripe says that a key came with other parameters, which frozen bytes rule out unless something is wrong: it is no answer to the command. Stripe is
// read; what it shows is the outcome, and what it does not show is nobody's to guess.
func TestAKeyThatStripeKnowsOtherwiseIsNoRefusal(t *testing.T) {
	for name, test := range map[string]struct {
		first string // what the send before met
		after int    // matches of its rule that the other lets pass
		paid  bool
	}{
		"the charge was made":     {control.FaultAnswerLost, 1, true},
		"the charge was not made": {control.FaultErrorBefore, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := system.Start(t)
			s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDrop})
			confirm := control.Match{Method: http.MethodPost, Path: "/v1/payment_intents/*/confirm"}
			s.Fault(control.Rule{Match: confirm, Fault: test.first, Times: 1})
			s.Fault(control.Rule{Match: confirm, Fault: control.FaultKeyMismatch, After: test.after})
			answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments", "K1", system.Order("order-1", 1000), "wait=0")
			require.NoError(t, err)
			require.Equal(t, http.StatusAccepted, answer.Status, "%s", answer.Body)
			id := answer.Payment(t).ID
			if test.paid {
				s.Eventually("what Stripe shows is the outcome", func() bool { return s.Payment(id).Status == payments.StatusSucceeded })
				s.Settle()
				return
			}
			s.Eventually("a person is asked", func() bool { return s.Payment(id).Review != nil })
			held := s.Payment(id)
			require.Equal(t, payments.StatusSubmitted, held.Status, "nothing is called failed")
			require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.idempotency_records
				WHERE payment = $1 AND operation = $2 AND status = 'unknown'`, id.UUID, payments.OperationConfirm))
			require.Len(t, s.Requests(http.MethodPost, confirm.Path), 2, "nothing is sent after it")
		})
	}
}
