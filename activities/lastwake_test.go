package activities_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"payonce/activities"
	"payonce/boundaries"
	"payonce/internal/app"
	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

// dying is the waker of a process that dies after its commit and before its wake-up.
type dying struct{}

var errDied = errors.New("it died")

func (dying) Wake(context.Context, payments.PaymentID) error { return errDied }

func (dying) WakeRefund(context.Context, payments.PaymentID, payments.RefundID) error { return errDied }

func (dying) WakePayout(context.Context, payments.PayoutID) error { return errDied }

func (dying) WakeProvision(context.Context, payments.ProvisionID, payments.RecordID) error {
	return errDied
}

// untold is a system in which nobody reads or tells what happens at Stripe but a process that dies before it wakes anybody.
func untold(t *testing.T) (*system.System, *activities.Activities) {
	t.Helper()
	s := system.Start(t, func(c *app.Config) { c.Timing.PollAfter, c.Timing.PollMaximum = 200*time.Hour, 400*time.Hour })
	acts := s.Open().Activities
	acts.Waker = dying{}
	return s, acts
}

// ends waits for a workflow to end, and for the relay to have nothing left to wake.
func ends(t *testing.T, s *system.System, workflow string) {
	t.Helper()
	s.Eventually(workflow+" ends", func() bool {
		described, err := s.App.Temporal.DescribeWorkflow(t.Context(), workflow, "")
		require.NoError(t, err)
		return described.Status == enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED
	})
	s.Eventually("nothing is woken again", func() bool {
		return s.Count(`SELECT count(*) FROM payonce.idempotency_records WHERE next_wake_at IS NOT NULL`) == 0
	})
}

// A refund, a payout or a provision comes to its end by what somebody else brought, and the wake-up is lost with that process: its workflow is woken all the
// same, and does not sleep for ever.
func TestARefundWhoseLastWakeUpWasLostEnds(t *testing.T) {
	t.Parallel()
	s, acts := untold(t)
	payment := paid(t, s, 1000)
	s.Settle()
	s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDrop})
	_, err := s.Twin.PlanRefund(t.Context(), payment.PaymentIntent, control.RefundPlan{Status: "pending"})
	require.NoError(t, err)
	refund := refundOf(t, post(t, s, payment.ID, "refunds", "R1", part(400, "item-1")))
	require.Equal(t, payments.RefundPending, refund.Status)
	_, err = s.Twin.SettleRefund(t.Context(), refund.Refund, control.SettleRefund{Status: "succeeded"})
	require.NoError(t, err)
	require.NoError(t, acts.PollRefund(t.Context(), refund.ID))
	require.Equal(t, payments.RefundSucceeded, readRefund(t, s, refund.ID).Status)
	ends(t, s, boundaries.RefundWorkflowID(refund.ID))
}

func TestAPayoutWhoseLastWakeUpWasLostEnds(t *testing.T) {
	t.Parallel()
	s, acts := untold(t)
	funded(t, s, 10_000)
	s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDrop})
	made := payoutOf(t, payOut(t, s, "P1", payout(4000, "week-1")))
	s.DB.AdvanceClock(t, 72*time.Hour)
	require.NoError(t, s.Twin.Tick(t.Context()))
	require.NoError(t, acts.PollPayout(t.Context(), made.ID))
	require.Equal(t, payments.PayoutPaid, readPayout(t, s, made.ID).Status)
	ends(t, s, boundaries.PayoutWorkflowID(made.ID))
}

func TestAProvisionWhoseLastWakeUpWasLostEnds(t *testing.T) {
	t.Parallel()
	s, acts := untold(t)
	kind := provisionKinds()[payments.ProvisionCustomer]
	unknown := provisionLeftUnknown(t, s, kind)
	kind.elsewhere.Set("metadata["+payments.ProvisionCustomer.Metadata()+"]", unknown.ID.String())
	makeElsewhere(t, s, kind.stripes, kind.elsewhere)
	require.ErrorIs(t, acts.ResolveProvision(t.Context(), unknown.ID, says(activities.ResolvedNotExecuted)), activities.ErrShown)
	require.Equal(t, http.StatusCreated, provision(t, s, kind.ours, "K1", kind.command).Status)
	var record uuid.UUID
	require.NoError(t, s.Owner.QueryRow(t.Context(), `SELECT record FROM payonce.provisions WHERE id = $1`, unknown.ID.UUID).Scan(&record))
	ends(t, s, boundaries.ProvisionWorkflowID(payments.RecordID{UUID: record}))
}
