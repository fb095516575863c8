package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"payonce/api"
	"payonce/boundaries"
	"payonce/internal/tenants"
	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

// answerCases bring about what docs/answers.md speaks of: section and answer → how.
func answerCases() map[string]func(*scene) {
	cases := map[string]func(*scene){
		"Every operation 401 unauthorized":    func(s *scene) { s.base(); s.headers["Authorization"] = "Bearer payonce_" + strings.Repeat("A", 43) },
		"Every operation 403 forbidden_scope": func(s *scene) { s.base(); s.headers["Authorization"] = "Bearer " + s.keyOfOtherScope() },
		"Every operation 500 internal":        func(s *scene) { s.base(); s.atAFaultyDoor() },
		"Every operation 503 unavailable":     func(s *scene) { s.base(); s.atADoorWithoutDatabase() },

		"Every command at Stripe 202":               func(s *scene) { s.base(); s.headers["Prefer"] = "wait=0" },
		"Every command 400 body_invalid":            func(s *scene) { s.base(); s.body = `amount=1000` },
		"Every command 400 card_data_refused":       func(s *scene) { s.base(); s.headers["Idempotency-Key"] = "4242424242424242" },
		"Every command 400 field_invalid":           func(s *scene) { s.base(); s.body = `{"amout":1000}` },
		"Every command 400 idempotency_key_invalid": func(s *scene) { s.base(); s.headers["Idempotency-Key"] = `""` },
		"Every command 400 idempotency_key_missing": func(s *scene) { s.base(); s.headers["Idempotency-Key"] = "" },
		"Every command 400 prefer_invalid":          func(s *scene) { s.base(); s.headers["Prefer"] = "wait=31" },
		"Every command 400 query_refused":           func(s *scene) { s.base(); s.path += "?dry_run=1" },
		"Every command 408 body_too_slow":           func(s *scene) { s.base(); s.slowly() },
		"Every command at Stripe 409 in_progress":   func(s *scene) { s.base(); s.whileHeld(s.copyOf()) },
		"Every command 413 body_too_large":          func(s *scene) { s.base(); s.body += strings.Repeat(" ", api.MaxBody) },
		"Every command 415 media_type_unsupported":  func(s *scene) { s.base(); s.headers["Content-Type"] = "text/plain" },
		"Every command 422 key_reused":              func(s *scene) { s.base(); s.ask(); s.otherContent() },

		"Create 201":                  (*scene).base,
		"Create 200 after the window": (*scene).afterTheWindow,
		"Create 400 field_invalid of a customer": func(s *scene) {
			s.base()
			s.body = asJSON(system.With(system.Order(key(), 1000), "customer", key()))
		},
		"Create 400 field_invalid of a wallet": func(s *scene) {
			s.base()
			s.body = asJSON(system.With(system.Order(key(), 1000), "destinations", []payments.Destination{{Account: "wallet:nobody:stripe", Amount: 1000}}))
		},
		"Create 402 provider_refused":   func(s *scene) { s.base(); s.refusedAt("/v1/payment_intents") },
		"Create 409 expired_unsent":     (*scene).unsent,
		"Create 409 reference_conflict": func(s *scene) { s.base(); s.ask(); s.otherContent(); s.headers["Idempotency-Key"] = key() },
		"Create 409 reference_ended":    func(s *scene) { s.base(); s.replaces(s.pay(nil).ID) },
		"Create 409 replaces_unknown":   func(s *scene) { s.base(); s.replaces(payments.PaymentID{UUID: uuid.New()}) },

		"Confirm 200":                          (*scene).base,
		"Confirm 200 after the window":         (*scene).afterTheWindow,
		"Confirm 402 provider_refused":         func(s *scene) { s.base(); s.refusedAt("/v1/payment_intents/*/confirm") },
		"Confirm 404 payment_not_found":        func(s *scene) { s.base(); s.about(payments.PaymentID{UUID: uuid.New()}) },
		"Confirm 409 expired_unsent":           (*scene).unsent,
		"Confirm 409 payment_ended":            func(s *scene) { s.base(); s.cancel() },
		"Confirm 409 payment_succeeded":        func(s *scene) { s.base(); s.about(s.pay(nil).ID) },
		"Confirm 409 payment_unexpected_state": func(s *scene) { s.base(); s.about(s.pay(map[string]any{"capture_method": "manual"}).ID) },
		"Confirm 409 reference_conflict": func(s *scene) {
			s.base()
			s.whileHeld(s.copyOf())
			s.otherContent()
			s.headers["Idempotency-Key"] = key()
		},

		"Cancel 200":                          (*scene).base,
		"Cancel 200 after the window":         (*scene).afterTheWindow,
		"Cancel 404 payment_not_found":        func(s *scene) { s.base(); s.about(payments.PaymentID{UUID: uuid.New()}) },
		"Cancel 409 payment_succeeded":        func(s *scene) { s.base(); s.about(s.pay(nil).ID) },
		"Cancel 409 payment_unexpected_state": func(s *scene) { s.base(); s.about(s.pay(bankDebit()).ID) },

		"Get 200":                   (*scene).base,
		"Get 304":                   func(s *scene) { s.base(); s.headers["If-None-Match"] = s.ask().header.Get("ETag") },
		"Get 400 prefer_invalid":    func(s *scene) { s.base(); s.headers["Prefer"] = "wait=soon" },
		"Get 404 payment_not_found": func(s *scene) { s.base(); s.about(payments.PaymentID{UUID: uuid.New()}) },

		"List 200":                   (*scene).base,
		"List 400 card_data_refused": func(s *scene) { s.base(); s.path += "?reference=4242424242424242" },
		"List 400 parameter_invalid": func(s *scene) { s.base(); s.path += "?limit=0" },

		"Timeline 200":                   (*scene).base,
		"Timeline 400 parameter_invalid": func(s *scene) { s.base(); s.path += "?limit=0" },
		"Timeline 404 payment_not_found": func(s *scene) { s.base(); s.about(payments.PaymentID{UUID: uuid.New()}) },

		"Elsewhere 404 route_not_found":    func(s *scene) { s.method, s.path = http.MethodGet, "/v1/charges" },
		"Elsewhere 405 method_not_allowed": func(s *scene) { s.method, s.path = http.MethodDelete, "/v1/payments" },
	}
	maps.Copy(cases, captureCases())
	maps.Copy(cases, refundCases())
	maps.Copy(cases, payoutCases())
	maps.Copy(cases, provisionCases())
	maps.Copy(cases, disputeCases())
	return cases
}

