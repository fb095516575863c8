package webhooks_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/internal/app"
	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

// A delivery that failed has left nothing behind: when the event comes again it is new, and it is the event that is applied. Nobody polls here, so
// nothing else could have told.
func TestAnEventWhoseFirstDeliveryFailedIsNewWhenItComesAgain(t *testing.T) {
	t.Parallel()
	s := system.Start(t, func(c *app.Config) { c.Timing.PollAfter, c.Timing.PollMaximum = 24*time.Hour, 48*time.Hour })
	declined := s.Create("K1", system.With(system.Order("order-1", 1000), "payment_method", "pm_card_chargeDeclined")).Payment(t)
	s.Settle()
	s.Fault(control.Rule{Match: control.Match{EventType: "charge.*"}, Fault: control.FaultDrop})
	s.Exec(`REVOKE INSERT ON payonce.provider_events FROM payonce_system`)
	_, err := s.Twin.Pay(t.Context(), declined.PaymentIntent, control.Pay{PaymentMethod: "pm_card_visa"})
	require.NoError(t, err)
	event := s.Event(declined.PaymentIntent, "payment_intent.succeeded")
	sent, err := s.Twin.Deliver(t.Context(), event.ID, control.Deliver{})
	require.NoError(t, err)
	require.GreaterOrEqual(t, sent.Answers[0].Status, 500)
	require.Zero(t, s.Count(`SELECT count(*) FROM payonce.provider_events WHERE event_id = $1`, event.ID))
	require.Equal(t, payments.StatusRequiresPaymentMethod, s.Payment(declined.ID).Status)
	s.Exec(`GRANT INSERT ON payonce.provider_events TO payonce_system`)
	for range 2 {
		sent, err = s.Twin.Deliver(t.Context(), event.ID, control.Deliver{})
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, sent.Answers[0].Status)
	}
	s.Eventually("the payment succeeds", func() bool { return s.Payment(declined.ID).Status == payments.StatusSucceeded })
	s.Settle()
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.provider_events WHERE event_id = $1 AND status = 'applied'`, event.ID))
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.payment_facts WHERE fact = 'succeeded' AND source = 'event'`))
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.ledger_journals`))
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.notifications WHERE kind = 'payment.succeeded'`))
}
