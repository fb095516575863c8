package stripesim_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v76"

	"payonce/stripesim/control"
)

func TestEachDeclineHasItsCodes(t *testing.T) {
	for method, want := range map[string][2]string{
		"pm_card_chargeDeclined":                       {"card_declined", "generic_decline"},
		"pm_card_visa_chargeDeclined":                  {"card_declined", "generic_decline"},
		"pm_card_chargeDeclinedInsufficientFunds":      {"card_declined", "insufficient_funds"},
		"pm_card_visa_chargeDeclinedInsufficientFunds": {"card_declined", "insufficient_funds"},
		"pm_card_chargeDeclinedLostCard":               {"card_declined", "lost_card"},
		"pm_card_chargeDeclinedStolenCard":             {"card_declined", "stolen_card"},
		"pm_card_chargeDeclinedFraudulent":             {"card_declined", "fraudulent"},
		"pm_card_chargeDeclinedVelocityLimitExceeded":  {"card_declined", "card_velocity_exceeded"},
		"pm_card_chargeDeclinedExpiredCard":            {"expired_card", "expired_card"},
		"pm_card_chargeDeclinedIncorrectCvc":           {"incorrect_cvc", "incorrect_cvc"},
		"pm_card_chargeDeclinedProcessingError":        {"processing_error", "processing_error"},
	} {
		t.Run(method, func(t *testing.T) {
			b := start(t)
			id := b.create("")
			_, err := b.stripe(testKey).PaymentIntents.Confirm(id, &stripe.PaymentIntentConfirmParams{PaymentMethod: stripe.String(method)})
			var declined *stripe.Error
			require.ErrorAs(t, err, &declined)
			require.Equal(t, http.StatusPaymentRequired, declined.HTTPStatusCode)
			require.Equal(t, stripe.ErrorTypeCard, declined.Type)
			require.EqualValues(t, want[0], declined.Code)
			require.EqualValues(t, want[1], declined.DeclineCode)
			require.Equal(t, id, declined.PaymentIntent.ID)
			require.Equal(t, stripe.PaymentIntentStatusRequiresPaymentMethod, declined.PaymentIntent.Status)
			require.EqualValues(t, want[0], declined.PaymentIntent.LastPaymentError.Code)
			require.NotEmpty(t, declined.ChargeID)
			require.NotEmpty(t, declined.PaymentMethod.ID)
			require.NotEmpty(t, declined.Msg)
			require.Contains(t, declined.DocURL, "stripe.com/docs/error-codes/")
			require.Contains(t, declined.RequestLogURL, declined.RequestID)
		})
	}
}

func TestGoodCardsPay(t *testing.T) {
	b := start(t)
	for _, method := range []string{"pm_card_visa", "pm_card_mastercard", "pm_card_amex", "pm_card_visa_debit"} {
		require.Equal(t, "succeeded", b.confirm(b.create(""), "payment_method="+method).json("status"), method)
	}
}

func TestTestPaymentMethodBecomesAnOwnOneThatCanBeUsedAgain(t *testing.T) {
	b := start(t)
	first := b.get(intents + "/" + b.create("payment_method=pm_card_visa") + "?expand[]=payment_method")
	require.Equal(t, "visa", first.json("payment_method.card.brand"))
	own := first.json("payment_method.id").(string)
	require.NotEqual(t, "pm_card_visa", own)
	require.Equal(t, "succeeded", b.confirm(b.create(""), "payment_method="+own).json("status"))
}

func TestUnknownPaymentMethodIsMissing(t *testing.T) {
	b := start(t)
	answer := b.confirm(b.create(""), "payment_method=pm_nothing")
	require.Equal(t, http.StatusBadRequest, answer.status)
	require.Equal(t, "resource_missing", answer.json("error.code"))
	require.Equal(t, "payment_method", answer.json("error.param"))
}

func TestPaymentMethodMustBeOfAnAllowedType(t *testing.T) {
	b := start(t)
	answer := b.confirm(b.create("payment_method_types[]=card"), "payment_method=pm_usBankAccount_success")
	require.Equal(t, http.StatusBadRequest, answer.status)
	require.Equal(t, "payment_method", answer.json("error.param"))
}

