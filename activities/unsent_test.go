package activities_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/activities"
	"payonce/boundaries"
	"payonce/internal/stripeapi"
	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/workflows"
)

// The deadline passes while the create is being frozen: what is sent is not called unsent, by whoever looked before it was frozen.
func TestACreateThatWasFrozenInTimeIsNotCalledUnsent(t *testing.T) {
	t.Parallel()
	s := system.New(t)
	s.StartAPI()
	answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments", "K1", system.Order("order-1", 1000), "wait=0")
	require.NoError(t, err)
	id := answer.Payment(t).ID
	owner := boundaries.PaymentWorkflowID(id)
	_, err = s.App.Activities.Calls.Begin(t.Context(), boundaries.Freeze{
		Key: boundaries.ProviderKey{
			Tenant: s.Tenant, ResourceKind: boundaries.ResourcePayment, ResourceID: id.UUID, Operation: payments.OperationCreate, Attempt: 1,
		},
		Record: boundaries.RecordID(s.Tenant, payments.OperationCreate, boundaries.CreateOwnerKey("order-1", 1)), Payment: id, Owner: owner,
		Account: payments.Account{ID: system.AccountID}, Path: "/v1/payment_intents", Version: stripeapi.APIVersion,
		Body: []byte("amount=1000&currency=usd&metadata[payonce_payment]=" + id.String()),
	})
	require.NoError(t, err)
	s.DB.AdvanceClock(t, s.Config.Timing.CommandDeadline+time.Second)

	_, err = s.App.Activities.Apply(t.Context(), id, activities.Learnt{Source: activities.SourceEngine, Unsent: true})
	require.NoError(t, err)
	require.Equal(t, payments.StatusSubmitted, s.Payment(id).Status)

	step, err := s.App.Activities.CreateIntent(t.Context(), workflows.Act{Version: 1, Payment: id, Owner: owner})
	require.NoError(t, err)
	require.Equal(t, payments.OperationConfirm, step.Next, "what was frozen in time goes on")
}
