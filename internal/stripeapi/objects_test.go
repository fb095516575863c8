package stripeapi_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"payonce/internal/stripeapi"
	"payonce/payments"
)

var merchant = stripeapi.Credentials{SecretKey: "sk_test_merchant", Account: payments.Account{ID: "acct_merchant"}}

// stripeThat answers each request with what answer writes for it.
func stripeThat(t *testing.T, answer http.HandlerFunc) *stripeapi.Client {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	client, err := stripeapi.New(server.URL, nil)
	require.NoError(t, err)
	return client
}

// says answers with the body to the one request that is expected.
func says(t *testing.T, request, body string) *stripeapi.Client {
	t.Helper()
	return stripeThat(t, func(w http.ResponseWriter, r *http.Request) {
		if got := r.Method + " " + r.URL.RequestURI(); got != request {
			t.Errorf("was asked for %s, want %s", got, request)
		}
		_, _ = io.WriteString(w, body)
	})
}

const (
	holdJSON = `{"id":"ch_1","object":"charge","livemode":true,"status":"succeeded","amount":1000,"amount_captured":300,"amount_refunded":100,"currency":"usd",
		"captured":false,"disputed":false,"payment_intent":"pi_1","balance_transaction":null,"created":1700000000,
		"metadata":{"payonce_payment":"0f0e"},"payment_method_details":{"type":"card","card":{"capture_before":1700600000,"multicapture":{"status":"available"}}}}`
	refundJSON = `{"id":"re_1","object":"refund","status":"failed","amount":400,"currency":"usd","payment_intent":"pi_1","charge":"ch_1","reason":"duplicate",
		"failure_reason":"expired_or_canceled_card","balance_transaction":"txn_2","failure_balance_transaction":"txn_3","created":1700000100,
		"metadata":{"payonce_refund":"0f0f"}}`
	disputeJSON = `{"id":"dp_1","object":"dispute","livemode":false,"status":"won","reason":"fraudulent","amount":1000,"currency":"usd","payment_intent":"pi_1",
		"charge":"ch_1","is_charge_refundable":false,"created":1700000200,"evidence_details":{"due_by":1700900000},"balance_transactions":[
			{"id":"txn_5","object":"balance_transaction","type":"adjustment","amount":1000,"fee":0,"net":1000,"currency":"usd","created":1700500000,"source":"dp_1"},
			{"id":"txn_4","object":"balance_transaction","type":"adjustment","amount":-1000,"fee":1500,"net":-2500,"currency":"usd","created":1700000200,"source":"dp_1"}]}`
	payoutJSON = `{"id":"po_1","object":"payout","livemode":false,"status":"failed","amount":5000,"currency":"usd","automatic":false,"arrival_date":1700300000,
		"balance_transaction":"txn_6","failure_balance_transaction":"txn_7","failure_code":"account_closed","failure_message":"The account is closed.",
		"created":1700000300,"metadata":{}}`
)

var (
	hold = stripeapi.Charge{
		ID: "ch_1", Account: payments.Account{ID: "acct_merchant", Livemode: true}, Intent: "pi_1", Status: stripeapi.ChargeSucceeded,
		Money: payments.Money{Amount: 1000, Currency: "usd"}, AmountCaptured: 300, AmountRefunded: 100, CaptureBefore: time.Unix(1700600000, 0).UTC(),
		Multicapture: true, Metadata: map[string]string{"payonce_payment": "0f0e"}, Created: time.Unix(1700000000, 0).UTC(),
	}
	refund = stripeapi.Refund{
		ID: "re_1", Account: merchant.Account, Intent: "pi_1", Charge: "ch_1", Status: stripeapi.RefundFailed, Money: payments.Money{Amount: 400, Currency: "usd"},
		Reason: "duplicate", FailureReason: "expired_or_canceled_card", BalanceTransaction: "txn_2", FailureTransaction: "txn_3",
		Metadata: map[string]string{"payonce_refund": "0f0f"}, Created: time.Unix(1700000100, 0).UTC(),
	}
	dispute = stripeapi.Dispute{
		ID: "dp_1", Account: merchant.Account, Intent: "pi_1", Charge: "ch_1", Status: stripeapi.DisputeWon, Reason: "fraudulent",
		Money: payments.Money{Amount: 1000, Currency: "usd"}, DueBy: time.Unix(1700900000, 0).UTC(), Created: time.Unix(1700000200, 0).UTC(),
		Transactions: []stripeapi.BalanceTransaction{
			{
				ID: "txn_4", Account: merchant.Account, Type: "adjustment", Money: payments.Money{Amount: -1000, Currency: "usd"}, Fee: 1500, Net: -2500,
				Source: "dp_1", Created: time.Unix(1700000200, 0).UTC(),
			},
			{
				ID: "txn_5", Account: merchant.Account, Type: "adjustment", Money: payments.Money{Amount: 1000, Currency: "usd"}, Net: 1000,
				Source: "dp_1", Created: time.Unix(1700500000, 0).UTC(),
			},
		},
	}
	payout = stripeapi.Payout{
		ID: "po_1", Account: merchant.Account, Status: stripeapi.PayoutFailed, Money: payments.Money{Amount: 5000, Currency: "usd"},
		ArrivalDate: time.Unix(1700300000, 0).UTC(), BalanceTransaction: "txn_6", FailureTransaction: "txn_7",
		Failure:  &payments.ProviderError{Code: "account_closed", Message: "The account is closed."},
		Metadata: map[string]string{}, Created: time.Unix(1700000300, 0).UTC(),
	}
)

