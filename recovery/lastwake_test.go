package recovery_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"payonce/boundaries"
	"payonce/internal/app"
	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

// A payment ends by a fact from outside and the wake-up is lost, as when that process dies after its commit: its workflow is woken all the same,
// and does not sleep for ever.
func TestAWorkflowWhoseLastWakeUpWasLostEnds(t *testing.T) {
	t.Parallel()
	s := system.Start(t, func(c *app.Config) { c.Timing.PollAfter, c.Timing.PollMaximum = time.Hour, 2*time.Hour })
	s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDrop})
	answer := s.Create("K1", system.With(system.Order("order-1", 1000), "payment_method", nil))
	payment := answer.Payment(t)
	require.Equal(t, payments.StatusRequiresPaymentMethod, payment.Status)
	_, err := s.Twin.Pay(t.Context(), payment.PaymentIntent, control.Pay{PaymentMethod: "pm_card_visa", ClientSecret: payment.ClientSecret})
	require.NoError(t, err)
	running := s.App
	s.Config.TemporalAddress = nowhere
	deaf := s.Open()
	require.NoError(t, deaf.Activities.Poll(t.Context(), payment.ID))
	require.Equal(t, payments.StatusSucceeded, s.Payment(payment.ID).Status)

	s.Eventually("the workflow ends", func() bool {
		described, err := running.Temporal.DescribeWorkflow(t.Context(), boundaries.PaymentWorkflowID(payment.ID), "")
		require.NoError(t, err)
		return described.Status == enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED
	})
	s.Eventually("it is not woken again", func() bool {
		return s.Count(`SELECT count(*) FROM payonce.idempotency_records WHERE next_wake_at IS NOT NULL`) == 0
	})
	require.Equal(t, answer.Body, s.Create("K1", system.With(system.Order("order-1", 1000), "payment_method", nil)).Body)
}
