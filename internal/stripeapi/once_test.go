package stripeapi_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"payonce/internal/stripeapi"
	"payonce/payments"
)

// A kept connection breaks after Stripe has read a request and before it has answered: net/http would send a request that carries an Idempotency-Key
// again, and what was noted as one send would be two.
func TestACallIsOnceOnTheWireWhenItsConnectionBreaks(t *testing.T) {
	t.Parallel()
	var read atomic.Int64
	stripe := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if read.Add(1) == 1 {
			_, _ = io.WriteString(w, `{"id":"pi_1","object":"payment_intent","status":"requires_confirmation"}`)
			return
		}
		connection, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		if tcp, isTCP := connection.(*net.TCPConn); isTCP {
			_ = tcp.SetLinger(0)
		}
		_ = connection.Close()
	}))
	defer stripe.Close()
	client, err := stripeapi.New(stripe.URL, nil)
	require.NoError(t, err)
	send := func() error {
		_, err := client.Send(t.Context(), stripeapi.Credentials{SecretKey: "sk_test_shop", Account: payments.Account{ID: "acct_shop"}}, stripeapi.Request{
			IdempotencyKey: uuid.New(), Path: "/v1/payment_intents", Body: []byte("amount=1000"), Version: stripeapi.APIVersion,
		})
		return err
	}
	require.NoError(t, send())
	require.Error(t, send())
	require.EqualValues(t, 2, read.Load())
}
