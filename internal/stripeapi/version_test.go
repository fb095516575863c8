package stripeapi_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"payonce/internal/stripeapi"
)

// A request that was frozen before a deploy goes out with the API version that it was frozen with, and with no other.
func TestAFrozenRequestKeepsItsAPIVersion(t *testing.T) {
	sent := make(chan []string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent <- r.Header.Values("Stripe-Version")
		_, _ = w.Write([]byte(`{"id":"pi_1","object":"payment_intent"}`))
	}))
	defer server.Close()
	client, err := stripeapi.New(server.URL, nil)
	require.NoError(t, err)
	_, err = client.Send(t.Context(), stripeapi.Credentials{SecretKey: "sk_test_merchant"}, stripeapi.Request{
		IdempotencyKey: uuid.New(), Path: "/v1/payment_intents", Body: []byte("amount=1"), Version: "2022-11-15",
	})
	require.NoError(t, err)
	require.Equal(t, []string{"2022-11-15"}, <-sent)
}
