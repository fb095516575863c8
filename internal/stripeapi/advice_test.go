package stripeapi_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"payonce/internal/stripeapi"
)

// What Stripe says of sending again arrives with the error: Retry-After and Stripe-Should-Retry.
func TestAnErrorCarriesStripesAdvice(t *testing.T) {
	for header, want := range map[string]stripeapi.RetryAdvice{
		"true": stripeapi.RetryAdvised, "false": stripeapi.RetryUseless, "": stripeapi.RetryNoAdvice, "maybe": stripeapi.RetryNoAdvice,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Stripe-Should-Retry", header)
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write([]byte(`{"error":{"type":"api_error"}}`))
		}))
		client, err := stripeapi.New(server.URL, nil)
		require.NoError(t, err)
		_, err = client.Send(t.Context(), stripeapi.Credentials{SecretKey: "sk_test_merchant"}, stripeapi.Request{
			IdempotencyKey: uuid.New(), Path: "/v1/payment_intents", Version: stripeapi.APIVersion,
		})
		server.Close()
		var refusal *stripeapi.Error
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, want, refusal.Advice)
		require.Equal(t, 7*time.Second, refusal.RetryAfter)
	}
}
