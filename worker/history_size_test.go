package worker_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"google.golang.org/protobuf/proto"

	"payonce/boundaries"
	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

// A payment with all the metadata that fits crosses into Temporal as its id: no task is heavy, none fails, and the history stays as small as any.
func TestMaximalMetadataStaysOutOfTheWorkflow(t *testing.T) {
	t.Parallel()
	s := system.Start(t, system.Unhurried)
	metadata := map[string]string{}
	for n := range 48 {
		metadata[fmt.Sprintf("%s%02d", strings.Repeat("n", 38), n)] = strings.Repeat("é", 500)
	}
	order := system.With(system.With(system.Order("order-1", 1000), "metadata", metadata), "description", strings.Repeat("é", 1000))
	answer := s.Create("K1", order)
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Body)
	payment := answer.Payment(t)
	require.Equal(t, payments.StatusSucceeded, payment.Status)
	require.Equal(t, metadata, payment.Metadata)
	history := atRest(t, s, boundaries.PaymentWorkflowID(payment.ID), false)
	require.Less(t, proto.Size(history), 8<<10)
	require.NotContains(t, history.String(), "nnnn")
	for _, event := range history.Events {
		require.NotEqual(t, enumspb.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT, event.EventType)
		// A wake-up that arrives while the workflow ends makes its last task run again; a task that took too long would fail for another cause.
		if failed := event.GetWorkflowTaskFailedEventAttributes(); failed != nil {
			require.Equal(t, enumspb.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND, failed.Cause)
		}
	}
	require.NoError(t, replayer().ReplayWorkflowHistory(quiet(), history))
}

// A bank debit is pending for a fortnight, is polled every day, and Stripe delivers its event ten thousand times: none of it adds to the history.
func TestAFortnightOfPollsAndTenThousandRedeliveriesLeaveTheHistoryAlone(t *testing.T) {
	t.Parallel()
	const days, rounds, redeliveries = 14, 400, 25
	s := system.Start(t)
	order := system.With(system.Order("order-1", 1000), "payment_method", "pm_usBankAccount_processing")
	answer := s.Create("K1", system.With(order, "payment_method_types", []string{"us_bank_account"}))
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Body)
	payment := answer.Payment(t)
	require.Equal(t, payments.StatusProcessing, payment.Status)
	before := len(atRest(t, s, boundaries.PaymentWorkflowID(payment.ID), true).Events)
	reads := func() int { return len(s.Requests(http.MethodGet, "/v1/payment_intents/*")) }
	for range days {
		polled := reads()
		s.DB.AdvanceClock(t, 24*time.Hour)
		s.Eventually("it is polled again", func() bool { return reads() > polled })
	}
	event := s.Event(payment.PaymentIntent, "payment_intent.processing")
	for range rounds {
		sent, err := s.Twin.Deliver(t.Context(), event.ID, control.Deliver{Times: redeliveries, Concurrent: true})
		require.NoError(t, err)
		for _, answered := range sent.Answers {
			require.Equal(t, http.StatusOK, answered.Status, answered.Error)
		}
	}
	require.Equal(t, payments.StatusProcessing, s.Payment(payment.ID).Status)
	grown := len(atRest(t, s, boundaries.PaymentWorkflowID(payment.ID), true).Events) - before
	require.Zero(t, grown)
	_, err := s.Twin.Succeed(t.Context(), payment.PaymentIntent)
	require.NoError(t, err)
	s.Eventually("the debit has settled", func() bool { return s.Payment(payment.ID).Status == payments.StatusSucceeded })
	require.Less(t, len(atRest(t, s, boundaries.PaymentWorkflowID(payment.ID), false).Events), before+20)
	s.Settle()
}