func TestChallengeOnSessionAsksThePayer(t *testing.T) {
	b := start(t)
	id := b.create("")
	answer := b.confirm(id, "payment_method=pm_card_authenticationRequired&return_url=https%3A%2F%2Fshop.example%2Fback")
	require.Equal(t, http.StatusOK, answer.status)
	require.Equal(t, "requires_action", answer.json("status"))
	require.Equal(t, "redirect_to_url", answer.json("next_action.type"))
	require.Nil(t, answer.json("latest_charge"))

	book, err := b.ctl.Authenticate(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, "succeeded", book.Status)
	require.EqualValues(t, 2000, book.Captured)
	require.Equal(t, 1, book.ConfirmsExecuted)
}

func TestFailedChallengeReturnsToRequiresPaymentMethodWithoutACharge(t *testing.T) {
	b := start(t)
	id := b.create("confirm=true&payment_method=pm_card_threeDSecure2Required")
	require.Equal(t, "use_stripe_sdk", b.get(intents+"/"+id).json("next_action.type"))
	_, err := b.ctl.Fail(t.Context(), id, control.Fail{})
	require.NoError(t, err)
	read := b.get(intents + "/" + id)
	require.Equal(t, "requires_payment_method", read.json("status"))
	require.Equal(t, "payment_intent_authentication_failure", read.json("last_payment_error.code"))
	require.Nil(t, read.json("latest_charge"))
	require.Equal(t, []string{"payment_intent.created", "payment_intent.requires_action", "payment_intent.payment_failed"}, b.types(id))
}

func TestChallengeOffSessionIsADecline(t *testing.T) {
	b := start(t)
	id := b.create("")
	answer := b.confirm(id, "payment_method=pm_card_authenticationRequired&off_session=true")
	require.Equal(t, http.StatusPaymentRequired, answer.status)
	require.Equal(t, "authentication_required", answer.json("error.code"))
	require.Equal(t, "requires_payment_method", answer.json("error.payment_intent.status"))
	require.Equal(t, 1, b.book(id).ChargesFailed)
}

func TestErrorOnRequiresActionDeclinesInsteadOfAsking(t *testing.T) {
	b := start(t)
	answer := b.confirm(b.create(""), "payment_method=pm_card_authenticationRequired&error_on_requires_action=true")
	require.Equal(t, http.StatusPaymentRequired, answer.status)
	require.Equal(t, "authentication_required", answer.json("error.code"))
}

func TestDebitCanBeEndedByHand(t *testing.T) {
	b := start(t)
	good := b.create("confirm=true&payment_method=pm_usBankAccount_success")
	bad := b.create("confirm=true&payment_method=pm_usBankAccount_success")
	_, err := b.ctl.Succeed(t.Context(), good)
	require.NoError(t, err)
	_, err = b.ctl.Fail(t.Context(), bad, control.Fail{Code: "payment_method_provider_decline", DeclineCode: "account_closed", Message: "The account is closed."})
	require.NoError(t, err)
	require.Equal(t, "succeeded", b.book(good).Status)
	require.Equal(t, "account_closed", b.get(intents+"/"+bad).json("last_payment_error.decline_code"))
	require.Zero(t, b.book(bad).Captured)

	_, err = b.ctl.Succeed(t.Context(), good)
	var refused *control.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, http.StatusConflict, refused.Status)
}

func TestPayerWithTheClientSecretPaysWithoutAKeyOfOurs(t *testing.T) {
	b := start(t)
	id := b.create("")
	secret := b.get(intents + "/" + id).json("client_secret").(string)
	_, err := b.ctl.Pay(t.Context(), id, control.Pay{PaymentMethod: "pm_card_visa", ClientSecret: "wrong"})
	require.Error(t, err)
	sends := b.lastRequest().Seq
	book, err := b.ctl.Pay(t.Context(), id, control.Pay{PaymentMethod: "pm_card_visa", ClientSecret: secret})
	require.NoError(t, err)
	require.Equal(t, "succeeded", book.Status)
	require.Equal(t, 1, book.PayerConfirms)
	require.Zero(t, book.ConfirmsExecuted)
	require.Equal(t, sends, b.lastRequest().Seq, "the payer's browser is not in the log of our sends")
	events, err := b.ctl.Events(t.Context(), control.EventsQuery{PaymentIntent: id, Type: "payment_intent.succeeded"})
	require.NoError(t, err)
	require.NotEmpty(t, events[0].RequestID)
	require.Empty(t, events[0].IdempotencyKey)
}
