package activities_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

// A doubled create leaves two intents: one is bound, the other is kept away and canceled, whatever its cancel meets at first. Its event is settled only
// after the cancel, and an error that Stripe remembers under the cancel's key is gone past under another.
func TestASurplusIntentIsCanceled(t *testing.T) {
	for name, fault := range map[string]string{
		"at once": "", "though its cancel fails at first": control.FaultErrorBefore, "past a remembered error": control.FaultErrorBeforeStored,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := system.Start(t)
			payment := s.Create("K1", system.With(system.Order("order-1", 1000), "payment_method", nil)).Payment(t)
			if fault != "" {
				s.Fault(control.Rule{Match: control.Match{Method: http.MethodPost, Path: "/v1/payment_intents/*/cancel"}, Fault: fault, Times: 2})
			}
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
			require.Equal(t, payments.StatusRequiresPaymentMethod, s.Payment(payment.ID).Status)
		})
	}
}
