package stripesim_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v76"
	"github.com/stripe/stripe-go/v76/client"

	"payonce/stripesim"
	"payonce/stripesim/control"
)

func TestKeyNamesTheAccountAndTheMode(t *testing.T) {
	b := start(t)
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("sk_live_acme:"))
	for _, one := range []struct {
		auth, account string
		live          bool
	}{
		{"Bearer sk_test_acme", "acct_acme", false}, {"Bearer sk_live_acme", "acct_acme", true}, {basic, "acct_acme", true},
	} {
		answer := b.do(request{path: intents, form: "amount=100&currency=usd", auth: one.auth})
		require.Equal(t, one.live, answer.json("livemode"))
		book := b.book(answer.json("id").(string))
		require.Equal(t, one.account, book.Account)
		require.Equal(t, one.live, book.Livemode)
	}
}

func TestOtherKeysAreUnauthorized(t *testing.T) {
	b := start(t)
	for _, auth := range []string{"none", "Bearer ", "Bearer pk_test_x", "Bearer sk_test_", "Bearer sk_test_a/b", "sk_test_shop"} {
		answer := b.do(request{method: http.MethodGet, path: intents, auth: auth})
		require.Equal(t, http.StatusUnauthorized, answer.status, auth)
		require.Equal(t, "invalid_request_error", answer.json("error.type"))
	}
}

func TestConnectedAccountOwnsWhatIsMadeForIt(t *testing.T) {
	b := start(t)
	answer := b.do(request{path: intents, form: paidForm + "&application_fee_amount=100", connected: "acct_seller"})
	require.Equal(t, http.StatusOK, answer.status, answer.body)
	book := b.book(answer.json("id").(string))
	require.Equal(t, "acct_seller", book.Account)
	require.EqualValues(t, 88+100, book.Fees, "the application fee is paid by the connected account")
	require.Equal(t, http.StatusForbidden, b.do(request{method: http.MethodGet, path: intents, connected: "seller"}).status)
}

func TestParametersAreChecked(t *testing.T) {
	b := start(t)
	base := "amount=2000&currency=usd&"
	for name, one := range map[string]struct{ form, code, param string }{
		"no amount":            {"currency=usd", "parameter_missing", "amount"},
		"no currency":          {"amount=2000", "parameter_missing", "currency"},
		"amount not a number":  {"amount=abc&currency=usd", "parameter_invalid_integer", "amount"},
		"amount with a point":  {"amount=20.5&currency=usd", "parameter_invalid_integer", "amount"},
		"amount zero":          {"amount=0&currency=usd", "parameter_invalid_integer", "amount"},
		"amount negative":      {"amount=-5&currency=usd", "parameter_invalid_integer", "amount"},
		"unknown currency":     {"amount=2000&currency=xxx", "", "currency"},
		"unknown parameter":    {base + "colour=red", "parameter_unknown", "colour"},
		"unknown nested":       {base + "transfer_data[colour]=red", "parameter_unknown", "transfer_data[colour]"},
		"bad capture method":   {base + "capture_method=later", "", "capture_method"},
		"bad boolean":          {base + "confirm=maybe", "", "confirm"},
		"bad expand":           {base + "expand[]=colour", "", "expand"},
		"no such customer":     {base + "customer=bob", "resource_missing", "customer"},
		"bad method type":      {base + "payment_method_types[]=shells", "payment_intent_invalid_parameter", "payment_method_types"},
		"off_session alone":    {base + "off_session=true", "", "off_session"},
		"return_url alone":     {base + "return_url=https%3A%2F%2Fshop.example", "", "return_url"},
		"long descriptor":      {base + "statement_descriptor=" + strings.Repeat("a", 23), "", "statement_descriptor"},
		"fee above the amount": {base + "application_fee_amount=2001", "", "application_fee_amount"},
	} {
		t.Run(name, func(t *testing.T) {
			answer := b.post(intents, one.form, "")
			require.Equal(t, http.StatusBadRequest, answer.status, answer.body)
			require.Equal(t, "invalid_request_error", answer.json("error.type"))
			if one.code == "" {
				require.Nil(t, answer.json("error.code"))
			} else {
				require.Equal(t, one.code, answer.json("error.code"))
			}
			require.Equal(t, one.param, answer.json("error.param"))
		})
	}
	books, err := b.ctl.AllBooks(t.Context())
	require.NoError(t, err)
	require.Empty(t, books)
}

