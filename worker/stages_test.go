package worker_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/temporalproto"
	"go.temporal.io/sdk/client"

	"payonce/boundaries"
	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
	"payonce/worker"
	"payonce/workflows"
)

// stage is where a workflow may be when the code under it is replaced.
type stage struct {
	name   string
	body   map[string]any                                  // what is added to the order; nil removes
	lead   func(*testing.T, *system.System, payments.View) // from the create's answer to the stage; may be nil
	before func(*testing.T, *system.System)                // what Stripe meets before the create; may be nil
	status payments.Status
	sleeps bool // the workflow waits to be woken

	workflow func(*testing.T, *system.System, payments.PaymentID) string // its id; nil: the payment's
}

// stages are the places at which a payment's workflow may stand or end.
func stages() []stage {
	noMethod := map[string]any{"payment_method": nil}
	challenged := map[string]any{"payment_method": "pm_card_authenticationRequired"}
	held := map[string]any{"capture_method": "manual"}
	debited := map[string]any{"payment_method": "pm_usBankAccount_processing", "payment_method_types": []string{"us_bank_account"}}
	return []stage{
		{name: "succeeded", status: payments.StatusSucceeded},
		{name: "declined", body: map[string]any{"payment_method": "pm_card_chargeDeclined"}, status: payments.StatusRequiresPaymentMethod, sleeps: true},
		{name: "requires_payment_method", body: noMethod, status: payments.StatusRequiresPaymentMethod, sleeps: true},
		{name: "requires_action", body: challenged, status: payments.StatusRequiresAction, sleeps: true},
		{name: "processing", body: debited, status: payments.StatusProcessing, sleeps: true},
		{name: "canceled", body: noMethod, lead: cancels, status: payments.StatusCanceled},
		{name: "expired", body: challenged, lead: isAbandoned, status: payments.StatusExpired},
		{name: "confirmed_again", body: map[string]any{"payment_method": "pm_card_chargeDeclined"}, lead: confirmsAgain, status: payments.StatusSucceeded},
		{name: "authenticated", body: challenged, lead: authenticates, status: payments.StatusSucceeded},
		{name: "debited", body: debited, lead: settles, status: payments.StatusSucceeded},
		{name: "retried", before: losesAnswers, status: payments.StatusSucceeded},
		{name: "held", body: held, status: payments.StatusRequiresCapture, sleeps: true},
		{name: "captured", body: held, lead: captures, status: payments.StatusSucceeded},
		{name: "refunded", lead: refunds, status: payments.StatusSucceeded, workflow: ofTheRefund},
		{name: "refund_pending", lead: refundsLater, status: payments.StatusSucceeded, workflow: ofTheRefund, sleeps: true},
		{name: "payout_pending", lead: paysOut(), status: payments.StatusSucceeded, workflow: ofThePayout, sleeps: true},
		{name: "payout_paid", lead: paysOut("paid"), status: payments.StatusSucceeded, workflow: ofThePayout},
		{name: "provision_linked", lead: provisions(), status: payments.StatusSucceeded, workflow: ofTheProvision},
		{name: "provision_retried", lead: provisions(control.FaultAnswerLost), status: payments.StatusSucceeded, workflow: ofTheProvision},
		{name: "backfilled", lead: backfills, status: payments.StatusSucceeded, workflow: ofTheBackfill},
		{name: "payout_failed", lead: paysOut("in_transit", "failed"), status: payments.StatusSucceeded, workflow: ofThePayout},
	}
}

// Each history of the repository comes from a run of the whole system, and code of today replays what it leaves itself.
func TestPaymentsLeaveReplayableHistories(t *testing.T) {
	for _, stage := range stages() {
		t.Run(stage.name, func(t *testing.T) {
			s := system.Start(t)
			if stage.before != nil {
				stage.before(t, s)
			}
			order := system.Order("order-1", 1000)
			for name, value := range stage.body {
				order = system.With(order, name, value)
			}
			answer := s.Create("K1", order)
			require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Body)
			payment := answer.Payment(t)
			if stage.lead != nil {
				stage.lead(t, s, payment)
			}
			s.Eventually("the stage is reached", func() bool { return s.Payment(payment.ID).Status == stage.status })
			workflow := boundaries.PaymentWorkflowID(payment.ID)
			if stage.workflow != nil {
				workflow = stage.workflow(t, s, payment.ID)
			}
			history := atRest(t, s, workflow, stage.sleeps)
			require.NoError(t, replayer().ReplayWorkflowHistory(quiet(), history))
			if *update {
				body, err := temporalproto.CustomJSONMarshalOptions{Indent: "  "}.Marshal(history)
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(filepath.Join(histories, stage.name+".json"), append(body, '\n'), 0o644))
			}
		})
	}
}

// ofTheRefund is the workflow of the payment's refund.
func ofTheRefund(t *testing.T, s *system.System, payment payments.PaymentID) string {
	t.Helper()
	var list struct{ Data []payments.RefundView }
	require.NoError(t, json.Unmarshal(s.Get("/v1/payments/"+payment.String()+"/refunds").Body, &list))
	require.Len(t, list.Data, 1)
	return boundaries.RefundWorkflowID(list.Data[0].ID)
}

// ofThePayout is the workflow of the one payout.
func ofThePayout(t *testing.T, s *system.System, _ payments.PaymentID) string {
	t.Helper()
	return boundaries.PayoutWorkflowID(thePayout(t, s).ID)
}

func thePayout(t *testing.T, s *system.System) payments.PayoutView {
	t.Helper()
	var list struct{ Data []payments.PayoutView }
	require.NoError(t, json.Unmarshal(s.Get("/v1/payouts").Body, &list))
	require.Len(t, list.Data, 1)
	return list.Data[0]
}

