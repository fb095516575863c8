package recovery_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/internal/testkit/system"
	"payonce/stripesim/control"
)

// The caller's connection breaks after the command was accepted, and the same request goes to another replica of the API while the first still
// attends it: one command, and every replica gives the same answer.
func TestARetryAtAnotherReplicaIsTheSameCommand(t *testing.T) {
	t.Parallel()
	s := system.New(t)
	s.ServeProcess()
	hold, err := s.Twin.Hold(t.Context(), control.Hold{Method: http.MethodPost, Path: "/v1/payment_intents/*/confirm", Point: control.BeforeEffect})
	require.NoError(t, err)
	ctx, breaks := context.WithCancel(t.Context())
	posted := make(chan error, 1)
	go func() {
		_, err := s.Post(ctx, s.APIKey, "/v1/payments", "K1", system.Order("order-1", 1000), "wait=30")
		posted <- err
	}()
	s.StartWorker()
	_, err = s.Twin.Held(t.Context(), 1)
	require.NoError(t, err)
	breaks()
	require.ErrorIs(t, <-posted, context.Canceled)
	first := s.URL

	s.URL = "" // another replica, elsewhere
	s.App = s.Open()
	s.StartAPI()
	require.NotEqual(t, first, s.URL)
	early, err := s.Post(t.Context(), s.APIKey, "/v1/payments", "K1", system.Order("order-1", 1000), "wait=0")
	require.NoError(t, err)
	require.Contains(t, []int{http.StatusAccepted, http.StatusConflict}, early.Status, "%s", early.Body)
	require.NotEmpty(t, early.Header.Get("Location"))
	require.NoError(t, s.Twin.Release(t.Context(), hold.ID))
	var answer system.Answer
	s.Eventually("the retry has its outcome", func() bool {
		answer = s.Create("K1", system.Order("order-1", 1000))
		return answer.Status == http.StatusCreated
	})
	require.Equal(t, early.Header.Get("Location"), answer.Header.Get("Location"))
	s.Settle()
	requireOnce(t, s, answer.Payment(t).ID)
	s.URL = first
	replay := s.Create("K1", system.Order("order-1", 1000))
	require.True(t, replay.Replayed())
	require.Equal(t, answer.Body, replay.Body)
}
