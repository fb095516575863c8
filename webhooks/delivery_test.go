package webhooks_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

// A delivery that could not be stored is not acknowledged, and counts as new when it comes again.
func TestADeliveryThatFailedIsAppliedWhenItComesAgain(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	declined := s.Create("K1", system.With(system.Order("order-1", 1000), "payment_method", "pm_card_chargeDeclined")).Payment(t)
	s.Settle()
	s.Exec(`REVOKE INSERT ON payonce.provider_events FROM payonce_system`)
	_, err := s.Twin.Pay(t.Context(), declined.PaymentIntent, control.Pay{PaymentMethod: "pm_card_visa"})
	require.NoError(t, err)
	s.Eventually("a delivery is refused", func() bool {
		deliveries := s.Event(declined.PaymentIntent, "payment_intent.succeeded").Deliveries
		return len(deliveries) > 0 && len(deliveries[0].Tries) > 0 && deliveries[0].Tries[0].Status >= 500
	})
	s.Exec(`GRANT INSERT ON payonce.provider_events TO payonce_system`)
	s.Settle()
	require.Equal(t, payments.StatusSucceeded, s.Payment(declined.ID).Status)
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.ledger_journals`))
}

// A stored event whose application fails is applied later, once: seen is not applied.
func TestAnEventThatCouldNotBeAppliedIsAppliedLater(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	declined := s.Create("K1", system.With(system.Order("order-1", 1000), "payment_method", "pm_card_chargeDeclined")).Payment(t)
	s.Settle()
	s.Exec(`CREATE FUNCTION public.fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'out of order'; END $$`)
	s.Exec(`CREATE TRIGGER fail BEFORE INSERT ON payonce.ledger_journals FOR EACH ROW EXECUTE FUNCTION public.fail()`)
	_, err := s.Twin.Pay(t.Context(), declined.PaymentIntent, control.Pay{PaymentMethod: "pm_card_visa"})
	require.NoError(t, err)
	event := s.Event(declined.PaymentIntent, "payment_intent.succeeded")
	s.Eventually("applying was tried", func() bool {
		return s.Count(`SELECT count(*) FROM payonce.provider_events WHERE event_id = $1 AND tries > 1`, event.ID) == 1
	})
	sent, err := s.Twin.Deliver(t.Context(), event.ID, control.Deliver{Times: 2})
	require.NoError(t, err)
	for _, answer := range sent.Answers {
		require.Equal(t, http.StatusOK, answer.Status)
	}
	s.Exec(`DROP TRIGGER fail ON payonce.ledger_journals`)
	s.Settle()
	require.Equal(t, payments.StatusSucceeded, s.Payment(declined.ID).Status)
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.ledger_journals`))
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.notifications WHERE kind = 'payment.succeeded'`))
}

// One fact told twenty times, one after the other and at once, has one effect.
func TestAnEventDeliveredManyTimesActsOnce(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	payment := s.Create("K1", system.Order("order-1", 1000)).Payment(t)
	s.Settle()
	event := s.Event(payment.PaymentIntent, "payment_intent.succeeded")
	for _, concurrent := range []bool{false, true} {
		sent, err := s.Twin.Deliver(t.Context(), event.ID, control.Deliver{Times: 10, Concurrent: concurrent})
		require.NoError(t, err)
		for _, answer := range sent.Answers {
			require.Equal(t, http.StatusOK, answer.Status)
		}
	}
	s.Settle()
	require.Equal(t, 21*s.Times, s.Count(`SELECT deliveries FROM payonce.provider_events WHERE event_id = $1`, event.ID))
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.ledger_journals`))
	require.Len(t, s.Receiver.Of(t, payment.ID.String()), 1)
}