// base is a request of the operation that nothing is wrong with, about a payment that waits for a method or, of one that needs it, has the money.
func (s *scene) base() {
	s.method, s.path, s.headers = http.MethodGet, "/v1/payments", map[string]string{"Idempotency-Key": key()}
	switch s.operation {
	case "create_payment":
		s.method, s.body = http.MethodPost, asJSON(system.Order(key(), 1000))
	case "confirm_payment", "cancel_payment":
		s.method, s.body = http.MethodPost, `{"payment_method":"pm_card_visa"}`
		if s.operation == "cancel_payment" {
			s.body = `{}`
		}
		s.about(s.pay(map[string]any{"payment_method": nil}).ID)
	case "get_payment", "payment_timeline":
		s.about(s.pay(map[string]any{"payment_method": nil}).ID)
	case "create_payout", "get_payout", "list_payouts":
		s.baseOfPayouts()
	case "get_dispute", "list_disputes":
		s.baseOfDisputes()
	case "create_customer", "create_connected_account", "create_wallet", "get_customer", "get_connected_account", "get_wallet":
		s.baseOfProvisions()
	default:
		s.baseOfMoney()
	}
}

// about makes the request one about the payment.
func (s *scene) about(id payments.PaymentID) {
	s.path = "/v1/payments/" + id.String() + map[string]string{
		"confirm_payment": "/confirm", "cancel_payment": "/cancel", "payment_timeline": "/timeline",
		"capture_payment": "/capture", "create_refund": "/refunds", "list_refunds": "/refunds", "list_disputes": "/disputes",
	}[s.operation]
}

