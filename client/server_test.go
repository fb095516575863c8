package client_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"payonce/client"
	"payonce/payments"
)

// step is how the server treats one request.
type step func(http.ResponseWriter)

// sent is what a request held that must not change from try to try.
type sent struct {
	method, path, key, prefer, body, authorization string
}

// server misbehaves by a script: one step a request.
type server struct {
	t      testing.TB
	client *client.Client

	mutex  sync.Mutex
	script []step
	seen   []sent
	pauses []time.Duration
}

func newServer(t testing.TB, script ...step) *server {
	t.Helper()
	s := &server{t: t, script: script}
	listening := httptest.NewServer(s)
	t.Cleanup(listening.Close)
	made, err := client.New(listening.URL, "secret", client.HTTP(listening.Client()), client.Pauses(s.paused))
	require.NoError(t, err)
	s.client = made
	return s
}

func (s *server) paused(pause time.Duration) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.pauses = append(s.pauses, pause)
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mutex.Lock()
	s.seen = append(s.seen, sent{
		method: r.Method, path: r.URL.RequestURI(), key: r.Header.Get("Idempotency-Key"), prefer: r.Header.Get("Prefer"),
		body: string(body), authorization: r.Header.Get("Authorization"),
	})
	do := answers(http.StatusTeapot, nil, "the script has ended")
	if len(s.script) > 0 {
		do, s.script = s.script[0], s.script[1:]
	}
	s.mutex.Unlock()
	do(w)
}

// requests are what was sent so far; all of the script must have been used.
func (s *server) requests() []sent {
	s.t.Helper()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	require.Empty(s.t, s.script, "the client did not ask often enough")
	return s.seen
}

// answers sends a whole answer.
func answers(status int, header map[string]string, body any) step {
	return func(w http.ResponseWriter) {
		encoded, err := json.Marshal(body)
		if err != nil {
			panic(err)
		}
		w.Header().Set("Content-Type", "application/json")
		for name, value := range header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		_, _ = w.Write(encoded)
	}
}

// shows answers with a payment.
func shows(status int, payment client.Payment) step { return answers(status, nil, payment) }

// refuses answers with a problem.
func refuses(status int, code client.Code, header map[string]string) step {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/problem+json")
		for name, value := range header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		problem := payments.NewProblem(status, string(code), "as the script says")
		id := paymentID()
		problem.Payment = &id
		encoded, err := json.Marshal(problem)
		if err != nil {
			panic(err)
		}
		_, _ = w.Write(encoded)
	}
}

// loses acts and says nothing.
func loses(http.ResponseWriter) { panic(http.ErrAbortHandler) }

// cuts sends half of an answer.
func cuts(status int, contentType string) step {
	return func(w http.ResponseWriter) {
		half := `{"id":"` + paymentID().String() + `","object":"pay`
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Content-Length", strconv.Itoa(2*len(half)))
		w.WriteHeader(status)
		_, _ = io.WriteString(w, half)
		panic(http.ErrAbortHandler)
	}
}

func paymentID() client.PaymentID {
	return client.PaymentID{UUID: uuid.MustParse("5f0d4f3e-6a0b-5d8e-9a39-0f5a3f1f6a11")}
}

func payment(status payments.Status, stage payments.Stage) client.Payment {
	return client.Payment{
		ID: paymentID(), Object: "payment", Reference: "order-1", Attempt: 1, Amount: 1999, Currency: "usd", Status: status, Stage: stage,
	}
}

func succeeded() client.Payment {
	return payment(payments.StatusSucceeded, payments.StageLedgerApplied)
}

func order() client.CreatePayment {
	return client.CreatePayment{Reference: "order-1", Amount: 1999, Currency: "usd", PaymentMethod: "pm_card_visa"}
}

// create sends the order.
func (s *server) create() (client.Answer, error) {
	s.t.Helper()
	return s.client.CreatePayment(s.t.Context(), client.IntentKey("checkout-1"), order())
}