func TestConfirmKnowsItsParameters(t *testing.T) {
	b := start(t)
	id := b.create("")
	answer := b.confirm(id, "amount=5")
	require.Equal(t, "parameter_unknown", answer.json("error.code"))
}

func TestAmountsFollowTheirCurrency(t *testing.T) {
	b := start(t)
	for _, one := range []struct {
		amount int
		code   string // of the currency
		want   string // error code, or "" for success
	}{
		{50, "usd", ""}, {49, "usd", "amount_too_small"}, {30, "gbp", ""}, {29, "gbp", "amount_too_small"},
		{50, "jpy", ""}, {49, "jpy", "amount_too_small"}, {99999999, "usd", ""}, {100000000, "usd", "amount_too_large"},
		{9_999_999_999, "jpy", ""}, {10_000_000_000, "jpy", "amount_too_large"}, {999_999_999_999, "idr", ""}, {1_000_000_000_000, "idr", "amount_too_large"},
		{100, "isk", ""}, {150, "isk", "parameter_invalid_integer"}, {100, "ugx", ""}, {150, "ugx", "parameter_invalid_integer"},
		{1230, "kwd", ""}, {1234, "kwd", "parameter_invalid_integer"}, {17500, "huf", ""}, {17499, "huf", "amount_too_small"},
		{101, "twd", ""}, {1, "krw", ""},
	} {
		answer := b.post(intents, fmt.Sprintf("amount=%d&currency=%s", one.amount, one.code), "")
		if one.want == "" {
			require.Equal(t, http.StatusOK, answer.status, "%v %s", one, answer.body)
			continue
		}
		require.Equal(t, http.StatusBadRequest, answer.status, "%v", one)
		require.Equal(t, one.want, answer.json("error.code"), "%v", one)
		require.Equal(t, "amount", answer.json("error.param"))
	}
}

func TestCurrencyIsAnsweredInLowerCase(t *testing.T) {
	b := start(t)
	require.Equal(t, "usd", b.post(intents, "amount=2000&currency=USD", "").json("currency"))
}

func TestMetadataLimits(t *testing.T) {
	many := func(n int) string {
		var parts []string
		for i := range n {
			parts = append(parts, fmt.Sprintf("metadata[k%d]=v", i))
		}
		return strings.Join(parts, "&")
	}
	b := start(t)
	for name, one := range map[string]struct {
		form   string
		status int
	}{
		"50 keys":                {many(50), 200},
		"51st key is an error":   {many(51), 400},
		"name of 40":             {"metadata[" + strings.Repeat("n", 40) + "]=v", 200},
		"name of 41":             {"metadata[" + strings.Repeat("n", 41) + "]=v", 400},
		"value of 500":           {"metadata[k]=" + strings.Repeat("v", 500), 200},
		"value of 501":           {"metadata[k]=" + strings.Repeat("v", 501), 400},
		"500 letters, not bytes": {"metadata[k]=" + url.QueryEscape(strings.Repeat("é", 500)), 200},
	} {
		require.Equal(t, one.status, b.post(intents, "amount=2000&currency=usd&"+one.form, "").status, name)
	}
	id := b.create(many(50))
	require.Equal(t, http.StatusBadRequest, b.post(intents+"/"+id, "metadata[one_more]=v", "").status)
	require.Len(t, b.book(id).Metadata, 50)
}

func TestMetadataNamesMayLookLikeNumbers(t *testing.T) {
	b := start(t)
	id := b.create("metadata[1]=a&metadata[2]=b")
	require.Equal(t, map[string]string{"1": "a", "2": "b"}, b.book(id).Metadata)
}

func TestErrorTypesDecodeInStripeGo(t *testing.T) {
	b := start(t)
	api := b.stripe(testKey)
	_, err := api.PaymentIntents.Get("pi_missing", nil)
	var missing *stripe.Error
	require.ErrorAs(t, err, &missing)
	require.Equal(t, stripe.ErrorCodeResourceMissing, missing.Code)
	require.Equal(t, http.StatusNotFound, missing.HTTPStatusCode)
	require.NotEmpty(t, missing.RequestID)

	_, err = b.stripe("sk_nonsense").PaymentIntents.Get("pi_missing", nil)
	require.ErrorAs(t, err, &missing)
	require.Equal(t, http.StatusUnauthorized, missing.HTTPStatusCode)
}