// copyOf is the request as it is now, to be sent from elsewhere.
func (s *scene) copyOf() *scene {
	copied := *s
	copied.headers = map[string]string{}
	for name, value := range s.headers {
		copied.headers[name] = value
	}
	return &copied
}

// pay creates a payment of its own, with members of the order changed.
func (s *scene) pay(changes map[string]any) payments.View {
	s.t.Helper()
	order := system.Order(key(), 1000)
	for name, value := range changes {
		order = system.With(order, name, value)
	}
	create := &scene{
		t: s.t, system: s.system, method: http.MethodPost, path: "/v1/payments", body: asJSON(order),
		headers: map[string]string{"Idempotency-Key": key(), "Prefer": "wait=30"},
	}
	created := create.ask()
	require.Equal(s.t, http.StatusCreated, created.status, created.body)
	var view payments.View
	require.NoError(s.t, json.Unmarshal([]byte(created.body), &view))
	return view
}

// bankDebit is on its way to the bank for days, and no longer to be canceled.
func bankDebit() map[string]any {
	return map[string]any{"payment_method_types": []string{"us_bank_account"}, "payment_method": "pm_usBankAccount_success"}
}

// cancel cancels the payment that the request is about.
func (s *scene) cancel() {
	s.t.Helper()
	cancel := s.copyOf()
	cancel.path = s.path[:strings.LastIndex(s.path, "/")] + "/cancel"
	cancel.body, cancel.headers["Idempotency-Key"] = `{}`, key()
	require.Equal(s.t, http.StatusOK, cancel.ask().status)
}

// otherContent changes what the command asks for.
func (s *scene) otherContent() {
	switch s.operation {
	case "create_payment":
		s.body = strings.Replace(s.body, "1000", "2000", 1)
	case "confirm_payment":
		s.body = `{"payment_method":"pm_card_mastercard"}`
	case "cancel_payment":
		s.body = `{"cancellation_reason":"duplicate"}`
	case "capture_payment":
		s.body = strings.Replace(s.body, "300", "200", 1)
	case "create_refund", "create_payout":
		s.body = strings.Replace(s.body, "300", "200", 1)
	case "create_customer", "create_connected_account", "create_wallet":
		s.body = strings.Replace(s.body, "US", "FR", 1)
	}
}

func (s *scene) replaces(id payments.PaymentID) {
	var order map[string]any
	require.NoError(s.t, json.Unmarshal([]byte(s.body), &order))
	if !strings.Contains(s.body, id.String()) && s.system.Count(`SELECT count(*) FROM payonce.payments WHERE id = $1`, id.UUID) == 1 {
		order["reference"] = s.system.Payment(id).Reference
	}
	order["replaces"] = id.String()
	s.body = asJSON(order)
}

// refusedAt lets Stripe refuse the call until the case is over.
func (s *scene) refusedAt(path string) {
	rule := s.system.Fault(control.Rule{Match: control.Match{Method: http.MethodPost, Path: path}, Fault: control.FaultRefused})
	s.t.Cleanup(func() { require.NoError(s.t, s.system.Twin.DeleteFault(context.WithoutCancel(s.t.Context()), rule.ID)) })
}

// whileHeld holds the operation's call at Stripe, and the first of its requests before it, until the case is over.
func (s *scene) whileHeld(first *scene) {
	ctx := context.WithoutCancel(s.t.Context())
	path := map[string]string{
		"create_payment": "/v1/payment_intents", "confirm_payment": "/v1/payment_intents/*/confirm", "cancel_payment": "/v1/payment_intents/*/cancel",
		"capture_payment": "/v1/payment_intents/*/capture", "create_refund": "/v1/refunds", "create_payout": "/v1/payouts",
		"create_customer": "/v1/customers", "create_connected_account": "/v1/accounts",
	}[s.operation]
	hold, err := s.system.Twin.Hold(ctx, control.Hold{Method: http.MethodPost, Path: path, Point: control.BeforeEffect})
	require.NoError(s.t, err)
	before := len(s.system.Requests(http.MethodPost, path))
	answered := make(chan int, 1)
	first.headers["Prefer"] = "wait=30"
	go func() { answered <- first.ask().status }()
	s.t.Cleanup(func() {
		require.NoError(s.t, s.system.Twin.Release(ctx, hold.ID))
		require.Less(s.t, receive(s.t, answered), http.StatusBadRequest)
	})
	s.system.Eventually("the first is at Stripe", func() bool { return len(s.system.Requests(http.MethodPost, path)) > before })
}

