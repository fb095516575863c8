package api_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

// A refusal is an outcome: whoever asks again, at once or an hour later, is told the same and not to wait, and Stripe is not asked again.
func TestARefusalIsTheSameRefusalEveryTime(t *testing.T) {
	for name, refusal := range map[string]struct {
		amount int64
		status int
		code   string
	}{
		"below the minimum, which we know": {49, http.StatusBadRequest, "field_invalid"},
		"by Stripe":                        {1000, http.StatusPaymentRequired, "provider_refused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := system.Start(t)
			s.Fault(control.Rule{Match: control.Match{Method: http.MethodPost, Path: "/v1/payment_intents"}, Fault: control.FaultRefused})
			first := s.Create("K", system.Order("order-1", refusal.amount))
			require.Equal(t, refusal.status, first.Status, "%s", first.Body)
			require.Equal(t, refusal.code, first.Problem(t).Code)
			asked := len(s.Requests(http.MethodPost, "/v1/*"))
			for _, later := range []time.Duration{0, time.Hour} {
				s.DB.AdvanceClock(t, later)
				again := s.Create("K", system.Order("order-1", refusal.amount))
				require.Equal(t, first.Status, again.Status, "%s", again.Body)
				require.Equal(t, string(first.Body), string(again.Body))
			}
			require.Len(t, s.Requests(http.MethodPost, "/v1/*"), asked)
			require.Zero(t, s.Count(`SELECT count(*) FROM payonce.idempotency_records WHERE status NOT IN ('completed')`))
			require.Zero(t, s.Count(`SELECT count(*) FROM payonce.payments WHERE status <> $1`, payments.StatusFailed))
		})
	}
}
