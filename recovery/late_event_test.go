package recovery_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/boundaries"
	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/recovery"
	"payonce/stripesim/control"
)

// runOf is the run of the payment's workflow that is running, or ran last.
func runOf(t *testing.T, s *system.System, payment payments.PaymentID) string {
	t.Helper()
	described, err := s.App.Temporal.DescribeWorkflow(t.Context(), boundaries.PaymentWorkflowID(payment), "")
	require.NoError(t, err)
	return described.WorkflowExecution.RunID
}

// ended waits until the payment's workflow has run to its end.
func ended(t *testing.T, s *system.System, payment payments.PaymentID) {
	t.Helper()
	require.NoError(t, s.App.Temporal.GetWorkflow(t.Context(), boundaries.PaymentWorkflowID(payment), "").Get(t.Context(), nil))
}

// Forty days after the workflow has ended Stripe sends the success again, tells it in a further event, and the payer's bank asks for the money: each is
// taken with 200 and settled without a workflow, and nothing moves a second time.
func TestEventsLongAfterTheEndAreSettledWithoutAWorkflow(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	answer := s.Create("K1", system.Order("order-1", 1000))
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Body)
	payment := answer.Payment(t)
	s.Settle()
	ended(t, s, payment.ID)
	run := runOf(t, s, payment.ID)
	s.DB.AdvanceClock(t, 40*24*time.Hour)
	success := s.Event(payment.PaymentIntent, "payment_intent.succeeded")
	again, err := s.Twin.Deliver(t.Context(), success.ID, control.Deliver{Times: 5, Concurrent: true})
	require.NoError(t, err)
	further, err := s.Twin.Emit(t.Context(), control.Emit{
		ID: "evt_further", Type: success.Type, Account: system.AccountID, Object: success.Object, Created: success.Created.Unix(),
	})
	require.NoError(t, err)
	_, err = s.Twin.OpenDispute(t.Context(), payment.PaymentIntent, control.OpenDispute{Status: "needs_response"})
	require.NoError(t, err)
	answers := append(again.Answers, further.Answers...)
	require.Len(t, answers, 6)
	for _, answered := range answers {
		require.Equal(t, http.StatusOK, answered.Status, answered.Error)
	}
	s.Settle()
	require.Zero(t, s.Count(`SELECT count(*) FROM payonce.provider_events WHERE settled_at IS NULL`))
	require.Equal(t, run, runOf(t, s, payment.ID), "the workflow was not run again")
	require.Equal(t, payments.StatusSucceeded, s.Payment(payment.ID).Status)
	require.Equal(t, 2, s.Count(`SELECT count(*) FROM payonce.ledger_journals`), "the money taken, and what was withdrawn of it")
	require.Len(t, s.Receiver.Of(t, payment.ID.String()), 2)
}

// The success is told after the claim and before the workflow exists: it is kept and applied, and the workflow that starts later finds that
// nothing is to be sent.
func TestASuccessToldBeforeTheWorkflowExistsIsAppliedOnce(t *testing.T) {
	t.Parallel()
	s := system.New(t)
	temporal := s.Config.TemporalAddress
	s.Config.TemporalAddress = nowhere
	s.App = s.Open()
	stop := s.StartAPI()
	answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments", "K1", system.Order("order-1", 1000), "wait=0")
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, answer.Status, "%s", answer.Body)
	id := answer.Payment(t).ID
	intent := s.CreateAtStripe(system.OutsideKey+"create", "amount=1000&currency=usd&capture_method=automatic&payment_method_types[]=card&metadata["+
		payments.MetadataPayment+"]="+id.String())
	_, err = s.Twin.Pay(t.Context(), intent, control.Pay{PaymentMethod: "pm_card_visa"})
	require.NoError(t, err)
	s.Eventually("the success is acknowledged", func() bool {
		deliveries := s.Event(intent, "payment_intent.succeeded").Deliveries
		return len(deliveries) > 0 && deliveries[0].Status == control.DeliveryDelivered
	})
	require.Equal(t, payments.StatusSubmitted, s.Payment(id).Status, "nobody works yet")
	stop()
	applier := &recovery.Applier{Pool: s.App.System, Sealer: s.App.Sealer, Activities: s.App.Activities, Timing: s.Config.Timing, Log: system.Log()}
	s.Eventually("the events are settled", func() bool {
		_, err := applier.Apply(t.Context())
		require.NoError(t, err)
		return s.Count(`SELECT count(*) FROM payonce.provider_events WHERE settled_at IS NULL`) == 0
	})
	s.Config.TemporalAddress = temporal
	s.App = s.Open()
	s.StartAPI()
	s.StartWorker()
	s.Eventually("its workflow has run", func() bool {
		return s.App.Temporal.GetWorkflow(t.Context(), boundaries.PaymentWorkflowID(id), "").Get(t.Context(), nil) == nil
	})
	require.Len(t, s.Requests(http.MethodPost, "/v1/payment_intents"), 1, "the one of the test")
	s.Settle()
	replay := s.Create("K1", system.Order("order-1", 1000))
	require.Equal(t, http.StatusCreated, replay.Status, "%s", replay.Body)
	require.Equal(t, intent, replay.Payment(t).PaymentIntent)
	require.EqualValues(t, 1000, s.Book(id).Captured)
	require.Zero(t, s.Book(id).ConfirmsExecuted)
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.payment_facts WHERE fact = 'succeeded'`))
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.ledger_journals`))
	require.Len(t, s.Receiver.Of(t, id.String()), 1)
}
