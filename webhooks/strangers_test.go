package webhooks_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"payonce/internal/app"
	"payonce/internal/tenants"
	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

// emit sends a hand-made event and requires that it is acknowledged.
func emit(t *testing.T, s *system.System, event control.Emit) string {
	t.Helper()
	sent, err := s.Twin.Emit(t.Context(), event)
	require.NoError(t, err)
	require.Len(t, sent.Answers, 1)
	require.Equal(t, http.StatusOK, sent.Answers[0].Status)
	return sent.Event
}

// judged waits until nothing is waiting to be judged.
func judged(s *system.System) {
	s.Eventually("every event is judged", func() bool {
		return s.Count(`SELECT count(*) FROM payonce.provider_events WHERE status = 'stored'`) == 0
	})
}

// verdict is what has become of the events of an id.
func verdict(t *testing.T, s *system.System, event string) (status, reason string) {
	t.Helper()
	require.NoError(t, s.Owner.QueryRow(t.Context(),
		`SELECT status, coalesce(reason, '') FROM payonce.provider_events WHERE event_id = $1`, event).Scan(&status, &reason))
	return status, reason
}

// What other systems do in the same account is acknowledged and left alone; an event that may still become ours waits, and is told apart from them.
func TestEventsOfOtherSystemsAreAcknowledgedAndLeftAlone(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	theirs := s.CreateAtStripe(system.OutsideKey+"1", "amount=500&currency=usd")
	unknown := s.CreateAtStripe(system.OutsideKey+"2", "amount=500&currency=usd&metadata["+payments.MetadataPayment+"]="+uuid.NewString())
	for _, intent := range []string{theirs, unknown} {
		_, err := s.Twin.Pay(t.Context(), intent, control.Pay{PaymentMethod: "pm_card_visa"})
		require.NoError(t, err)
	}
	customer := emit(t, s, control.Emit{Type: "customer.created", Account: system.AccountID, Object: json.RawMessage(`{"id":"cus_1","object":"customer"}`)})
	_, err := s.Twin.Flush(t.Context(), false)
	require.NoError(t, err)
	judged(s)

	for _, kind := range []string{"payment_intent.created", "charge.succeeded", "payment_intent.succeeded"} {
		for _, intent := range []string{theirs, unknown} {
			event := s.Event(intent, kind)
			require.Len(t, event.Deliveries[0].Tries, 1, "it does not come again")
			require.Equal(t, http.StatusOK, event.Deliveries[0].Tries[0].Status)
		}
		status, reason := verdict(t, s, s.Event(theirs, kind).ID)
		require.Equal(t, "foreign", status, kind)
		require.NotEmpty(t, reason)
		status, _ = verdict(t, s, s.Event(unknown, kind).ID)
		require.Equal(t, "parked", status, kind)
	}
	status, reason := verdict(t, s, customer)
	require.Equal(t, "ignored", status)
	require.Equal(t, "type_not_consumed", reason)

	s.DB.AdvanceClock(t, s.Config.Timing.ParkedMaximum+time.Minute)
	s.Eventually("the parked ones are given up", func() bool {
		return s.Count(`SELECT count(*) FROM payonce.provider_events WHERE status = 'parked'`) == 0
	})
	status, gaveUp := verdict(t, s, s.Event(unknown, "payment_intent.succeeded").ID)
	require.Equal(t, "foreign", status)
	_, reason = verdict(t, s, s.Event(theirs, "payment_intent.succeeded").ID)
	require.NotEqual(t, reason, gaveUp)
	require.Zero(t, s.Count(`SELECT count(*) FROM payonce.payments`))
	require.Zero(t, s.Count(`SELECT count(*) FROM payonce.ledger_journals`))
}

// connected is the account that a platform's endpoint tells of.
const connected = "acct_connected"

// withConnected is a system whose account is the platform of another, which has a tenant of its own.
func withConnected(t *testing.T) (s *system.System, apiKey string) {
	t.Helper()
	s = system.New(t, func(c *app.Config) { c.Timing.PollAfter, c.Timing.PollMaximum = 24*time.Hour, 48*time.Hour })
	account := payments.Account{ID: connected}
	require.NoError(t, tenants.ConnectAccount(t.Context(), s.App.System, s.App.Sealer, account, system.AccountID, nil))
	tenant, err := tenants.CreateTenant(t.Context(), s.App.System, "connected", account)
	require.NoError(t, err)
	apiKey, err = tenants.CreateAPIKey(t.Context(), s.App.System, tenant, tenants.ScopeRead, tenants.ScopeWrite)
	require.NoError(t, err)
	s.StartAPI()
	_, err = s.Twin.AddEndpoint(t.Context(), control.Endpoint{
		ID: "we_platform", URL: s.Door, Secret: system.WebhookSecret, Account: system.AccountID, Connect: true,
	})
	require.NoError(t, err)
	s.StartWorker()
	return s, apiKey
}