func TestObjectsAreReadByTheirIDs(t *testing.T) {
	t.Parallel()
	gotRefund, err := says(t, "GET /v1/refunds/re_1", refundJSON).ReadRefund(t.Context(), merchant, "re_1")
	require.NoError(t, err)
	require.Equal(t, refund, gotRefund)
	gotDispute, err := says(t, "GET /v1/disputes/dp_1", disputeJSON).ReadDispute(t.Context(), merchant, "dp_1")
	require.NoError(t, err)
	require.Equal(t, dispute, gotDispute)
	gotPayout, err := says(t, "GET /v1/payouts/po_1", payoutJSON).ReadPayout(t.Context(), merchant, "po_1")
	require.NoError(t, err)
	require.Equal(t, payout, gotPayout)
	gotHold, err := says(t, "GET /v1/charges/ch_1?expand%5B%5D=balance_transaction", holdJSON).ReadCharge(t.Context(), merchant, "ch_1")
	require.NoError(t, err)
	require.Equal(t, hold, gotHold)
}

func TestAChargeComesWithItsBalanceTransaction(t *testing.T) {
	t.Parallel()
	charge, err := says(t, "GET /v1/charges/ch_1?expand%5B%5D=balance_transaction", `{"id":"ch_1","object":"charge","status":"failed",
		"failure_code":"card_declined","failure_message":"Your card was declined.","balance_transaction":{"id":"txn_1","object":"balance_transaction",
		"type":"charge","reporting_category":"charge","amount":930,"fee":57,"net":873,"currency":"eur","exchange_rate":0.9301234,"source":"ch_1","created":1700000000}}`).
		ReadCharge(t.Context(), merchant, "ch_1")
	require.NoError(t, err)
	require.Equal(t, "txn_1", charge.BalanceTransaction)
	require.Equal(t, &stripeapi.BalanceTransaction{
		ID: "txn_1", Account: merchant.Account, Type: "charge", Category: "charge", Money: payments.Money{Amount: 930, Currency: "eur"}, Fee: 57, Net: 873,
		ExchangeRate: "0.9301234", Source: "ch_1", Created: time.Unix(1700000000, 0).UTC(),
	}, charge.Transaction)
	require.Equal(t, &payments.ProviderError{Code: "card_declined", Message: "Your card was declined.", Charge: "ch_1"}, charge.Failure)
	require.Zero(t, charge.CaptureBefore)
}

// A bank debit's dispute takes no evidence: Stripe writes null or 0, and neither is a date.
func TestADisputeThatTakesNoEvidenceHasNoDueDate(t *testing.T) {
	t.Parallel()
	for _, due := range []string{"null", "0"} {
		dispute, err := says(t, "GET /v1/disputes/dp_1", `{"id":"dp_1","status":"lost","evidence_details":{"due_by":`+due+`},"balance_transactions":[]}`).
			ReadDispute(t.Context(), merchant, "dp_1")
		require.NoError(t, err)
		require.True(t, dispute.DueBy.IsZero())
		require.Empty(t, dispute.Transactions)
	}
}

