package stripesim_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v76"

	"payonce/stripesim"
	"payonce/stripesim/control"
)

const shop = "https://shop.example/back?order=7"

// asks confirms an intent with a method that asks the payer, and returns the address of the page.
func (b *bench) asks(id, form string) string {
	b.t.Helper()
	answer := b.confirm(id, "payment_method=pm_card_authenticationRequired&return_url="+url.QueryEscape(shop)+"&"+form)
	require.Equal(b.t, http.StatusOK, answer.status, answer.body)
	require.Equal(b.t, "requires_action", answer.json("status"))
	require.Equal(b.t, "redirect_to_url", answer.json("next_action.type"))
	require.Equal(b.t, shop, answer.json("next_action.redirect_to_url.return_url"))
	return answer.json("next_action.redirect_to_url.url").(string)
}

// browse is the payer's browser; it does not follow redirects.
func (b *bench) browse(method, address, form string) (status int, body, location string) {
	b.t.Helper()
	made, err := http.NewRequestWithContext(b.t.Context(), method, address, strings.NewReader(form))
	require.NoError(b.t, err)
	if form != "" {
		made.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	response, err := b.http.Transport.RoundTrip(made)
	require.NoError(b.t, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	require.NoError(b.t, err)
	return response.StatusCode, string(text), response.Header.Get("Location")
}

func TestChallengePageAsksThePayerAndSendsHimBack(t *testing.T) {
	for name, one := range map[string]struct {
		form, outcome    string
		status, redirect string
		charges          int
		events           []string
	}{
		"complete": {"", "complete", "succeeded", "succeeded", 1, []string{"charge.succeeded", "payment_intent.succeeded"}},
		"complete a hold": {"capture_method=manual", "complete", "requires_capture", "succeeded", 1,
			[]string{"charge.succeeded", "payment_intent.amount_capturable_updated"}},
		"fail": {"", "fail", "requires_payment_method", "failed", 0, []string{"payment_intent.payment_failed"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t)
			id := b.create(one.form)
			page := b.asks(id, "")
			require.True(t, strings.HasPrefix(page, b.server.URL+"/"), page)

			status, body, _ := b.browse(http.MethodGet, page, "")
			require.Equal(t, http.StatusOK, status)
			require.Contains(t, body, `value="complete"`)
			require.Contains(t, body, `value="fail"`)
			require.Equal(t, "requires_action", b.book(id).Status, "looking changes nothing")

			status, _, location := b.browse(http.MethodPost, page, "outcome="+one.outcome)
			require.Equal(t, http.StatusSeeOther, status)
			read := b.get(intents + "/" + id)
			back, err := url.Parse(location)
			require.NoError(t, err)
			require.Equal(t, "shop.example/back", back.Host+back.Path)
			require.Equal(t, url.Values{"order": {"7"}, "payment_intent": {id}, "payment_intent_client_secret": {read.json("client_secret").(string)},
				"redirect_status": {one.redirect}}, back.Query())
			require.Equal(t, one.status, read.json("status"))
			require.Nil(t, read.json("next_action"))
			require.Equal(t, one.charges, b.book(id).ChargesSucceeded)
			require.Zero(t, b.book(id).ChargesFailed)
			require.Equal(t, append([]string{"payment_intent.created", "payment_intent.requires_action"}, one.events...), b.types(id))
			if one.outcome == "fail" {
				require.Equal(t, "payment_intent_authentication_failure", read.json("last_payment_error.code"))
				require.Nil(t, read.json("latest_charge"))
			}
		})
	}
}

func TestStripeGoReadsTheRedirect(t *testing.T) {
	b := start(t)
	intent, err := b.stripe(testKey).PaymentIntents.Confirm(b.create(""), &stripe.PaymentIntentConfirmParams{
		PaymentMethod: stripe.String("pm_card_threeDSecure2Required"), ReturnURL: stripe.String(shop)})
	require.NoError(t, err)
	require.Equal(t, stripe.PaymentIntentNextActionType("redirect_to_url"), intent.NextAction.Type)
	require.Equal(t, shop, intent.NextAction.RedirectToURL.ReturnURL)
	require.NotEmpty(t, intent.NextAction.RedirectToURL.URL)
}

func TestStaleChallengePageSaysSoAndChangesNothing(t *testing.T) {
	for name, end := range map[string]func(*bench, string, string){
		"canceled":    func(b *bench, id, _ string) { b.post(intents+"/"+id+"/cancel", "", "") },
		"done":        func(b *bench, _, page string) { b.browse(http.MethodPost, page, "outcome=complete") },
		"failed":      func(b *bench, _, page string) { b.browse(http.MethodPost, page, "outcome=fail") },
		"done aside":  func(b *bench, id, _ string) { _, _ = b.ctl.Authenticate(b.t.Context(), id) },
		"updated":     func(b *bench, id, _ string) { b.post(intents+"/"+id, "payment_method=pm_card_visa", "") },
		"new attempt": func(b *bench, id, _ string) { b.asks(id, "") },
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t)
			id := b.create("")
			page := b.asks(id, "")
			end(b, id, page)
			before, events := b.book(id), b.types(id)
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				status, body, location := b.browse(method, page, "outcome=complete")
				require.Equal(t, http.StatusGone, status)
				require.Contains(t, body, `id="stale"`)
				require.NotContains(t, body, "<form")
				require.Empty(t, location)
			}
			require.Equal(t, before, b.book(id))
			require.Equal(t, events, b.types(id))
		})
	}
}

