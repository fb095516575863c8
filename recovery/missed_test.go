package recovery_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/internal/app"
	"payonce/internal/testkit/system"
	"payonce/internal/timing"
	"payonce/payments"
	"payonce/stripesim/control"
)

// No webhook ever arrives: the object itself is read, an hour later, after Stripe gave up delivering, and after its events cannot be fetched any more.
// An event that comes in the same second changes nothing.
func TestAPaymentThatNoEventToldOfIsRead(t *testing.T) {
	for name, later := range map[string]time.Duration{"an hour": time.Hour, "four days": 4 * 24 * time.Hour, "a month": 31 * 24 * time.Hour} {
		for _, told := range []bool{false, true} {
			if told {
				name += ", and an event in the same second"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := system.Start(t, func(c *app.Config) {
					c.Timing.PollAfter, c.Timing.PollMaximum = timing.Production().PollAfter, timing.Production().PollMaximum
				})
				s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDrop})
				open := s.Create("K1", system.With(system.Order("order-1", 1000), "payment_method", nil)).Payment(t)
				_, err := s.Twin.Pay(t.Context(), open.PaymentIntent, control.Pay{PaymentMethod: "pm_card_visa"})
				require.NoError(t, err)
				require.Equal(t, payments.StatusRequiresPaymentMethod, s.Payment(open.ID).Status)
				s.DB.AdvanceClock(t, later)
				if told {
					sent, err := s.Twin.Deliver(t.Context(), s.Event(open.PaymentIntent, "payment_intent.succeeded").ID, control.Deliver{Times: 2, Concurrent: true})
					require.NoError(t, err)
					require.Equal(t, http.StatusOK, sent.Answers[0].Status)
				}
				s.Eventually("the payment succeeds", func() bool { return s.Payment(open.ID).Status == payments.StatusSucceeded })
				s.Settle()
				if !told {
					require.Zero(t, s.Count(`SELECT count(*) FROM payonce.provider_events`))
				}
				require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.payment_facts WHERE payment = $1 AND fact = 'succeeded'`, open.ID.UUID))
				require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.ledger_journals WHERE payment = $1`, open.ID.UUID))
				require.Len(t, s.Receiver.Of(t, open.ID.String()), 1)
			})
		}
	}
}