// A true event names an account, and a payment of another account: it moves neither. What is read afterwards is read where the event is from.
func TestAnEventNeverMovesThePaymentOfAnotherAccount(t *testing.T) {
	t.Parallel()
	s, connectedKey := withConnected(t)
	s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDrop})
	body := system.With(system.Order("order-1", 1000), "payment_method", nil)
	platforms := s.Create("K1", body).Payment(t)
	answer, err := s.Post(t.Context(), connectedKey, "/v1/payments", "K1", body, "wait=20")
	require.NoError(t, err)
	connecteds := answer.Payment(t)
	paid := func(payment payments.View, intent string) json.RawMessage {
		return json.RawMessage(`{"id":"` + intent + `","object":"payment_intent","status":"succeeded","amount":1000,"amount_received":1000,` +
			`"currency":"usd","capture_method":"automatic","latest_charge":"ch_1","metadata":{"` + payments.MetadataPayment + `":"` + payment.ID.String() + `"}}`)
	}
	const kind = "payment_intent.succeeded"
	strays := []string{
		emit(t, s, control.Emit{Type: kind, Account: connected, Platform: system.AccountID, Object: paid(platforms, platforms.PaymentIntent)}),
		emit(t, s, control.Emit{Type: kind, Account: connected, Platform: system.AccountID, Object: paid(platforms, "pi_stray")}),
		emit(t, s, control.Emit{Type: kind, Account: system.AccountID, Object: paid(connecteds, connecteds.PaymentIntent)}),
	}
	nobodys := emit(t, s, control.Emit{Type: kind, Account: "acct_stranger", Platform: system.AccountID, Object: paid(platforms, platforms.PaymentIntent)})
	judged(s)
	for _, stray := range strays {
		status, _ := verdict(t, s, stray)
		require.Equal(t, "quarantined", status)
	}
	status, reason := verdict(t, s, nobodys)
	require.Equal(t, "ignored", status)
	require.Equal(t, "account_not_known", reason)
	require.Equal(t, 2, s.Count(`SELECT count(*) FROM payonce.payments WHERE status = 'requires_payment_method' AND amount_captured = 0`))
	require.Zero(t, s.Count(`SELECT count(*) FROM payonce.ledger_journals`))

	_, err = s.Twin.Pay(t.Context(), connecteds.PaymentIntent, control.Pay{PaymentMethod: "pm_card_visa"})
	require.NoError(t, err)
	charge := s.Event(connecteds.PaymentIntent, "charge.succeeded")
	emit(t, s, control.Emit{Type: charge.Type, Account: connected, Platform: system.AccountID, Object: charge.Object})
	s.Eventually("the payment succeeds", func() bool {
		return s.Count(`SELECT count(*) FROM payonce.payments WHERE id = $1 AND status = 'succeeded'`, connecteds.ID.UUID) == 1
	})
	reads := s.Requests(http.MethodGet, "/v1/payment_intents/*")
	require.NotEmpty(t, reads)
	for _, read := range reads {
		require.Equal(t, connected, read.Account)
	}
}

// The dashboard's sample events share one id: both are seen, and neither is anybody's payment.
func TestSampleEventsAreSeenAndMoveNothing(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	samples := map[string]json.RawMessage{
		"payment_intent.succeeded": json.RawMessage(`{"id":"pi_00000000000000","object":"payment_intent","status":"succeeded","amount":2000,` +
			`"amount_received":2000,"currency":"usd","latest_charge":"ch_00000000000000","metadata":{}}`),
		"charge.refunded": json.RawMessage(`{"id":"ch_00000000000000","object":"charge","payment_intent":null,"amount":100,"amount_refunded":100,"metadata":{}}`),
	}
	for kind, object := range samples {
		emit(t, s, control.Emit{ID: "evt_00000000000000", Type: kind, Account: system.AccountID, Object: object})
	}
	judged(s)
	for kind := range samples {
		require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.provider_events
			WHERE event_id = 'evt_00000000000000' AND type = $1 AND status IN ('foreign', 'ignored') AND NOT livemode`, kind), kind)
	}
	require.Zero(t, s.Count(`SELECT count(*) FROM payonce.ledger_journals`))
}