func TestChallengePageOfNoPaymentIsNotFound(t *testing.T) {
	b := start(t)
	status, body, _ := b.browse(http.MethodGet, b.server.URL+"/challenge/pi_x/y", "")
	require.Equal(t, http.StatusNotFound, status)
	require.Contains(t, body, `id="stale"`)
}

func TestChallengeWantsAnOutcome(t *testing.T) {
	b := start(t)
	id := b.create("")
	status, _, _ := b.browse(http.MethodPost, b.asks(id, ""), "outcome=maybe")
	require.Equal(t, http.StatusBadRequest, status)
	require.Equal(t, "requires_action", b.book(id).Status)
}

func TestAbandonedChallengeStaysForEver(t *testing.T) {
	b := start(t)
	id := b.create("")
	b.asks(id, "")
	b.clock.advance(365 * 24 * 60 * 60 * 1e9)
	require.NoError(t, b.ctl.Tick(t.Context()))
	require.Equal(t, "requires_action", b.book(id).Status)
}

func TestConfirmDuringAChallengeBeginsAnotherAttempt(t *testing.T) {
	b := start(t)
	id := b.create("")
	page := b.asks(id, "")
	require.Equal(t, "succeeded", b.confirm(id, "payment_method=pm_card_visa").json("status"))
	status, _, _ := b.browse(http.MethodPost, page, "outcome=complete")
	require.Equal(t, http.StatusGone, status)
	require.Equal(t, 1, b.book(id).ChargesSucceeded)

	again := b.create("")
	page = b.asks(again, "")
	renewed := b.asks(again, "")
	require.NotEqual(t, page, renewed)
	status, _, _ = b.browse(http.MethodPost, renewed, "outcome=complete")
	require.Equal(t, http.StatusSeeOther, status)
	require.Equal(t, 1, b.book(again).ChargesSucceeded)
}

func TestChallengeWithoutReturnURLIsForTheSDK(t *testing.T) {
	b := start(t)
	id := b.create("confirm=true&payment_method=pm_card_authenticationRequired")
	read := b.get(intents + "/" + id)
	require.Equal(t, "use_stripe_sdk", read.json("next_action.type"))
	status, body, location := b.browse(http.MethodPost, read.json("next_action.use_stripe_sdk.stripe_js").(string), "outcome=complete")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, `id="done"`)
	require.Empty(t, location)
	require.Equal(t, "succeeded", b.book(id).Status)
}

func TestPassedChallengeMayStillBeDeclined(t *testing.T) {
	b := start(t)
	id := b.create("")
	answer := b.confirm(id, "payment_method=pm_card_threeDSecureRequiredChargeDeclined&return_url="+url.QueryEscape(shop))
	page := answer.json("next_action.redirect_to_url.url").(string)
	_, _, location := b.browse(http.MethodPost, page, "outcome=complete")
	require.Contains(t, location, "redirect_status=failed")
	require.Equal(t, "card_declined", b.get(intents+"/"+id).json("last_payment_error.code"))
	require.Equal(t, 1, b.book(id).ChargesFailed)
}

func TestReturnURLMustBeAURL(t *testing.T) {
	b := start(t)
	id := b.create("")
	for sent, status := range map[string]int{"shop": 400, "%3A%2F%2F": 400, "https%3A%2F%2Fshop.example": 200, "shop-app%3A%2F%2Fback": 200} {
		answer := b.confirm(id, "payment_method=pm_card_authenticationRequired&return_url="+sent)
		require.Equal(t, status, answer.status, sent)
		if status == 400 {
			require.Equal(t, "url_invalid", answer.json("error.code"))
		}
	}
}

func TestPageIsWhereThePublicURLSays(t *testing.T) {
	b := start(t, func(c *stripesim.Config) { c.PublicURL = "https://twin.example" })
	id := b.create("")
	require.True(t, strings.HasPrefix(b.asks(id, ""), "https://twin.example/challenge/"+id+"/"))
}

func TestPayerPaysWithAChallenge(t *testing.T) {
	b := start(t)
	id := b.create("")
	_, err := b.ctl.Pay(t.Context(), id, control.Pay{PaymentMethod: "pm_card_threeDSecure2Required"})
	require.NoError(t, err)
	page := b.get(intents + "/" + id).json("next_action.use_stripe_sdk.stripe_js").(string)
	status, _, _ := b.browse(http.MethodPost, page, "outcome=complete")
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "succeeded", b.book(id).Status)
}
