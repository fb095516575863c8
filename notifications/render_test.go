package notifications_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"payonce/notifications"
	"payonce/payments"
)

// The payload is wire format: members are added, never renamed.
func TestPayloadIsStandardWebhooks(t *testing.T) {
	t.Parallel()
	id := payments.PaymentID{UUID: uuid.MustParse("00000000-0000-5000-8000-000000000001")}
	view := payments.View{
		ID: id, Object: "payment", Reference: "order-1", Attempt: 1, Amount: 1000, Currency: "usd", AmountCaptured: 1000,
		CaptureMethod: payments.CaptureAutomatic, Status: payments.StatusSucceeded, Stage: payments.StageLedgerApplied,
		ClientSecret: "for the payer alone", CreatedAt: day(1),
	}
	subject, err := notifications.PaymentSucceeded.Subject(id, notifications.Of{})
	require.NoError(t, err)

	body, err := notifications.Render(notifications.PaymentSucceeded, subject, view, nil, day(2).In(time.FixedZone("east", 3600)))

	require.NoError(t, err)
	require.JSONEq(t, `{
		"type": "payment.succeeded", "timestamp": "2030-01-02T12:00:00Z",
		"data": {"subject": "payment/00000000-0000-5000-8000-000000000001", "payment": {
			"id": "00000000-0000-5000-8000-000000000001", "object": "payment", "reference": "order-1", "attempt": 1, "amount": 1000,
			"currency": "usd", "amount_capturable": 0, "amount_captured": 1000, "amount_refunded": 0, "capture_method": "automatic",
			"status": "succeeded", "stage": "ledger_applied", "stages": null, "livemode": false, "created_at": "2030-01-01T12:00:00Z"}}}`,
		string(body))
	require.NotContains(t, string(body), "for the payer alone")
}

func TestKindsNameWhatChanged(t *testing.T) {
	t.Parallel()
	payment := payments.PaymentID{UUID: uuid.MustParse("00000000-0000-5000-8000-000000000001")}
	for _, kind := range notifications.Kinds() {
		subject, err := kind.Subject(payment, notifications.Of{Charge: "ch_1", Confirm: 2, Total: 300, Refund: "1", Dispute: "2", Payout: "3"})
		require.NoError(t, err)
		switch kind {
		case notifications.PaymentDeclined:
			require.Equal(t, "charge/ch_1", subject)
		case notifications.PaymentPartiallyCaptured:
			require.Equal(t, "capture/ch_1/300", subject)
		case notifications.RefundSucceeded, notifications.RefundFailed, notifications.RefundCanceled:
			require.Equal(t, "refund/1", subject)
		case notifications.DisputeOpened, notifications.DisputeWon, notifications.DisputeLost, notifications.DisputeClosed:
			require.Equal(t, "dispute/2", subject)
		case notifications.PayoutPaid, notifications.PayoutFailed, notifications.PayoutCanceled:
			require.Equal(t, "payout/3", subject)
		default:
			require.Equal(t, "payment/"+payment.String(), subject)
		}
	}
	subject, err := notifications.PaymentDeclined.Subject(payment, notifications.Of{Confirm: 2})
	require.NoError(t, err)
	require.Equal(t, "confirm/"+payment.String()+"#2", subject)
	_, err = notifications.PaymentDeclined.Subject(payment, notifications.Of{})
	require.ErrorIs(t, err, notifications.ErrInvalidMessage)
	_, err = notifications.Kind("payment.vanished").Subject(payment, notifications.Of{Charge: "ch_1"})
	require.ErrorIs(t, err, notifications.ErrInvalidMessage)
}

func TestEveryEndingHasItsKindAndSoDoesAHold(t *testing.T) {
	t.Parallel()
	for _, status := range payments.Statuses() {
		kind, told := notifications.KindOf(status)
		require.Equal(t, status.Terminal() || status == payments.StatusRequiresCapture, told, status)
		switch {
		case status == payments.StatusRequiresCapture:
			require.Equal(t, notifications.PaymentAuthorized, kind)
		case told:
			require.Equal(t, notifications.Kind("payment."+string(status)), kind)
		}
	}
}

// A message about a payout shows the payout, and no payment.
func TestAPayoutIsToldWithoutAPayment(t *testing.T) {
	t.Parallel()
	payout := payments.PayoutView{
		ID: payments.PayoutID{UUID: uuid.MustParse("00000000-0000-5000-8000-000000000001")}, Object: "payout", Amount: 1000, Currency: "usd",
		Status: payments.PayoutPaid, Stage: payments.StageLedgerApplied, CreatedAt: day(1),
	}
	body, err := notifications.RenderPayout(notifications.PayoutPaid, "payout/"+payout.ID.String(), payout, day(2))
	require.NoError(t, err)
	require.JSONEq(t, `{
		"type": "payout.paid", "timestamp": "2030-01-02T12:00:00Z",
		"data": {"subject": "payout/00000000-0000-5000-8000-000000000001", "payout": {
			"id": "00000000-0000-5000-8000-000000000001", "object": "payout", "amount": 1000, "currency": "usd", "status": "paid",
			"stage": "ledger_applied", "stages": null, "livemode": false, "created_at": "2030-01-01T12:00:00Z"}}}`, string(body))
}

func TestEveryEndOfAPayoutHasItsKind(t *testing.T) {
	t.Parallel()
	for _, status := range payments.PayoutStatuses() {
		kind, told := notifications.KindOfPayout(status)
		require.Equal(t, status.Terminal(), told, status)
		if told {
			require.Equal(t, notifications.Kind("payout."+string(status)), kind)
		}
	}
}

func TestEveryEndOfARefundHasItsKind(t *testing.T) {
	t.Parallel()
	for _, status := range payments.RefundStatuses() {
		kind, told := notifications.KindOfRefund(status)
		require.Equal(t, status.Terminal(), told, status)
		if told {
			require.Equal(t, notifications.Kind("refund."+string(status)), kind)
		}
	}
}

func TestConfigRefusesRelationsThatDoNotHold(t *testing.T) {
	t.Parallel()
	require.NoError(t, notifications.DefaultConfig().Validate())
	for name, spoil := range map[string]func(*notifications.Config){
		"a duration of zero":           func(c *notifications.Config) { c.PollInterval = 0 },
		"a lease as short as a send":   func(c *notifications.Config) { c.Lease = c.SendTimeout + c.MarkTimeout },
		"no tries":                     func(c *notifications.Config) { c.MaxTries = 0 },
		"back-off that shrinks":        func(c *notifications.Config) { c.BackoffMax = c.BackoffFirst - 1 },
		"one endpoint fills all sends": func(c *notifications.Config) { c.MaxSendsPerEndpoint = c.MaxSends },
	} {
		config := notifications.DefaultConfig()
		spoil(&config)
		require.Error(t, config.Validate(), name)
	}
}
