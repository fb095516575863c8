package api_test

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"payonce/internal/app"
	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

// captureCases bring about what docs/answers.md says of captures.
func captureCases() map[string]func(*scene) {
	return map[string]func(*scene){
		"Capture 200":                                (*scene).base,
		"Capture 200 after the window":               (*scene).afterTheWindow,
		"Capture 200 of what was captured elsewhere": func(s *scene) { s.capturedElsewhere() },
		"Capture 400 field_invalid by the currency": func(s *scene) {
			s.base()
			s.about(s.pay(held("kwd", 18_600)).ID)
			s.body = `{"amount":15,"reference":"parcel-1"}`
		},
		"Capture 402 provider_refused":         func(s *scene) { s.base(); s.refusedAt("/v1/payment_intents/*/capture") },
		"Capture 404 payment_not_found":        func(s *scene) { s.base(); s.about(payments.PaymentID{UUID: uuid.New()}) },
		"Capture 409 amount_too_large":         func(s *scene) { s.base(); s.body = `{"amount":1001,"reference":"parcel-1"}` },
		"Capture 409 payment_ended":            func(s *scene) { s.base(); s.cancel() },
		"Capture 409 payment_ended at Stripe":  func(s *scene) { s.canceledElsewhere() },
		"Capture 409 payment_succeeded":        func(s *scene) { s.base(); s.about(s.pay(nil).ID) },
		"Capture 409 payment_unexpected_state": func(s *scene) { s.base(); s.about(s.pay(map[string]any{"payment_method": nil}).ID) },
		"Capture 409 reference_conflict":       (*scene).otherContentUnderTheReference,
	}
}

// refundCases bring about what docs/answers.md says of refunds.
func refundCases() map[string]func(*scene) {
	return map[string]func(*scene){
		"Refund 200 after the window": (*scene).afterTheWindow,
		"Refund 200 of a hold":        func(s *scene) { s.base(); s.about(s.pay(held("usd", 1000)).ID); s.body = `{}` },
		"Refund 201":                  (*scene).base,
		"Refund 400 field_invalid by the currency": func(s *scene) {
			s.base()
			s.about(s.pay(map[string]any{"currency": "kwd", "amount": 18_600}).ID)
			s.body = `{"amount":15,"reference":"item-1"}`
		},
		"Refund 402 provider_refused":         func(s *scene) { s.base(); s.refusedAt("/v1/refunds") },
		"Refund 404 payment_not_found":        func(s *scene) { s.base(); s.about(payments.PaymentID{UUID: uuid.New()}) },
		"Refund 409 amount_too_large":         func(s *scene) { s.base(); s.body = `{"amount":1001,"reference":"item-1"}` },
		"Refund 409 payment_ended":            func(s *scene) { s.base(); s.about(s.pay(map[string]any{"payment_method": nil}).ID); s.cancel() },
		"Refund 409 payment_succeeded":        func(s *scene) { s.capturedElsewhere() },
		"Refund 409 payment_unexpected_state": func(s *scene) { s.base(); s.about(s.pay(held("usd", 1000)).ID) },
		"Refund 409 reference_conflict":       (*scene).otherContentUnderTheReference,

		"Every read without parameters 400 parameter_invalid": func(s *scene) { s.base(); s.path += "?expand=charges" },

		"Get refund 200":                  (*scene).base,
		"Get refund 404 refund_not_found": func(s *scene) { s.base(); s.path = "/v1/refunds/" + uuid.NewString() },

		"List refunds 200":                   (*scene).base,
		"List refunds 404 payment_not_found": func(s *scene) { s.base(); s.about(payments.PaymentID{UUID: uuid.New()}) },
	}
}

// baseOfMoney is base for what takes or gives back money.
func (s *scene) baseOfMoney() {
	switch s.operation {
	case "capture_payment":
		s.method, s.body = http.MethodPost, `{"amount":300,"reference":"parcel-1"}`
		s.about(s.pay(held("usd", 1000)).ID)
	case "create_refund":
		s.method, s.body = http.MethodPost, `{"amount":300,"reference":"item-1"}`
		s.about(s.pay(nil).ID)
	case "list_refunds":
		s.about(s.refund().Payment)
	case "get_refund":
		s.path = "/v1/refunds/" + s.refund().ID.String()
	}
}

// held changes an order to one whose money is only held.
func held(currency string, amount int) map[string]any {
	return map[string]any{"capture_method": "manual", "currency": currency, "amount": amount}
}

// refund gives back a part of a payment of its own.
func (s *scene) refund() payments.RefundView {
	s.t.Helper()
	create := &scene{
		t: s.t, system: s.system, operation: "create_refund", method: http.MethodPost, body: `{"amount":300}`,
		headers: map[string]string{"Idempotency-Key": key(), "Prefer": "wait=30"},
	}
	create.about(s.pay(nil).ID)
	created := create.ask()
	require.Equal(s.t, http.StatusCreated, created.status, created.body)
	var view payments.RefundView
	require.NoError(s.t, json.Unmarshal([]byte(created.body), &view))
	return view
}

// otherContentUnderTheReference asks again for another amount under the reference of what was asked for.
func (s *scene) otherContentUnderTheReference() {
	s.base()
	require.Less(s.t, s.ask().status, http.StatusBadRequest)
	s.otherContent()
	s.headers["Idempotency-Key"] = key()
}

// heldElsewhere asks for all of a hold about which somebody else decides, in a system of its own that no event reaches and that asks Stripe
// for nothing by itself.
func (s *scene) heldElsewhere() string {
	s.system = system.Start(s.t, func(c *app.Config) { c.Timing.PollAfter, c.Timing.PollMaximum = 24*time.Hour, 48*time.Hour })
	s.base()
	hold := s.pay(held("usd", 1000))
	s.about(hold.ID)
	s.body = `{}`
	s.system.Settle() // what was told of the hold is read: it would show what is to happen
	s.system.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDrop})
	return hold.PaymentIntent
}

func (s *scene) canceledElsewhere() {
	intent := s.heldElsewhere()
	_, err := s.system.Twin.CancelElsewhere(s.t.Context(), intent, control.CancelElsewhere{})
	require.NoError(s.t, err)
}

func (s *scene) capturedElsewhere() {
	intent := s.heldElsewhere()
	_, err := s.system.Twin.CaptureElsewhere(s.t.Context(), intent, control.CaptureElsewhere{})
	require.NoError(s.t, err)
}
