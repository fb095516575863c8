package activities_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/activities"
	"payonce/boundaries"
	"payonce/internal/app"
	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
	"payonce/workflows"
)

// patient gives a confirm time enough for the account's buckets on any machine.
func patient(c *app.Config) {
	c.Timing.LocalTry, c.Timing.WorkflowTask = c.Timing.FirstSend+time.Minute, 2*time.Minute
}

// created is a payment whose create was just acted on, with its confirm to come, and the workflow that acts.
func created(t *testing.T, s *system.System, reference string) (payments.View, workflows.Act) {
	t.Helper()
	answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments", reference, system.Order(reference, 1000), "wait=0")
	require.NoError(t, err)
	payment := answer.Payment(t)
	in := workflows.Act{Version: 1, Payment: payment.ID, Owner: boundaries.PaymentWorkflowID(payment.ID), Local: true}
	step, err := s.App.Activities.CreateIntent(t.Context(), in)
	require.NoError(t, err)
	require.Equal(t, payments.OperationConfirm, step.Next)
	return payment, in
}

// sends is how often the confirm's call was noted as sent.
func sends(s *system.System, payment payments.View) int {
	return s.Count(`SELECT coalesce(sum(sends), 0) FROM payonce.provider_calls WHERE payment = $1 AND operation = $2`, payment.ID.UUID, payments.OperationConfirm)
}

// The answer to the create and the freezing of the confirm are one commit, and the noted send is made once: by the next act of the same workflow, in the
// same process, in time. Anything else notes a send of its own.
func TestAConfirmIsBegunWithTheAnswerToItsCreate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		by    func(t *testing.T, s *system.System, in workflows.Act) (*activities.Activities, workflows.Act)
		noted int
	}{
		"the next act": {func(_ *testing.T, s *system.System, in workflows.Act) (*activities.Activities, workflows.Act) {
			return s.App.Activities, in
		}, 1},
		"a later try": {func(_ *testing.T, s *system.System, in workflows.Act) (*activities.Activities, workflows.Act) {
			in.Local = false
			return s.App.Activities, in
		}, 2},
		"another process": {func(_ *testing.T, s *system.System, in workflows.Act) (*activities.Activities, workflows.Act) {
			return s.Open().Activities, in
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := system.New(t, patient)
			s.StartAPI()
			payment, in := created(t, s, "order-1")
			require.Equal(t, 1, sends(s, payment))
			require.Zero(t, s.Book(payment.ID).Captured, "nothing was confirmed yet")
			acts, in := test.by(t, s, in)
			step, err := acts.ConfirmIntent(t.Context(), in)
			require.NoError(t, err)
			require.Equal(t, payments.StatusSucceeded, step.Status)
			require.Equal(t, test.noted, sends(s, payment))
		})
	}
}

// A try whose send failed leaves nothing to the next one: each send is noted before it is made.
func TestASendThatWasBegunAheadIsMadeOnce(t *testing.T) {
	t.Parallel()
	s := system.New(t, patient)
	s.StartAPI()
	payment, in := created(t, s, "order-1")
	s.Fault(control.Rule{Match: control.Match{Method: http.MethodPost, Path: "/v1/payment_intents/*/confirm"}, Fault: control.FaultAnswerLost, Times: 1})
	_, err := s.App.Activities.ConfirmIntent(t.Context(), in)
	require.Error(t, err)
	require.Equal(t, 1, sends(s, payment))
	step, err := s.App.Activities.ConfirmIntent(t.Context(), in)
	require.NoError(t, err)
	require.Equal(t, payments.StatusSucceeded, step.Status)
	require.Equal(t, 2, sends(s, payment))
	require.EqualValues(t, 1000, s.Book(payment.ID).Captured)
}

// A workflow that slept too long between two acts must not send under a note that says that the send has ended.
func TestASendThatWasBegunTooLongAgoIsNotMade(t *testing.T) {
	t.Parallel()
	s := system.New(t, patient, func(c *app.Config) { c.Timing.FirstSend, c.Timing.Send = time.Second, time.Second+time.Nanosecond })
	s.StartAPI()
	payment, in := created(t, s, "order-1")
	step, err := s.App.Activities.ConfirmIntent(t.Context(), in)
	require.NoError(t, err)
	require.Equal(t, payments.StatusSucceeded, step.Status)
	require.Equal(t, 2, sends(s, payment))
}

// What cannot go at once waits where every confirm waits, and nothing is frozen meanwhile.
func TestAConfirmThatMustWaitForItsTurnIsNotBegunAhead(t *testing.T) {
	t.Parallel()
	s := system.New(t)
	s.StartAPI()
	s.LimitCalls(0.001)
	payment, _ := created(t, s, "order-1")
	require.Zero(t, sends(s, payment))
}
