package api_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/internal/tenants"
	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

// A dispute is read with what it holds, what it lost and what Stripe kept for it: opened is not lost, and another tenant's is absent.
func TestADisputeIsReadWithItsMoneyAndItsFees(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	payment := s.Create("K1", system.Order("order-1", 1000)).Payment(t)
	list := func() []payments.DisputeView {
		var listed struct{ Data []payments.DisputeView }
		require.NoError(t, json.Unmarshal(s.Get("/v1/payments/"+payment.ID.String()+"/disputes").Body, &listed))
		return listed.Data
	}
	require.Empty(t, list())
	opened, err := s.Twin.OpenDispute(t.Context(), payment.PaymentIntent, control.OpenDispute{Amount: 600, Reason: "product_not_received"})
	require.NoError(t, err)
	s.Eventually("it is known", func() bool { return len(list()) == 1 })
	held := list()[0]
	require.Equal(t, payments.DisputeNeedsResponse, held.Status)
	require.Equal(t, "product_not_received", held.Reason)
	require.Equal(t, opened.ID, held.Dispute)
	require.NotNil(t, held.DueBy)
	require.Equal(t, [5]int64{600, 600, 0, 600, 0}, [5]int64{held.Amount, held.Withdrawn, held.Reinstated, held.Held, held.Lost})
	require.Equal(t, []payments.Money{{Amount: 1500, Currency: "usd"}}, held.Fees)

	_, err = s.Twin.CloseDispute(t.Context(), opened.ID, control.CloseDispute{Status: "lost"})
	require.NoError(t, err)
	path := "/v1/disputes/" + held.ID.String()
	read := func() (lost payments.DisputeView) {
		require.NoError(t, json.Unmarshal(s.Get(path).Body, &lost))
		return lost
	}
	s.Eventually("it is lost", func() bool { return read().Status == payments.DisputeLost })
	lost := read()
	require.Equal(t, [2]int64{0, 600}, [2]int64{lost.Held, lost.Lost})
	require.Equal(t, held.Fees, lost.Fees)

	other, err := tenants.CreateTenant(t.Context(), s.App.System, "another", payments.Account{ID: system.AccountID})
	require.NoError(t, err)
	key, err := tenants.CreateAPIKey(t.Context(), s.App.System, other, tenants.ScopeRead)
	require.NoError(t, err)
	for path, code := range map[string]string{path: "dispute_not_found", "/v1/payments/" + payment.ID.String() + "/disputes": "payment_not_found"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
		require.NoError(t, err)
		request.Header.Set("Authorization", "Bearer "+key)
		answer, err := s.HTTP.Do(request)
		require.NoError(t, err)
		var problem payments.Problem
		require.NoError(t, json.NewDecoder(answer.Body).Decode(&problem))
		require.NoError(t, answer.Body.Close())
		require.Equal(t, code, problem.Code)
	}
}