// atRest is the history once the workflow has ended, or sleeps with nothing under way.
func atRest(t *testing.T, s *system.System, workflow string, sleeps bool) *historypb.History {
	t.Helper()
	var history *historypb.History
	s.Eventually("the workflow is at rest", func() bool {
		history = readWorkflow(t, s, workflow)
		last := history.Events[len(history.Events)-1].EventType
		if !sleeps {
			return last == enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED
		}
		return last == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED || last == enumspb.EVENT_TYPE_MARKER_RECORDED
	})
	return history
}

// post sends a further command of a payment.
func post(t *testing.T, s *system.System, payment payments.PaymentID, command, key string, body map[string]any) {
	t.Helper()
	answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments/"+payment.String()+"/"+command, key, body, "wait=20")
	require.NoError(t, err)
	require.Contains(t, []int{http.StatusOK, http.StatusCreated}, answer.Status, "%s", answer.Body)
}

func captures(t *testing.T, s *system.System, payment payments.View) {
	t.Helper()
	post(t, s, payment.ID, "capture", "K2", map[string]any{})
}

func refunds(t *testing.T, s *system.System, payment payments.View) {
	t.Helper()
	post(t, s, payment.ID, "refunds", "K2", map[string]any{})
}

func refundsLater(t *testing.T, s *system.System, payment payments.View) {
	t.Helper()
	_, err := s.Twin.PlanRefund(t.Context(), payment.PaymentIntent, control.RefundPlan{Status: "pending", Unfunded: true})
	require.NoError(t, err)
	refunds(t, s, payment)
}

// paysOut pays out what the payment brought, once Stripe has released it; then the bank does with it what is said.
func paysOut(becomes ...string) func(*testing.T, *system.System, payments.View) {
	return func(t *testing.T, s *system.System, payment payments.View) {
		t.Helper()
		s.DB.AdvanceClock(t, 72*time.Hour)
		body := map[string]any{"amount": payment.Amount / 2, "currency": payment.Currency, "reference": "week-1"}
		answer, err := s.Post(t.Context(), s.APIKey, "/v1/payouts", "K2", body, "wait=20")
		require.NoError(t, err)
		require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Body)
		for _, status := range becomes {
			atRest(t, s, ofThePayout(t, s, payment.ID), true)
			_, err := s.Twin.SettlePayout(t.Context(), thePayout(t, s).Payout, control.SettlePayout{Status: status})
			require.NoError(t, err)
			s.Eventually("it has become "+status, func() bool { return string(thePayout(t, s).Status) == status })
		}
	}
}

// provisions links a customer, at whose making Stripe misbehaves once in each of the ways.
func provisions(faults ...string) func(*testing.T, *system.System, payments.View) {
	return func(t *testing.T, s *system.System, _ payments.View) {
		t.Helper()
		for _, fault := range faults {
			s.Fault(control.Rule{Match: control.Match{Method: http.MethodPost, Path: "/v1/customers"}, Fault: fault, Times: 1})
		}
		answer, err := s.Post(t.Context(), s.APIKey, "/v1/customers", "K2", map[string]any{"owner": "owner-1"}, "wait=20")
		require.NoError(t, err)
		require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Body)
	}
}

// ofTheProvision is the workflow of the one provision.
func ofTheProvision(t *testing.T, s *system.System, _ payments.PaymentID) string {
	t.Helper()
	var record payments.RecordID
	require.NoError(t, s.Owner.QueryRow(t.Context(), `SELECT record FROM payonce.provisions`).Scan(&record.UUID))
	return boundaries.ProvisionWorkflowID(record)
}

// backfills has Stripe's list of events gone through once.
func backfills(t *testing.T, s *system.System, _ payments.View) {
	t.Helper()
	started, err := s.App.Temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: ofTheBackfill(t, s, payments.PaymentID{}), TaskQueue: s.Config.TaskQueue},
		workflows.NameBackfill, workflows.BackfillInput{Version: 1, Act: time.Minute, Heartbeat: time.Minute})
	require.NoError(t, err)
	require.NoError(t, started.Get(t.Context(), nil))
}

func ofTheBackfill(_ *testing.T, s *system.System, _ payments.PaymentID) string {
	return worker.Schedule{TaskQueue: s.Config.TaskQueue}.ID()
}

func cancels(t *testing.T, s *system.System, payment payments.View) {
	t.Helper()
	post(t, s, payment.ID, "cancel", "K2", map[string]any{})
}

func confirmsAgain(t *testing.T, s *system.System, payment payments.View) {
	t.Helper()
	post(t, s, payment.ID, "confirm", "K2", map[string]any{"payment_method": "pm_card_visa"})
}

func isAbandoned(t *testing.T, s *system.System, _ payments.View) {
	t.Helper()
	s.DB.AdvanceClock(t, s.Config.Timing.AbandonAction+time.Minute)
}

func authenticates(t *testing.T, s *system.System, payment payments.View) {
	t.Helper()
	_, err := s.Twin.Authenticate(t.Context(), payment.PaymentIntent)
	require.NoError(t, err)
}

func settles(t *testing.T, s *system.System, payment payments.View) {
	t.Helper()
	_, err := s.Twin.Succeed(t.Context(), payment.PaymentIntent)
	require.NoError(t, err)
}

// losesAnswers makes the local try of each call fail, so that it goes on as a regular activity.
func losesAnswers(_ *testing.T, s *system.System) {
	for _, path := range []string{"/v1/payment_intents", "/v1/payment_intents/*/confirm"} {
		s.Fault(control.Rule{Match: control.Match{Method: http.MethodPost, Path: path}, Fault: control.FaultAnswerLost, Times: 1})
	}
}
