package contract_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-mock/embedded"
	"github.com/stripe/stripe-mock/server"

	"payonce/internal/testkit/system"
	"payonce/stripesim/control"
)

// stripeMock checks paths, parameters, their types and the values that they may have.
func stripeMock(t *testing.T) http.Handler {
	t.Helper()
	fixtures, err := server.LoadFixtures(embedded.OpenAPIFixtures, "")
	require.NoError(t, err)
	stub, err := server.NewStubServer(fixtures, describe(t).Spec, false, false) // it describes a later version than we send
	require.NoError(t, err)
	return http.HandlerFunc(stub.HandleRequest)
}

// asked is what stripe-mock says to a request.
func asked(mock http.Handler, method, path, query, body string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(method, path+"?"+query, strings.NewReader(body))
	request.Header.Set("Authorization", "Bearer "+system.SecretKey)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer := httptest.NewRecorder()
	mock.ServeHTTP(answer, request)
	return answer
}

func TestRequestsOfPayonceAreAsStripeDescribesThem(t *testing.T) {
	s := system.Start(t)
	full := map[string]any{
		"reference": "order-1", "amount": 2000, "currency": "usd", "payment_method": "pm_card_visa", "description": "Order 1",
		"receipt_email": "payer@shop.example", "metadata": map[string]string{"basket": "7"}, "return_url": "https://shop.example/back",
	}
	s.Create("K1", full)
	s.Create("K2", system.With(system.With(system.Order("order-2", 2000), "off_session", true), "capture_method", "manual"))
	declined := s.Create("K3", system.With(system.Order("order-3", 2000), "payment_method", "pm_card_chargeDeclined")).Payment(t)
	asking := s.Create("K4", system.With(system.With(full, "payment_method", "pm_card_authenticationRequired"), "reference", "order-4")).Payment(t)
	for _, end := range []struct{ path, key, body string }{
		{declined.ID.String() + "/confirm", "K5", `{"payment_method":"pm_card_mastercard"}`},
		{asking.ID.String() + "/cancel", "K6", `{"cancellation_reason":"requested_by_customer"}`},
	} {
		answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments/"+end.path, end.key, []byte(end.body), "wait=20")
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)
	}
	for _, path := range []string{"/v1/payment_intents", "/v1/payment_intents/*/confirm", "/v1/customers", "/v1/accounts"} { // what was done is looked for
		s.Fault(control.Rule{Match: control.Match{Method: http.MethodPost, Path: path}, Fault: control.FaultErrorAfter, Times: 1})
	}
	s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDrop}) // and no event tells of it first
	s.Create("K7", system.Order("order-7", 2000))

	for path, body := range map[string]map[string]any{
		"/v1/customers":          {"owner": "owner-1", "email": "payer@shop.example", "name": "Payer"},
		"/v1/connected_accounts": {"owner": "owner-1", "currency": "eur", "country": "DE", "email": "seller@shop.example"},
	} {
		answer, err := s.Post(t.Context(), s.APIKey, path, "K8", body, "wait=20")
		require.NoError(t, err)
		require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Body)
	}

	mock, seen := stripeMock(t), map[string]bool{}
	sends, err := s.Twin.AllRequests(t.Context())
	require.NoError(t, err)
	for _, send := range sends {
		seen[send.Method+" "+templateOf(send.Path)] = true
		answer := asked(mock, send.Method, send.Path, send.Query, send.Body)
		require.Equal(t, http.StatusOK, answer.Code, "%s %s?%s\n%s\n%s", send.Method, send.Path, send.Query, send.Body, answer.Body)
	}
	for _, shape := range []string{
		"POST /v1/payment_intents", "POST /v1/payment_intents/{intent}/confirm", "POST /v1/payment_intents/{intent}/cancel",
		"GET /v1/payment_intents", "GET /v1/payment_intents/{intent}",
		"POST /v1/customers", "GET /v1/customers", "POST /v1/accounts", "GET /v1/accounts",
	} {
		require.True(t, seen[shape], "%s was not sent: %v", shape, seen)
	}
}

func TestStripeMockRefusesWhatStripeDoesNotDescribe(t *testing.T) {
	mock := stripeMock(t)
	for body, status := range map[string]int{
		"amount=2000&currency=usd":                      http.StatusOK,
		"amount=2000":                                   http.StatusBadRequest,
		"amount=two&currency=usd":                       http.StatusBadRequest,
		"amount=2000&currency=usd&colour=red":           http.StatusBadRequest,
		"amount=2000&currency=usd&capture_method=later": http.StatusBadRequest,
	} {
		require.Equal(t, status, asked(mock, http.MethodPost, intents, "", body).Code, body)
	}
}
