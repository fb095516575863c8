package activities_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/activities"
	"payonce/boundaries"
	"payonce/internal/stripeapi"
	"payonce/internal/testkit/system"
	"payonce/ledger"
	"payonce/payments"
	"payonce/workflows"
)

// A slow owner's decline arrives after another owner has entered: it is a fact, and the command is settled by the newer owner's own answer.
func TestADeclineOfAFencedOutOwnerDoesNotSettleTheCommand(t *testing.T) {
	t.Parallel()
	s := system.New(t)
	s.StartAPI()
	body := system.With(system.Order("order-1", 1000), "payment_method", "pm_card_chargeDeclined")
	answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments", "K1", body, "wait=0")
	require.NoError(t, err)
	id := answer.Payment(t).ID
	in := workflows.Act{Version: 1, Payment: id, Owner: boundaries.PaymentWorkflowID(id)}
	acts := s.App.Activities
	step, err := acts.CreateIntent(t.Context(), in)
	require.NoError(t, err)
	require.Equal(t, payments.OperationConfirm, step.Next)

	record := boundaries.RecordID(s.Tenant, payments.OperationConfirm, boundaries.ConfirmOwnerKey(id, 1))
	freeze := boundaries.Freeze{
		Key: boundaries.ProviderKey{
			Tenant: s.Tenant, ResourceKind: boundaries.ResourcePayment, ResourceID: id.UUID, Operation: payments.OperationConfirm, Attempt: 1,
		},
		Record: record, Payment: id, Owner: in.Owner, Account: payments.Account{ID: system.AccountID},
		Path: "/v1/payment_intents/" + s.Book(id).ID + "/confirm", Body: []byte("payment_method=pm_card_chargeDeclined"), Version: stripeapi.APIVersion,
	}
	slow, err := acts.Calls.Begin(t.Context(), freeze)
	require.NoError(t, err)
	newer, err := acts.Calls.Begin(t.Context(), freeze)
	require.NoError(t, err)
	require.Greater(t, newer.Fence, slow.Fence)

	_, err = acts.Apply(t.Context(), id, activities.Learnt{
		Source: activities.SourceAnswer, BegunAt: slow.LastSentAt, EffectiveAt: slow.LastSentAt,
		Answer: &activities.AnsweredCall{Call: slow, Status: http.StatusPaymentRequired, Decline: &payments.ProviderError{Code: "card_declined"}},
	})
	require.NoError(t, err)
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.idempotency_records WHERE id = $1 AND status = 'in_progress'`, record.UUID))
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.provider_calls WHERE idempotency_key = $1 AND status = 'sent'`, slow.Key))

	step, err = acts.ConfirmIntent(t.Context(), in)
	require.NoError(t, err)
	require.Empty(t, step.Next)
	replay := s.Create("K1", body)
	require.Equal(t, http.StatusCreated, replay.Status)
	require.Equal(t, payments.StatusRequiresPaymentMethod, replay.Payment(t).Status)
}

// Two totals of one charge that fits nothing put the difference in suspense, not their sum.
func TestAQuarantinedChargeStandsInSuspenseOnce(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	payment := s.Create("K1", system.With(system.Order("order-1", 1000), "payment_method", nil)).Payment(t)
	for _, total := range []int64{300, 900, 900} {
		_, err := s.App.Activities.Apply(t.Context(), payment.ID, activities.Learnt{
			Source: activities.SourceEvent, EffectiveAt: payment.CreatedAt, Intent: &stripeapi.Intent{
				ID: "pi_stray", Account: payments.Account{ID: system.AccountID}, Status: stripeapi.IntentSucceeded, LatestCharge: "ch_stray",
				Money: payments.Money{Amount: 900, Currency: "usd"}, AmountReceived: total, CaptureMethod: payments.CaptureAutomatic,
			},
		})
		require.NoError(t, err)
	}
	balance, err := ledger.Balance(t.Context(), s.Owner, s.Tenant, ledger.SuspenseMoney, "usd")
	require.NoError(t, err)
	require.EqualValues(t, -900, balance)
}
