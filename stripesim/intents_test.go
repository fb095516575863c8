package stripesim_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v76"
)

func TestStripeGoDecodesAPaidIntent(t *testing.T) {
	b := start(t)
	params := &stripe.PaymentIntentParams{Amount: stripe.Int64(2000), Currency: stripe.String("usd"), Confirm: stripe.Bool(true),
		PaymentMethod: stripe.String("pm_card_visa"), PaymentMethodTypes: stripe.StringSlice([]string{"card"}),
		Description: stripe.String("order 1"), Metadata: map[string]string{"order": "1"}}
	params.AddExpand("latest_charge.balance_transaction")
	params.SetIdempotencyKey("k")
	pi, err := b.stripe(testKey).PaymentIntents.New(params)
	require.NoError(t, err)
	require.Equal(t, stripe.PaymentIntentStatusSucceeded, pi.Status)
	require.EqualValues(t, 2000, pi.Amount)
	require.EqualValues(t, 2000, pi.AmountReceived)
	require.Equal(t, stripe.CurrencyUSD, pi.Currency)
	require.Equal(t, "1", pi.Metadata["order"])
	require.Equal(t, []string{"card"}, pi.PaymentMethodTypes)
	require.Equal(t, b.clock.now.Unix(), pi.Created)
	require.False(t, pi.Livemode)
	require.Contains(t, pi.ClientSecret, pi.ID+"_secret_")
	charge := pi.LatestCharge
	require.True(t, charge.Paid)
	require.True(t, charge.Captured)
	require.EqualValues(t, 2000, charge.AmountCaptured)
	require.Equal(t, "4242", charge.PaymentMethodDetails.Card.Last4)
	require.EqualValues(t, 2000, charge.BalanceTransaction.Amount)
	require.EqualValues(t, 88, charge.BalanceTransaction.Fee, "2.9 % and 30")
	require.EqualValues(t, 1912, charge.BalanceTransaction.Net)
	require.Equal(t, "k", pi.LastResponse.IdempotencyKey)
}

func TestIntentGoesFromMethodToConfirmationToSuccess(t *testing.T) {
	b := start(t)
	api := b.stripe(testKey)
	pi, err := api.PaymentIntents.New(&stripe.PaymentIntentParams{Amount: stripe.Int64(500), Currency: stripe.String("eur")})
	require.NoError(t, err)
	require.Equal(t, stripe.PaymentIntentStatusRequiresPaymentMethod, pi.Status)
	pi, err = api.PaymentIntents.Update(pi.ID, &stripe.PaymentIntentParams{PaymentMethod: stripe.String("pm_card_mastercard")})
	require.NoError(t, err)
	require.Equal(t, stripe.PaymentIntentStatusRequiresConfirmation, pi.Status)
	pi, err = api.PaymentIntents.Confirm(pi.ID, nil)
	require.NoError(t, err)
	require.Equal(t, stripe.PaymentIntentStatusSucceeded, pi.Status)
	read, err := api.PaymentIntents.Get(pi.ID, nil)
	require.NoError(t, err)
	require.Equal(t, stripe.PaymentIntentStatusSucceeded, read.Status)
	require.NotEmpty(t, read.LatestCharge.ID)
}

func TestConfirmWithoutPaymentMethodIsUnexpectedState(t *testing.T) {
	b := start(t)
	answer := b.confirm(b.create(""), "")
	require.Equal(t, http.StatusBadRequest, answer.status)
	require.Equal(t, "payment_intent_unexpected_state", answer.json("error.code"))
	require.Equal(t, "requires_payment_method", answer.json("error.payment_intent.status"))
}

func TestConfirmOfASucceededIntentIsRefusedAndShowsIt(t *testing.T) {
	b := start(t)
	id := b.create("confirm=true&payment_method=pm_card_visa")
	_, err := b.stripe(testKey).PaymentIntents.Confirm(id, nil)
	var refused *stripe.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, http.StatusBadRequest, refused.HTTPStatusCode)
	require.Equal(t, stripe.ErrorCodePaymentIntentUnexpectedState, refused.Code)
	require.Equal(t, id, refused.PaymentIntent.ID)
	require.Equal(t, stripe.PaymentIntentStatusSucceeded, refused.PaymentIntent.Status)
	require.Equal(t, 1, b.book(id).ConfirmsExecuted)
	require.EqualValues(t, 2000, b.book(id).Captured)
}

