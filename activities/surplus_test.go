package activities_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/internal/testkit/system"
	"payonce/stripesim/control"
)

// The cancel of a surplus intent fails at first: it is not forgotten, since its event is settled only after it.
func TestASurplusIntentIsCanceledAlsoWhenItsCancelFailsAtFirst(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	payment := s.Create("K1", system.With(system.Order("order-1", 1000), "payment_method", nil)).Payment(t)
	s.Fault(control.Rule{
		Match: control.Match{Method: http.MethodPost, Path: "/v1/payment_intents/*/cancel"}, Fault: control.FaultErrorBefore, Times: 2,
	})
	surplus := s.CreateAtStripe(system.OutsideKey+"doubled-create", s.Requests(http.MethodPost, "/v1/payment_intents")[0].Body)
	s.Eventually("the surplus intent is canceled", func() bool {
		for _, book := range s.Books(payment.ID) {
			if book.ID == surplus {
				return book.Canceled
			}
		}
		return false
	})
	s.Settle()
	require.Equal(t, payment.PaymentIntent, s.Payment(payment.ID).PaymentIntent)
}