func TestUnknownURLIsRefused(t *testing.T) {
	b := start(t)
	answer := b.get("/v1/nothing?a=b")
	require.Equal(t, http.StatusNotFound, answer.status)
	require.Contains(t, answer.json("error.message"), "GET: /v1/nothing")
	require.Equal(t, http.StatusNotFound, b.do(request{method: http.MethodDelete, path: intents + "/pi_x"}).status)
}

func TestBodyMustBeFormEncoded(t *testing.T) {
	b := start(t)
	answer := b.do(request{path: intents, form: `{"amount":2000}`, header: map[string]string{"Content-Type": "application/json"}})
	require.Equal(t, http.StatusBadRequest, answer.status)
}

func TestOtherAPIVersionIsRefused(t *testing.T) {
	b := start(t)
	answer := b.do(request{method: http.MethodGet, path: intents, header: map[string]string{"Stripe-Version": "2024-04-10"}})
	require.Equal(t, http.StatusBadRequest, answer.status)
}

func TestObjectOfTheOtherModeIsNamedInTheMessage(t *testing.T) {
	b := start(t)
	id := b.create("")
	answer := b.do(request{method: http.MethodGet, path: intents + "/" + id, auth: "Bearer sk_live_shop"})
	require.Equal(t, http.StatusNotFound, answer.status)
	require.Contains(t, answer.json("error.message"), "a similar object exists in test mode, but a live mode key was used")
}

func TestThousandUpdatesOfAnIntentAnHour(t *testing.T) {
	b := start(t)
	id := b.create("")
	for range 1000 {
		require.Equal(t, http.StatusOK, b.post(intents+"/"+id, "description=x", "").status)
	}
	require.Equal(t, "rate_limit", b.confirm(id, "payment_method=pm_card_visa").json("error.code"))
	b.clock.advance(time.Hour)
	require.Equal(t, "succeeded", b.confirm(id, "payment_method=pm_card_visa").json("status"))
}

func TestStripeGoRetriesAsTheTwinSays(t *testing.T) {
	b := start(t)
	backend := stripe.GetBackendWithConfig(stripe.APIBackend, &stripe.BackendConfig{URL: stripe.String(b.server.URL),
		MaxNetworkRetries: stripe.Int64(2), EnableTelemetry: stripe.Bool(false), HTTPClient: b.http,
		LeveledLogger: &stripe.LeveledLogger{Level: stripe.LevelNull}})
	api := client.New(testKey, &stripe.Backends{API: backend, Connect: backend, Uploads: backend})
	for _, one := range []struct {
		fault string
		sends int
	}{{control.FaultLockTimeout, 2}, {control.FaultRateLimited, 1}, {control.FaultErrorAfter, 1}, {control.FaultRefused, 1}} {
		b.fault(control.Rule{ID: one.fault, Fault: one.fault, Times: 1})
		params := &stripe.PaymentIntentParams{Amount: stripe.Int64(2000), Currency: stripe.String("usd")}
		params.SetIdempotencyKey(one.fault)
		_, err := api.PaymentIntents.New(params)
		require.Equal(t, one.sends == 1, err != nil, one.fault)
		rows, err := b.ctl.AllRequests(t.Context())
		require.NoError(t, err)
		sends := 0
		for _, row := range rows {
			if row.IdempotencyKey == one.fault {
				sends++
			}
		}
		require.Equal(t, one.sends, sends, one.fault)
	}
}

func TestRateLimitPerAccountAndMode(t *testing.T) {
	b := start(t, func(c *stripesim.Config) { c.TestRate = 2 })
	require.Equal(t, http.StatusOK, b.get(intents).status)
	require.Equal(t, http.StatusOK, b.get(intents).status)
	answer := b.get(intents)
	require.Equal(t, http.StatusTooManyRequests, answer.status)
	require.Equal(t, "rate_limit", answer.json("error.code"))
	require.Equal(t, http.StatusOK, b.do(request{method: http.MethodGet, path: intents, auth: "Bearer sk_test_other"}).status)
	b.clock.advance(500_000_000)
	require.Equal(t, http.StatusOK, b.get(intents).status)
}
