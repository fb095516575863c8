package activities_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"payonce/internal/tenants"
	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

// freezes sets a freeze of an operation, or of everything.
func freezes(t *testing.T, s *system.System, freeze tenants.Freeze) uuid.UUID {
	t.Helper()
	freeze.Reason, freeze.By = "looking into it", "an operator"
	id, err := tenants.SetFreeze(t.Context(), s.App.System, freeze)
	require.NoError(t, err)
	return id
}

func thaws(t *testing.T, s *system.System, freeze uuid.UUID) {
	t.Helper()
	require.NoError(t, tenants.LiftFreeze(t.Context(), s.App.System, freeze, "an operator"))
}

// What is frozen is taken and waits, and nothing of it reaches Stripe; all else goes on. Once it is thawed it is done once, and its caller hears so.
func TestWhatIsFrozenIsTakenAndWaits(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	paid := s.Create("K1", system.Order("order-1", 1000)).Payment(t)
	operation := payments.OperationRefund
	frozen := freezes(t, s, tenants.Freeze{Operation: &operation})
	body := map[string]any{"amount": 300, "reference": "item-1"}
	asked, err := s.Post(t.Context(), s.APIKey, "/v1/payments/"+paid.ID.String()+"/refunds", "R1", body, "wait=2")
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, asked.Status, "%s", asked.Body)
	require.Equal(t, payments.StatusSucceeded, s.Create("K2", system.Order("order-2", 1000)).Payment(t).Status, "all else goes on")
	require.Empty(t, s.Requests(http.MethodPost, "/v1/refunds"))
	listed, err := tenants.ListFreezes(t.Context(), s.App.System, false)
	require.NoError(t, err)
	require.Len(t, listed, 1)
	require.EqualValues(t, 1, listed[0].Waiting)

	thaws(t, s, frozen)
	s.Eventually("the refund is made", func() bool {
		answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments/"+paid.ID.String()+"/refunds", "R1", body, "wait=20")
		require.NoError(t, err)
		return answer.Status == http.StatusCreated
	})
	s.Settle()
	require.Len(t, s.Book(paid.ID).Refunds, 1)
	listed, err = tenants.ListFreezes(t.Context(), s.App.System, true)
	require.NoError(t, err)
	require.Equal(t, "an operator", *listed[0].LiftedBy)
}

// A freeze holds for whom it names: one tenant, one account, one operation, or all of what it names together.
func TestAFreezeHoldsForWhomItNames(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	other, _ := s.NewTenant("another")
	elsewhere, live := payments.Account{ID: "acct_elsewhere"}, payments.Account{ID: system.AccountID, Livemode: true}
	refund, confirm := payments.OperationRefund, payments.OperationConfirm
	here := payments.Account{ID: system.AccountID}
	for name, spared := range map[string]tenants.Freeze{
		"another tenant": {Tenant: &other}, "another account": {Account: &elsewhere}, "the other mode": {Account: &live},
		"another operation": {Operation: &refund}, "another tenant's confirms": {Tenant: &other, Operation: &confirm},
	} {
		freeze := freezes(t, s, spared)
		require.Equal(t, http.StatusCreated, s.Create(name, system.Order(name, 1000)).Status, name)
		thaws(t, s, freeze)
	}
	for name, met := range map[string]tenants.Freeze{
		"everything": {}, "the tenant": {Tenant: &s.Tenant}, "the account": {Account: &here}, "the confirms": {Operation: &confirm},
		"all three": {Tenant: &s.Tenant, Account: &here, Operation: &confirm},
	} {
		freeze := freezes(t, s, met)
		before := len(s.Requests(http.MethodPost, "/v1/payment_intents/*/confirm"))
		answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments", name, system.Order(name, 1000), "wait=1")
		require.NoError(t, err)
		require.Equal(t, http.StatusAccepted, answer.Status, "%s: %s", name, answer.Body)
		require.Len(t, s.Requests(http.MethodPost, "/v1/payment_intents/*/confirm"), before, name)
		thaws(t, s, freeze)
		s.Eventually("it is paid", func() bool { return s.Payment(answer.Payment(t).ID).Status == payments.StatusSucceeded })
	}
	s.Settle()
}

// What Stripe tells is applied while everything is frozen, and what was not sent in its time is not sent any more.
func TestWhatStripeTellsIsAppliedWhileEverythingIsFrozen(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	open := s.Create("K1", system.With(system.Order("order-1", 1000), "payment_method", nil)).Payment(t)
	frozen := freezes(t, s, tenants.Freeze{})
	_, err := s.Twin.Pay(t.Context(), open.PaymentIntent, control.Pay{PaymentMethod: "pm_card_visa"})
	require.NoError(t, err)
	s.Eventually("the payment is paid", func() bool { return s.Payment(open.ID).Status == payments.StatusSucceeded })
	late, err := s.Post(t.Context(), s.APIKey, "/v1/payments", "K2", system.Order("order-2", 1000), "wait=0")
	require.NoError(t, err)
	s.DB.AdvanceClock(t, s.Config.Timing.CommandDeadline+time.Second)
	s.Eventually("what was not sent is given up", func() bool { return s.Payment(late.Payment(t).ID).Status == payments.StatusExpired })
	require.Len(t, s.Requests(http.MethodPost, "/v1/payment_intents"), 1)
	thaws(t, s, frozen)
	s.Settle()
}

// A freeze has a name and a reason, and is of something that calls Stripe; one that is not set is not lifted.
func TestAFreezeThatMeansNothingIsRefused(t *testing.T) {
	t.Parallel()
	s := system.New(t)
	wallet := payments.OperationWallet
	for _, freeze := range []tenants.Freeze{
		{Reason: " ", By: "an operator"}, {Reason: "why", By: "\t"}, {Reason: "why", By: "an operator", Operation: &wallet},
	} {
		_, err := tenants.SetFreeze(t.Context(), s.App.System, freeze)
		require.Error(t, err)
	}
	require.ErrorIs(t, tenants.LiftFreeze(t.Context(), s.App.System, uuid.New(), "an operator"), tenants.ErrNotFound)
	id := freezes(t, s, tenants.Freeze{})
	thaws(t, s, id)
	require.ErrorIs(t, tenants.LiftFreeze(t.Context(), s.App.System, id, "an operator"), tenants.ErrNotFound)
}
