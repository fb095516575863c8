package webhooks_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"payonce/internal/app"
	"payonce/internal/tenants"
	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

// One event comes twenty-two times within three days, and everything is started anew in between: it is booked and told once.
func TestAnEventRepeatedForDaysOverRestartsActsOnce(t *testing.T) {
	t.Parallel()
	const deliveries, perProcess = 22, 8
	s := system.New(t, func(c *app.Config) { c.Timing.PollAfter, c.Timing.PollMaximum = 24*time.Hour, 48*time.Hour })
	s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDrop})
	var payment payments.View
	end := func() {}
	for delivery := range deliveries {
		if delivery%perProcess == 0 {
			end()
			s.App = s.Open()
			stopAPI, stopWorker := s.StartAPI(), s.StartWorker()
			end = func() {
				stopAPI()
				stopWorker()
				require.NoError(t, s.Twin.DeleteEndpoint(t.Context(), "we_payonce"))
			}
		}
		if delivery == 0 {
			payment = paidAtStripe(t, s, "order-1")
		}
		sent, err := s.Twin.Deliver(t.Context(), s.Event(payment.PaymentIntent, "payment_intent.succeeded").ID, control.Deliver{})
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, sent.Answers[0].Status)
		judged(s)
		s.DB.AdvanceClock(t, 3*24*time.Hour/deliveries)
	}
	s.Settle()
	requirePaidByEvent(t, s, payment, "at the end")
	require.Equal(t, deliveries*s.Times, s.Count(`SELECT deliveries FROM payonce.provider_events WHERE type = 'payment_intent.succeeded'`))
	require.Len(t, s.Receiver.Of(t, payment.ID.String()), 1)
}

// One charge is told by two events, each through two endpoints with secrets of their own, all at the same instant and a hundred times over: each is
// booked once, by whichever of two workers, and no change of the payment is lost.
func TestTwoEventsOfOneChargeAtTheSameInstantAreOneEffect(t *testing.T) {
	t.Parallel()
	const rounds, second = 100, "whsec_second_endpoint"
	s := system.New(t, func(c *app.Config) { c.Timing.PollAfter, c.Timing.PollMaximum = 24*time.Hour, 48*time.Hour })
	s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDrop})
	account := payments.Account{ID: system.AccountID}
	secrets := []string{system.WebhookSecret, second}
	require.NoError(t, tenants.ReplaceAccountSecrets(t.Context(), s.App.System, s.App.Sealer, account, system.SecretKey, secrets))
	s.StartAPI()
	for range 2 {
		s.App = s.Open()
		s.StartWorker()
	}
	_, err := s.Twin.AddEndpoint(t.Context(), control.Endpoint{
		ID: "we_second", URL: s.Door + "?second", Secret: second, Account: system.AccountID,
	})
	require.NoError(t, err)
	var telling errgroup.Group
	telling.SetLimit(8)
	for round := range rounds {
		telling.Go(func() error {
			body := system.With(system.Order(fmt.Sprint("order-", round), 1000), "payment_method", nil)
			answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments", fmt.Sprint("K", round), body, "wait=30")
			if err != nil || answer.Status != http.StatusCreated {
				return fmt.Errorf("create: %w, %d %s", err, answer.Status, answer.Body)
			}
			return tellBoth(t, s, answer.Payment(t).PaymentIntent)
		})
	}
	require.NoError(t, telling.Wait())
	judged(s)
	require.Equal(t, 2*rounds, s.Count(`SELECT count(*) FROM payonce.provider_events WHERE deliveries = $1 AND status IN ('applied', 'stale')`, 2*s.Times))
	require.Equal(t, rounds, s.Count(`SELECT count(*) FROM payonce.payments
		WHERE status = 'succeeded' AND stage = 'ledger_applied' AND amount_captured = 1000 AND last_message = 1`))
	require.Equal(t, rounds, s.Count(`SELECT count(*) FROM payonce.ledger_journals`))
	require.Equal(t, rounds, s.Count(`SELECT count(*) FROM payonce.notifications`))
	require.Equal(t, rounds, s.Count(`SELECT count(*) FROM payonce.payment_facts WHERE fact = 'succeeded'`))
}

// tellBoth pays an intent and delivers both events of its charge at once, to every endpoint.
func tellBoth(t *testing.T, s *system.System, intent string) error {
	t.Helper()
	if _, err := s.Twin.Pay(t.Context(), intent, control.Pay{PaymentMethod: "pm_card_visa"}); err != nil {
		return err
	}
	var both errgroup.Group
	for _, kind := range []string{"charge.succeeded", "payment_intent.succeeded"} {
		both.Go(func() error {
			events, err := s.Twin.Events(t.Context(), control.EventsQuery{PaymentIntent: intent, Type: kind})
			if err != nil || len(events) != 1 {
				return fmt.Errorf("find %s: %w, %d found", kind, err, len(events))
			}
			sent, err := s.Twin.Deliver(t.Context(), events[0].ID, control.Deliver{Concurrent: true})
			if err != nil {
				return err
			}
			for _, answer := range sent.Answers {
				if answer.Status != http.StatusOK {
					return fmt.Errorf("deliver %s to %s: %d %s", kind, answer.Endpoint, answer.Status, answer.Error)
				}
			}
			return nil
		})
	}
	return both.Wait()
}

// Stripe is slow to be read, or reads nothing for now, while its event comes again: each delivery is acknowledged meanwhile, and there is one effect.
func TestAnEventIsAcknowledgedWhileItsReadIsSlow(t *testing.T) {
	t.Parallel()
	s := system.Start(t, func(c *app.Config) {
		c.Timing.PollAfter, c.Timing.PollMaximum = 24*time.Hour, 48*time.Hour
		c.Timing.Send, c.Timing.Try, c.Timing.Lease, c.Timing.EventLease = 40*time.Second, 50*time.Second, 60*time.Second, 60*time.Second
	})
	s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDrop})
	for _, reference := range []string{"slow", "limited"} {
		payment := paidAtStripe(t, s, reference)
		event := s.Event(payment.PaymentIntent, "charge.succeeded")
		deliver := func(times int) {
			sent, err := s.Twin.Deliver(t.Context(), event.ID, control.Deliver{Times: times, Concurrent: true})
			require.NoError(t, err)
			for _, answer := range sent.Answers {
				require.Equal(t, http.StatusOK, answer.Status, "%s: %s", reference, answer.Error)
			}
		}
		release := func() {}
		if reference == "slow" {
			hold, err := s.Twin.Hold(t.Context(), control.Hold{Method: http.MethodGet, Path: "/v1/payment_intents/*", Point: control.AfterEffect})
			require.NoError(t, err)
			release = func() { require.NoError(t, s.Twin.Release(t.Context(), hold.ID)) }
			deliver(1)
			_, err = s.Twin.Held(t.Context(), 1)
			require.NoError(t, err)
		} else {
			read := control.Match{Method: http.MethodGet, Path: "/v1/payment_intents/*"}
			s.Fault(control.Rule{Match: read, Fault: control.FaultRateLimited, RetryAfterS: 1, Times: 3})
			deliver(1)
		}
		deliver(3)
		release()
		s.Eventually("the payment succeeds", func() bool { return s.Payment(payment.ID).Status == payments.StatusSucceeded })
		judged(s)
		requirePaidByEvent(t, s, payment, reference)
		require.Equal(t, 4*s.Times, s.Count(`SELECT deliveries FROM payonce.provider_events WHERE event_id = $1`, event.ID))
	}
}
