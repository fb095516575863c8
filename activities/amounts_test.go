package activities

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"payonce/boundaries"
	"payonce/internal/strictjson"
	"payonce/internal/stripeapi"
	"payonce/ledger"
	"payonce/notifications"
	"payonce/payments"
)

// Every amount goes through each conversion that there is as the integer that it is: what the caller wrote, what is hashed and stored, what Stripe is
// sent and answers, what is booked, and what is told. Up to a thousand dollars all are written and sent, and a sample goes the whole way.
func TestEveryAmountStaysTheIntegerThatItIs(t *testing.T) {
	const most, whole, step = 100_000, 2_000, 37
	payment := payments.Payment{Tenant: payments.TenantID{UUID: uuid.MustParse("018f0000-0000-7000-8000-000000000001")}}
	for amount := int64(1); amount <= most; amount++ {
		var sent struct {
			Amount int64 `json:"amount"`
		}
		err := strictjson.Decode([]byte(`{"amount":`+strconv.FormatInt(amount, 10)+`}`), &sent, 100)
		payment.Money = payments.Money{Amount: sent.Amount, Currency: "usd"}
		form := createBody(payment, nil).Get("amount")
		if err != nil || form != strconv.FormatInt(amount, 10) {
			require.FailNow(t, "another amount is sent", "%d: %s %v", amount, form, err)
		}
		if amount <= whole || amount%step == 0 {
			requireSameAmount(t, payment, form)
		}
	}
}

// requireSameAmount requires that a payment's amount is the same in the stored command, in Stripe's answer, in the ledger and in the message.
func requireSameAmount(t *testing.T, payment payments.Payment, form string) {
	t.Helper()
	amount := payment.Money.Amount
	normalised, err := boundaries.Normalise(payments.OperationCreate, "/v1/payments", payments.CreateCommand{Amount: amount, Currency: "usd"})
	require.NoError(t, err)
	stored, err := boundaries.CommandOf[payments.CreateCommand](normalised.JSON)
	require.NoError(t, err)
	require.Equal(t, amount, stored.Amount)
	event, err := stripeapi.ParseEvent([]byte(`{"data":{"object":{"id":"pi_1","object":"payment_intent","status":"succeeded","amount":`+form+
		`,"amount_received":`+form+`,"latest_charge":"ch_1"}}}`), payment.Account)
	require.NoError(t, err)
	require.Equal(t, amount, event.Intent.Money.Amount)
	posting, _ := ledger.Captured(ledger.Capture{Tenant: payment.Tenant, Charge: "ch_1", Currency: "usd", NewTotal: event.Intent.AmountReceived})
	require.Equal(t, amount, posting.Entries[0].Amount)
	require.Equal(t, -amount, posting.Entries[1].Amount)
	payment.AmountCaptured = event.Intent.AmountReceived
	message, err := notifications.Render(notifications.PaymentSucceeded, "payment/1", payment.View(), nil, at(0))
	require.NoError(t, err)
	var told struct {
		Data struct{ Payment payments.View }
	}
	require.NoError(t, json.Unmarshal(message, &told))
	require.Equal(t, [2]int64{amount, amount}, [2]int64{told.Data.Payment.Amount, told.Data.Payment.AmountCaptured})
}
