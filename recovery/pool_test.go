package recovery_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"payonce/internal/app"
	"payonce/internal/testkit/system"
	"payonce/payments"
)

// With two connections for everything, twenty orders at once, their refunds, webhooks and messages all end: nobody takes a second connection while he holds
// one.
func TestTwoConnectionsServeTwentyOrdersAtOnce(t *testing.T) {
	t.Parallel()
	const orders = 20
	s := system.Start(t, system.Unhurried, func(c *app.Config) { c.MaxConns = 2 })
	var all errgroup.Group
	for n := range orders {
		all.Go(func() error {
			paid, err := s.Post(t.Context(), s.APIKey, "/v1/payments", fmt.Sprint("K", n), system.Order(fmt.Sprint("order-", n), 1000), "wait=30")
			if err != nil || paid.Status != http.StatusCreated {
				return fmt.Errorf("order %d: %w, %d %s", n, err, paid.Status, paid.Body)
			}
			path := "/v1/payments/" + paid.Payment(t).ID.String() + "/refunds"
			back, err := s.Post(t.Context(), s.APIKey, path, fmt.Sprint("R", n), map[string]any{"amount": 100, "reference": "item-1"}, "wait=30")
			if err != nil || back.Status != http.StatusCreated {
				return fmt.Errorf("refund %d: %w, %d %s", n, err, back.Status, back.Body)
			}
			return nil
		})
	}
	require.NoError(t, all.Wait())
	s.Settle()
	require.Equal(t, orders, s.Count(`SELECT count(*) FROM payonce.payments WHERE status = $1 AND amount_refunded = 100`, payments.StatusSucceeded))
}

// While others hold every connection, a request is told to come back, and nothing of it is done; the same request is good afterwards.
func TestAFullPoolTellsTheCallerToComeBack(t *testing.T) {
	t.Parallel()
	s := system.Start(t, func(c *app.Config) { c.MaxConns, c.Timing.Statement, c.Timing.Lock = 2, time.Second, time.Second/2 })
	var held []*pgxpool.Conn
	for range 2 {
		conn, err := s.App.Tenant.Acquire(t.Context())
		require.NoError(t, err)
		held = append(held, conn)
	}
	for method, path := range map[string]string{http.MethodPost: "/v1/payments", http.MethodGet: "/v1/payments"} {
		request, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(`{"reference":"order-1","amount":1000,"currency":"usd"}`))
		require.NoError(t, err)
		request.Header.Set("Authorization", "Bearer "+s.APIKey)
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Idempotency-Key", "K1")
		answer, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, http.StatusServiceUnavailable, answer.StatusCode, method)
		require.NotEmpty(t, answer.Header.Get("Retry-After"))
	}
	require.Zero(t, s.Count(`SELECT count(*) FROM payonce.payments`))
	for _, conn := range held {
		conn.Release()
	}
	require.Equal(t, payments.StatusSucceeded, s.Create("K1", system.Order("order-1", 1000)).Payment(t).Status)
	s.Settle()
}
