package webhooks_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/internal/app"
	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

// rendered is the object of an event as another API version writes it.
func rendered(t *testing.T, object json.RawMessage, change func(map[string]any)) json.RawMessage {
	t.Helper()
	var members map[string]any
	require.NoError(t, json.Unmarshal(object, &members))
	change(members)
	changed, err := json.Marshal(members)
	require.NoError(t, err)
	return changed
}

// After an upgrade in the dashboard every event comes in another rendering: each is still the one thing that tells of its payment, and is applied.
func TestAnEventOfAnotherAPIVersionIsApplied(t *testing.T) {
	t.Parallel()
	s := system.Start(t, func(c *app.Config) { c.Timing.PollAfter, c.Timing.PollMaximum = 24*time.Hour, 48*time.Hour })
	s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDrop})
	same := func(map[string]any) {}
	async := func(object map[string]any) { object["capture_method"] = "automatic_async" }
	for version, change := range map[string]func(map[string]any){
		"2023-10-16": same, "2022-11-15": same, "2024-04-10": async,
		"2025-04-30.basil": func(object map[string]any) {
			async(object)
			object["excluded_payment_method_types"] = []string{}
			delete(object, "invoice")
		},
	} {
		payment := paidAtStripe(t, s, version)
		event := s.Event(payment.PaymentIntent, "payment_intent.succeeded")
		emit(t, s, control.Emit{
			ID: event.ID + "_" + version, Type: event.Type, Account: system.AccountID, APIVersion: version, Object: rendered(t, event.Object, change),
		})
		requirePaidByEvent(t, s, payment, version)
	}
}

// In old renderings `request` is a string: the event is read all the same.
func TestAnEventWhoseRequestIsAStringIsApplied(t *testing.T) {
	t.Parallel()
	s := system.Start(t, func(c *app.Config) { c.Timing.PollAfter, c.Timing.PollMaximum = 24*time.Hour, 48*time.Hour })
	s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDrop})
	payment := paidAtStripe(t, s, "old")
	object := s.Event(payment.PaymentIntent, "payment_intent.succeeded").Object
	emit(t, s, control.Emit{Account: system.AccountID, Raw: fmt.Sprintf(`{"id":"evt_old","object":"event","api_version":"2015-04-07",`+
		`"created":1700000000,"livemode":false,"type":"payment_intent.succeeded","pending_webhooks":1,"request":"req_1","data":{"object":%s}}`, object)})
	requirePaidByEvent(t, s, payment, "2015-04-07")

	// A charge of those days names no intent: it is kept where it is seen, and stands in nobody's way.
	emit(t, s, control.Emit{Account: system.AccountID, Raw: `{"id":"evt_older","object":"event","api_version":"2015-04-07","created":1700000000,` +
		`"livemode":false,"type":"charge.succeeded","request":"req_1","data":{"object":{"id":"ch_1","object":"charge","amount":1000}}}`})
	judged(s)
	status, reason := verdict(t, s, "evt_older")
	require.Equal(t, "ignored", status)
	require.NotEmpty(t, reason)
}

// paidAtStripe is a payment that was paid without our knowing.
func paidAtStripe(t *testing.T, s *system.System, reference string) payments.View {
	t.Helper()
	payment := s.Create("K "+reference, system.With(system.Order("order "+reference, 1000), "payment_method", nil)).Payment(t)
	_, err := s.Twin.Pay(t.Context(), payment.PaymentIntent, control.Pay{PaymentMethod: "pm_card_visa"})
	require.NoError(t, err)
	require.Equal(t, payments.StatusRequiresPaymentMethod, s.Payment(payment.ID).Status)
	return payment
}

// requirePaidByEvent requires that an event told of the payment, and that its money is booked.
func requirePaidByEvent(t *testing.T, s *system.System, payment payments.View, what string) {
	t.Helper()
	judged(s)
	require.Equal(t, payments.StatusSucceeded, s.Payment(payment.ID).Status, what)
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.payment_facts
		WHERE payment = $1 AND fact = 'succeeded' AND source = 'event'`, payment.ID.UUID), what)
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.ledger_journals WHERE payment = $1`, payment.ID.UUID), what)
}
