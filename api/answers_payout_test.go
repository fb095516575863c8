package api_test

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"payonce/payments"
)

// payoutCases bring about what docs/answers.md says of payouts.
func payoutCases() map[string]func(*scene) {
	return map[string]func(*scene){
		"Payout 201":                               (*scene).base,
		"Payout 200 after the window":              (*scene).afterTheWindow,
		"Payout 400 field_invalid by the currency": func(s *scene) { s.base(); s.body = strings.Replace(s.body, "usd", "huf", 1); s.amount("310") },
		"Payout 402 provider_refused":              func(s *scene) { s.base(); s.refusedAt("/v1/payouts") },
		"Payout 409 amount_too_large":              func(s *scene) { s.base(); s.amount("99999999") },
		"Payout 409 reference_conflict":            (*scene).otherContentUnderTheReference,
		"Get payout 200":                           (*scene).base,
		"Get payout 404 payout_not_found":          func(s *scene) { s.base(); s.path = "/v1/payouts/" + uuid.NewString() },
		"List payouts 200":                         (*scene).base,
		"List payouts 400 parameter_invalid":       func(s *scene) { s.base(); s.path += "?status=paid" },
	}
}

// amount changes how much is to be paid out.
func (s *scene) amount(amount string) { s.body = strings.Replace(s.body, "300", amount, 1) }

// baseOfPayouts is base for what tells of payouts.
func (s *scene) baseOfPayouts() {
	s.path = "/v1/payouts"
	switch s.operation {
	case "create_payout":
		s.method, s.body = http.MethodPost, `{"amount":300,"currency":"usd","reference":"`+key()+`"}`
		s.pay(map[string]any{"amount": 10_000, "payment_method": "pm_card_bypassPending"}) // which Stripe releases at once
	case "get_payout":
		s.path += "/" + s.payout().ID.String()
	}
}

// payout pays out a part of a payment of its own.
func (s *scene) payout() payments.PayoutView {
	s.t.Helper()
	create := &scene{t: s.t, system: s.system, operation: "create_payout"}
	create.base()
	create.headers["Prefer"] = "wait=30"
	created := create.ask()
	require.Equal(s.t, http.StatusCreated, created.status, created.body)
	var view payments.PayoutView
	require.NoError(s.t, json.Unmarshal([]byte(created.body), &view))
	return view
}
