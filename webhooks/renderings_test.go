package webhooks_test

import (
	"testing"
	"time"

	"payonce/internal/app"
	"payonce/internal/testkit/system"
	"payonce/stripesim/control"
)

// Before 2022-11-15 an intent had no latest_charge but a list of charges: what such an event does not say is read, and the money of each payment is
// booked for itself.
func TestEventsThatNameNoChargeAreBookedForThemselves(t *testing.T) {
	t.Parallel()
	s := system.Start(t, func(c *app.Config) { c.Timing.PollAfter, c.Timing.PollMaximum = 24*time.Hour, 48*time.Hour })
	s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDrop})
	for _, reference := range []string{"1", "2"} {
		payment := paidAtStripe(t, s, reference)
		event := s.Event(payment.PaymentIntent, "payment_intent.succeeded")
		emit(t, s, control.Emit{
			ID: event.ID + "_old", Type: event.Type, Account: system.AccountID, APIVersion: "2022-08-01",
			Object: rendered(t, event.Object, func(object map[string]any) {
				object["charges"] = map[string]any{"object": "list", "data": []any{map[string]any{"id": object["latest_charge"], "object": "charge"}}}
				delete(object, "latest_charge")
			}),
		})
		requirePaidByEvent(t, s, payment, reference)
	}
}