func TestFailedAttemptReturnsToRequiresPaymentMethodAndAnotherMethodSucceeds(t *testing.T) {
	b := start(t)
	id := b.create("")
	require.Equal(t, http.StatusPaymentRequired, b.confirm(id, "payment_method=pm_card_chargeDeclined").status)
	read := b.get(intents + "/" + id + "?expand[]=latest_charge")
	require.Equal(t, "requires_payment_method", read.json("status"))
	require.Equal(t, "card_declined", read.json("last_payment_error.code"))
	require.Equal(t, "generic_decline", read.json("last_payment_error.decline_code"))
	require.Nil(t, read.json("payment_method"))
	require.Equal(t, "failed", read.json("latest_charge.status"))
	require.Equal(t, "card_declined", read.json("latest_charge.failure_code"))
	require.Equal(t, read.json("latest_charge.id"), read.json("last_payment_error.charge"))

	paid := b.confirm(id, "payment_method=pm_card_visa")
	require.Equal(t, "succeeded", paid.json("status"))
	require.Nil(t, paid.json("last_payment_error"))
	book := b.book(id)
	require.Equal(t, 2, book.ConfirmsExecuted)
	require.Equal(t, 1, book.ChargesSucceeded)
	require.Equal(t, 1, book.ChargesFailed)
}

func TestCancelIsAllowedOnlyInTheListedStates(t *testing.T) {
	for name, one := range map[string]struct {
		form    string
		allowed bool
	}{
		"requires_payment_method": {"", true},
		"requires_confirmation":   {"payment_method=pm_card_visa", true},
		"requires_action":         {"confirm=true&payment_method=pm_card_authenticationRequired", true},
		"requires_capture":        {"confirm=true&payment_method=pm_card_visa&capture_method=manual", true},
		"processing":              {"confirm=true&payment_method=pm_usBankAccount_success", false},
		"succeeded":               {"confirm=true&payment_method=pm_card_visa", false},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t)
			id := b.create(one.form)
			require.Equal(t, name, b.get(intents+"/"+id).json("status"))
			answer := b.post(intents+"/"+id+"/cancel", "cancellation_reason=abandoned", "")
			if one.allowed {
				require.Equal(t, "canceled", answer.json("status"))
				require.Equal(t, "abandoned", answer.json("cancellation_reason"))
				require.NotNil(t, answer.json("canceled_at"))
				require.True(t, b.book(id).Canceled)
				require.Equal(t, http.StatusBadRequest, b.post(intents+"/"+id+"/cancel", "", "").status, "canceled is final")
				require.Equal(t, http.StatusBadRequest, b.confirm(id, "payment_method=pm_card_visa").status)
				return
			}
			require.Equal(t, http.StatusBadRequest, answer.status)
			require.Equal(t, "payment_intent_unexpected_state", answer.json("error.code"))
			require.Equal(t, name, answer.json("error.payment_intent.status"))
		})
	}
}

func TestCancellationReasonMustBeKnown(t *testing.T) {
	b := start(t)
	id := b.create("")
	answer := b.post(intents+"/"+id+"/cancel", "cancellation_reason=tired", "")
	require.Equal(t, http.StatusBadRequest, answer.status)
	require.Equal(t, "cancellation_reason", answer.json("error.param"))
}

func TestManualCaptureHoldsThenCaptures(t *testing.T) {
	b := start(t)
	id := b.create("capture_method=manual&confirm=true&payment_method=pm_card_visa")
	read := b.get(intents + "/" + id + "?expand[]=latest_charge")
	require.Equal(t, "requires_capture", read.json("status"))
	require.EqualValues(t, 2000, read.json("amount_capturable"))
	require.Equal(t, false, read.json("latest_charge.captured"))
	require.EqualValues(t, b.clock.now.Add(7*24*time.Hour).Unix(), read.json("latest_charge.payment_method_details.card.capture_before"))
	require.Zero(t, b.book(id).Captured)

	captured := b.post(intents+"/"+id+"/capture", "", "")
	require.Equal(t, "succeeded", captured.json("status"))
	require.EqualValues(t, 2000, captured.json("amount_received"))
	require.Equal(t, 1, b.book(id).CapturesExecuted)
}

func TestPartialCaptureLeavesTheRestAsRefundedOnTheCharge(t *testing.T) {
	b := start(t)
	id := b.create("capture_method=manual&confirm=true&payment_method=pm_card_visa")
	captured := b.post(intents+"/"+id+"/capture", "amount_to_capture=1500&expand[]=latest_charge.balance_transaction", "")
	require.EqualValues(t, 1500, captured.json("amount_received"))
	require.EqualValues(t, 0, captured.json("amount_capturable"))
	require.EqualValues(t, 1500, captured.json("latest_charge.amount_captured"))
	require.EqualValues(t, 500, captured.json("latest_charge.amount_refunded"))
	require.EqualValues(t, 1500, captured.json("latest_charge.balance_transaction.amount"))
	require.EqualValues(t, 1500, b.book(id).Captured)
	require.Zero(t, b.book(id).Refunded, "nothing that was captured was refunded")
}

func TestCaptureOfMoreThanTheHoldIsRefused(t *testing.T) {
	b := start(t)
	id := b.create("capture_method=manual&confirm=true&payment_method=pm_card_visa")
	answer := b.post(intents+"/"+id+"/capture", "amount_to_capture=2001", "")
	require.Equal(t, http.StatusBadRequest, answer.status)
	require.Equal(t, "amount_too_large", answer.json("error.code"))
}

