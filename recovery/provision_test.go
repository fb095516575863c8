package recovery_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

// The worker dies after Stripe made the customer and before that is known here: the next one asks with the same key and bytes, and one is made.
func TestAWorkerKilledAfterACustomerWasMadeIsFollowedByTheSame(t *testing.T) {
	t.Parallel()
	s := system.New(t)
	s.StartAPI()
	hold, err := s.Twin.Hold(t.Context(), control.Hold{Method: http.MethodPost, Path: "/v1/customers", Point: control.AfterEffect})
	require.NoError(t, err)
	worker := s.WorkerProcess()
	ask := func(prefer string) system.Answer {
		answer, err := s.Post(t.Context(), s.APIKey, "/v1/customers", "C1", map[string]any{"owner": "owner-1"}, prefer)
		require.NoError(t, err)
		return answer
	}
	require.Equal(t, http.StatusAccepted, ask("wait=0").Status)
	_, err = s.Twin.Held(t.Context(), 1)
	require.NoError(t, err)
	worker.Kill()
	require.NoError(t, s.Twin.Release(t.Context(), hold.ID))
	s.WorkerProcess()
	var made payments.ProvisionView
	s.Eventually("it is linked", func() bool {
		answer := ask("wait=20")
		return answer.Status == http.StatusCreated && json.Unmarshal(answer.Body, &made) == nil
	})
	atStripe, err := s.Twin.AllCustomers(t.Context(), system.AccountID)
	require.NoError(t, err)
	require.Len(t, atStripe, 1)
	require.Equal(t, made.Customer, atStripe[0].ID)
	sends := s.Requests(http.MethodPost, "/v1/customers")
	require.Greater(t, len(sends), 1)
	for _, send := range sends {
		require.Equal(t, sends[0].IdempotencyKey, send.IdempotencyKey)
		require.Equal(t, sends[0].Body, send.Body)
	}
}

// Temporal is away when a provision is claimed: it is accepted, and the relay wakes its workflow later.
func TestAProvisionThatNobodyWokeIsTheRelaysToWake(t *testing.T) {
	t.Parallel()
	s := system.New(t)
	temporal := s.Config.TemporalAddress
	s.Config.TemporalAddress = nowhere
	s.App = s.Open()
	s.StartAPI()
	answer, err := s.Post(t.Context(), s.APIKey, "/v1/connected_accounts", "A1",
		map[string]any{"owner": "owner-1", "currency": "usd", "country": "US"}, "wait=0")
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, answer.Status, "%s", answer.Body)
	s.Config.TemporalAddress = temporal
	s.WorkerProcess()
	s.Eventually("it is linked", func() bool { return s.Count(`SELECT count(*) FROM payonce.provisions WHERE status = 'linked'`) == 1 })
}
