package activities_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/internal/tenants"
	"payonce/internal/testkit/system"
	"payonce/payments"
)

// A payment of an account that is connected to a platform is made with the platform's key in the name of that account, and its events come by the
// platform's endpoint. Nothing of it happens at the platform itself.
func TestAConnectedAccountIsActedForByItsPlatform(t *testing.T) {
	t.Parallel()
	s := system.New(t)
	seller := payments.Account{ID: "acct_seller"}
	require.NoError(t, tenants.ConnectAccount(t.Context(), s.App.System, s.App.Sealer, seller, system.AccountID, nil))
	tenant, err := tenants.CreateTenant(t.Context(), s.App.System, "seller", seller)
	require.NoError(t, err)
	key, err := tenants.CreateAPIKey(t.Context(), s.App.System, tenant, tenants.ScopeRead, tenants.ScopeWrite)
	require.NoError(t, err)
	s.StartAPI()
	s.StartWorker()
	endpoints, err := s.Twin.Endpoints(t.Context())
	require.NoError(t, err)
	for _, endpoint := range endpoints {
		require.NoError(t, s.Twin.DeleteEndpoint(t.Context(), endpoint.ID))
		endpoint.Connect = true
		_, err := s.Twin.AddEndpoint(t.Context(), endpoint)
		require.NoError(t, err)
	}

	answer, err := s.Post(t.Context(), key, "/v1/payments", "K", system.Order("order-1", 1000), "wait=20")
	require.NoError(t, err)
	paid := answer.Payment(t)
	require.Equal(t, payments.StatusSucceeded, paid.Status)
	back, err := s.Post(t.Context(), key, "/v1/payments/"+paid.ID.String()+"/refunds", "R", map[string]any{"amount": 400, "reference": "item-1"}, "wait=20")
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, back.Status, "%s", back.Body)

	require.Equal(t, seller.ID, s.Book(paid.ID).Account)
	sent := s.Requests(http.MethodPost, "/v1/*")
	require.NotEmpty(t, sent)
	for _, request := range sent {
		require.Equal(t, seller.ID, request.Account, request.Path)
	}
	s.Eventually("its events are applied", func() bool {
		return s.Count(`SELECT count(*) FROM payonce.provider_events WHERE account = 'acct_seller' AND status IN ('applied', 'stale')`) > 1
	})
	s.Settle()
	require.Zero(t, s.Count(`SELECT count(*) FROM payonce.provider_events WHERE account <> 'acct_seller'`))
	require.Equal(t, map[string]int64{"stripe:receivable": 600, "merchant:balance": -600}, s.Positions(paid.ID))
}