func TestCaptureOfACapturedIntentIsRefusedAndShowsIt(t *testing.T) {
	b := start(t)
	id := b.create("capture_method=manual&confirm=true&payment_method=pm_card_visa")
	b.post(intents+"/"+id+"/capture", "", "")
	answer := b.post(intents+"/"+id+"/capture", "", "")
	require.Equal(t, http.StatusBadRequest, answer.status)
	require.Equal(t, "payment_intent_unexpected_state", answer.json("error.code"))
	require.Equal(t, "succeeded", answer.json("error.payment_intent.status"))
	require.Equal(t, 1, b.book(id).CapturesExecuted)
}

func TestAuthorisationExpiresIntoCanceled(t *testing.T) {
	for name, one := range map[string]struct {
		form string
		life time.Duration
	}{
		"customer-initiated":       {"payment_method=pm_card_visa", 7 * 24 * time.Hour},
		"visa merchant-initiated":  {"payment_method=pm_card_visa&off_session=true", 4*24*time.Hour + 18*time.Hour},
		"other merchant-initiated": {"payment_method=pm_card_mastercard&off_session=true", 7 * 24 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t)
			id := b.create("capture_method=manual&confirm=true&" + one.form)
			b.clock.advance(one.life - time.Second)
			require.Equal(t, "requires_capture", b.get(intents+"/"+id).json("status"))
			b.clock.advance(time.Second)
			read := b.get(intents + "/" + id)
			require.Equal(t, "canceled", read.json("status"))
			require.Equal(t, "automatic", read.json("cancellation_reason"))
			require.Equal(t, []string{"charge.expired", "payment_intent.canceled"}, b.types(id)[3:])
		})
	}
}

func TestBankDebitStaysInProcessingForDays(t *testing.T) {
	b := start(t)
	id := b.create("confirm=true&payment_method=pm_usBankAccount_success")
	require.Equal(t, "processing", b.get(intents+"/"+id).json("status"))
	require.Zero(t, b.book(id).Captured)
	b.clock.advance(4 * 24 * time.Hour)
	require.NoError(t, b.ctl.Tick(t.Context()))
	require.Equal(t, "succeeded", b.book(id).Status)
	require.EqualValues(t, 2000, b.book(id).Captured)
}

func TestBankDebitCanFailAfterDays(t *testing.T) {
	b := start(t)
	id := b.create("confirm=true&payment_method=pm_usBankAccount_insufficientFunds")
	b.clock.advance(4 * 24 * time.Hour)
	read := b.get(intents + "/" + id)
	require.Equal(t, "requires_payment_method", read.json("status"))
	require.Equal(t, "insufficient_funds", read.json("last_payment_error.decline_code"))
}

func TestUpdateOfMoneyIsRefusedOnceItMoved(t *testing.T) {
	b := start(t)
	id := b.create("confirm=true&payment_method=pm_card_visa")
	answer := b.post(intents+"/"+id, "amount=3000", "")
	require.Equal(t, "payment_intent_unexpected_state", answer.json("error.code"))
	answer = b.post(intents+"/"+id, "metadata[late]=1&description=x", "")
	require.Equal(t, http.StatusOK, answer.status, answer.body)
	require.Equal(t, "1", answer.json("metadata.late"))
	require.Equal(t, "x", answer.json("description"))
}

func TestUpdateChangesAmountAndMergesMetadata(t *testing.T) {
	b := start(t)
	id := b.create("metadata[a]=1&metadata[b]=2")
	answer := b.post(intents+"/"+id, "amount=2500&metadata[a]=&metadata[c]=3", "")
	require.EqualValues(t, 2500, answer.json("amount"))
	require.Equal(t, map[string]any{"b": "2", "c": "3"}, answer.json("metadata"))
	answer = b.post(intents+"/"+id, "metadata=", "")
	require.Empty(t, answer.json("metadata"))
}

func TestManualConfirmationNeedsASecondConfirm(t *testing.T) {
	b := start(t)
	id := b.create("confirmation_method=manual&confirm=true&payment_method=pm_card_threeDSecure2Required")
	_, err := b.ctl.Authenticate(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, "requires_confirmation", b.book(id).Status)
	require.Equal(t, "succeeded", b.confirm(id, "").json("status"))
}

func TestObjectsOfAnotherAccountOrModeAreMissing(t *testing.T) {
	b := start(t)
	id := b.create("confirm=true&payment_method=pm_card_visa")
	charge := b.get(intents + "/" + id).json("latest_charge").(string)
	for _, r := range []request{{auth: "Bearer sk_test_other"}, {auth: "Bearer sk_live_shop"}, {connected: "acct_seller"}} {
		for _, path := range []string{intents + "/" + id, "/v1/charges/" + charge} {
			r.method, r.path = http.MethodGet, path
			answer := b.do(r)
			require.Equal(t, http.StatusNotFound, answer.status)
			require.Equal(t, "resource_missing", answer.json("error.code"))
		}
		r.method, r.path = http.MethodPost, intents+"/"+id+"/cancel"
		require.Equal(t, http.StatusNotFound, b.do(r).status)
	}
}