// afterTheWindow asks again what was answered a day ago, of a system of its own.
func (s *scene) afterTheWindow() {
	s.system = system.Start(s.t)
	s.base()
	require.Less(s.t, s.ask().status, http.StatusBadRequest)
	s.system.Settle()
	s.system.DB.AdvanceClock(s.t, 25*time.Hour)
	swept, err := boundaries.Sweep(s.t.Context(), s.system.App.System, s.system.Config.Timing)
	require.NoError(s.t, err)
	require.Positive(s.t, swept)
}

// unsent lets the command pass its deadline while no worker runs, in a system of its own.
func (s *scene) unsent() {
	s.system = system.New(s.t)
	s.system.StartAPI()
	stop := s.system.StartWorker()
	s.base()
	stop()
	s.headers["Prefer"] = "wait=0"
	require.Equal(s.t, http.StatusAccepted, s.ask().status)
	s.system.DB.AdvanceClock(s.t, s.system.Config.Timing.CommandDeadline+time.Second)
	s.system.App = s.system.Open()
	s.system.StartWorker()
	s.system.Eventually("it is over", func() bool {
		return s.system.Count(`SELECT count(*) FROM payonce.idempotency_records WHERE status = 'in_progress'`) == 0
	})
}

// keyOfOtherScope is an API key that the operation does not take.
func (s *scene) keyOfOtherScope() string {
	scope := tenants.ScopeRead
	if s.method == http.MethodGet {
		scope = tenants.ScopeWrite
	}
	key, err := tenants.CreateAPIKey(s.t.Context(), s.system.App.System, s.system.Tenant, scope)
	require.NoError(s.t, err)
	return key
}

func (s *scene) atAFaultyDoor() {
	d := newDoor(s.t)
	s.door, s.apiKey = d.url, d.key
	d.commands.answersWith(boundaries.Claim{}, errors.New("a bug"))
	owner, err := pgx.Connect(s.t.Context(), d.db.OwnerURL)
	require.NoError(s.t, err)
	defer owner.Close(s.t.Context())
	for _, table := range []string{"payments", "refunds", "payouts", "provisions", "disputes"} {
		_, err = owner.Exec(s.t.Context(), `ALTER TABLE payonce.`+table+` RENAME TO lost_`+table)
		require.NoError(s.t, err)
	}
}

func (s *scene) atADoorWithoutDatabase() {
	d := newDoor(s.t, withoutDatabase(s.t))
	s.door, s.apiKey = d.url, d.key
}

// slowly sends half a body and waits.
func (s *scene) slowly() {
	d := newDoor(s.t, func(c *api.Config) { c.BodyWithin = 20 * time.Millisecond })
	s.send = func() answer {
		connection, err := (&net.Dialer{}).DialContext(s.t.Context(), "tcp", strings.TrimPrefix(d.url, "http://"))
		require.NoError(s.t, err)
		defer func() { require.NoError(s.t, connection.Close()) }()
		_, err = fmt.Fprintf(connection, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nIdempotency-Key: k\r\n"+
			"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{", s.path, d.key)
		require.NoError(s.t, err)
		response, err := http.ReadResponse(bufio.NewReader(connection), nil)
		require.NoError(s.t, err)
		defer func() { require.NoError(s.t, response.Body.Close()) }()
		body, err := io.ReadAll(response.Body)
		require.NoError(s.t, err)
		return answer{response.StatusCode, response.Header, string(body)}
	}
}

func asJSON(value any) string {
	body, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(body)
}