func TestAnIntentComesWithItsChargeWhenThatIsExpanded(t *testing.T) {
	t.Parallel()
	for latest, want := range map[string]*stripeapi.Charge{`"ch_1"`: nil, holdJSON: &hold, `null`: nil} {
		client := stripeThat(t, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"id":"pi_1","object":"payment_intent","status":"requires_capture","latest_charge":`+latest+`}`)
		})
		read, err := client.ReadIntent(t.Context(), merchant, "pi_1")
		require.NoError(t, err)
		require.Equal(t, want, read.Charge)
		sent, err := client.Send(t.Context(), merchant, stripeapi.Request{
			IdempotencyKey: uuid.New(), Path: "/v1/payment_intents/pi_1/confirm", Version: stripeapi.APIVersion,
		})
		require.NoError(t, err)
		require.Equal(t, want, sent.Intent.Charge)
		require.Equal(t, latest != "null", sent.Intent.LatestCharge == "ch_1")
	}
}

func TestARefundAndAPayoutAreSentAsTheyWereFrozen(t *testing.T) {
	t.Parallel()
	key := uuid.New()
	answering := func(body string) *stripeapi.Client {
		return stripeThat(t, func(w http.ResponseWriter, r *http.Request) {
			sent, _ := io.ReadAll(r.Body)
			if string(sent) != "amount=400" || r.Header.Get("Idempotency-Key") != key.String() || r.Method != http.MethodPost {
				t.Errorf("%s %q under %s", r.Method, sent, r.Header.Get("Idempotency-Key"))
			}
			w.Header().Set("Request-Id", "req_1")
			w.Header().Set("Idempotent-Replayed", "true")
			_, _ = io.WriteString(w, body)
		})
	}
	receipt := stripeapi.Receipt{RequestID: "req_1", Replayed: true, Status: http.StatusOK}
	request := stripeapi.Request{IdempotencyKey: key, Path: "/v1/refunds", Body: []byte("amount=400"), Version: stripeapi.APIVersion}
	refunded, err := answering(refundJSON).SendRefund(t.Context(), merchant, request)
	require.NoError(t, err)
	require.Equal(t, stripeapi.RefundAnswer{Receipt: receipt, Refund: refund}, refunded)
	request.Path = "/v1/payouts"
	paid, err := answering(payoutJSON).SendPayout(t.Context(), merchant, request)
	require.NoError(t, err)
	require.Equal(t, stripeapi.PayoutAnswer{Receipt: receipt, Payout: payout}, paid)
}

// A list that is to show that something is absent is read to its end.
func TestAListIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	var asked []string
	client := stripeThat(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.RequestURI())
		n := len(asked)
		_, _ = fmt.Fprintf(w, `{"object":"list","has_more":%t,"data":[{"id":"re_%d","object":"refund","amount":%d}]}`, n < 3, n, n)
	})
	refunds, err := client.ListRefunds(t.Context(), merchant, "pi_1")
	require.NoError(t, err)
	require.Equal(t, []string{
		"/v1/refunds?limit=100&payment_intent=pi_1",
		"/v1/refunds?limit=100&payment_intent=pi_1&starting_after=re_1",
		"/v1/refunds?limit=100&payment_intent=pi_1&starting_after=re_2",
	}, asked)
	require.Len(t, refunds, 3)
	require.EqualValues(t, 3, refunds[2].Money.Amount)
}

func TestAListWithoutEndIsRefused(t *testing.T) {
	t.Parallel()
	client := stripeThat(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"object":"list","has_more":true,"data":[{"id":"dp_1","object":"dispute"}]}`)
	})
	_, err := client.ListDisputes(t.Context(), merchant, "pi_1")
	require.ErrorIs(t, err, stripeapi.ErrTooMany)
}

func TestPayoutsAreListedByTheirTime(t *testing.T) {
	t.Parallel()
	client := says(t, "GET /v1/payouts?created%5Bgte%5D=1700000000&created%5Blte%5D=1700000601&limit=100", `{"object":"list","has_more":false,"data":[`+payoutJSON+`]}`)
	payouts, err := client.ListPayouts(t.Context(), merchant, time.Unix(1700000000, 0), time.Unix(1700000600, 0))
	require.NoError(t, err)
	require.Equal(t, []stripeapi.Payout{payout}, payouts)
}

func TestBalanceTransactionsComeWithTheirSources(t *testing.T) {
	t.Parallel()
	client := says(t, "GET /v1/balance_transactions?created%5Bgte%5D=1700000000&created%5Blte%5D=1700000600&ending_before=txn_0&expand%5B%5D=data.source&limit=100",
		`{"object":"list","has_more":true,"data":[
			{"id":"txn_9","object":"balance_transaction","type":"stripe_fee","amount":-200,"fee":0,"net":-200,"currency":"usd","source":null},
			{"id":"txn_4","object":"balance_transaction","type":"adjustment","amount":-1000,"fee":1500,"net":-2500,"currency":"usd","source":`+disputeJSON+`},
			{"id":"txn_2","object":"balance_transaction","type":"refund","amount":-400,"fee":0,"net":-400,"currency":"usd","source":`+refundJSON+`},
			{"id":"txn_1","object":"balance_transaction","type":"charge","amount":1000,"fee":59,"net":941,"currency":"usd","source":`+holdJSON+`}]}`)
	page, err := client.ListTransactions(t.Context(), merchant, stripeapi.Transactions{
		From: time.Unix(1700000000, 0), To: time.Unix(1700000600, 0), Above: "txn_0",
	})
	require.NoError(t, err)
	require.True(t, page.More)
	require.Equal(t, "txn_9", page.Transactions[0].ID)
	oldest := page.OldestFirst()
	require.Equal(t, "txn_1", oldest[0].ID)
	require.Equal(t, &hold, oldest[0].Charge)
	require.Equal(t, "0f0e", oldest[0].PaymentMetadata())
	require.Equal(t, &refund, oldest[1].Refund)
	require.Equal(t, &dispute, oldest[2].Dispute)
	for _, transaction := range oldest[:3] {
		require.Equal(t, "pi_1", transaction.Intent())
	}
	require.Empty(t, oldest[3].Intent()+oldest[3].Source+oldest[3].PaymentMetadata())
}

func TestARefusalOfARefundSaysWhy(t *testing.T) {
	t.Parallel()
	client := stripeThat(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":{"type":"invalid_request_error","code":"charge_already_refunded","message":"Charge ch_1 has already been refunded."}}`)
	})
	_, err := client.SendRefund(t.Context(), merchant, stripeapi.Request{IdempotencyKey: uuid.New(), Path: "/v1/refunds", Version: stripeapi.APIVersion})
	var refusal *stripeapi.Error
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, stripeapi.CodeChargeAlreadyRefunded, refusal.Code)
}
