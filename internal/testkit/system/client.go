package system

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/payments"
)

// Answer is what the API answered.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Replayed tells whether the answer came from memory.
func (a Answer) Replayed() bool { return a.Header.Get("Idempotent-Replayed") == "true" }

// Payment decodes a payment.
func (a Answer) Payment(t testing.TB) payments.View {
	t.Helper()
	var view payments.View
	require.NoError(t, json.Unmarshal(a.Body, &view), "%d %s", a.Status, a.Body)
	return view
}

// Problem decodes a problem.
func (a Answer) Problem(t testing.TB) payments.Problem {
	t.Helper()
	var problem payments.Problem
	require.NoError(t, json.Unmarshal(a.Body, &problem), "%d %s", a.Status, a.Body)
	return problem
}

// Order is the body of a create, with a method that succeeds.
func Order(reference string, amount int64) map[string]any {
	return map[string]any{"reference": reference, "amount": amount, "currency": "usd", "payment_method": "pm_card_visa"}
}

// With is the body with another value; nil removes the member.
func With(body map[string]any, name string, value any) map[string]any {
	changed := make(map[string]any, len(body)+1)
	for member, held := range body {
		changed[member] = held
	}
	if changed[name] = value; value == nil {
		delete(changed, name)
	}
	return changed
}

// Create posts a create under the caller key, waiting up to 20 s for the outcome.
func (s *System) Create(key string, body any) Answer {
	s.t.Helper()
	answer, err := s.Post(s.t.Context(), s.APIKey, "/v1/payments", key, body, "wait=20")
	require.NoError(s.t, err)
	return answer
}

// Post sends any POST; an error means that there was no answer.
func (s *System) Post(ctx context.Context, apiKey, path, key string, body any, prefer string) (Answer, error) {
	encoded, isBytes := body.([]byte)
	if !isBytes {
		var err error
		if encoded, err = json.Marshal(body); err != nil {
			return Answer{}, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+path, bytes.NewReader(encoded))
	if err != nil {
		return Answer{}, err
	}
	request.Header.Set("Content-Type", "application/json")
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	if prefer != "" {
		request.Header.Set("Prefer", prefer)
	}
	return do(s.HTTP, request, apiKey)
}

// Get reads a path.
func (s *System) Get(path string) Answer {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.URL+path, nil)
	require.NoError(s.t, err)
	answer, err := do(s.HTTP, request, s.APIKey)
	require.NoError(s.t, err)
	return answer
}

// Payment reads a payment.
func (s *System) Payment(id payments.PaymentID) payments.View {
	s.t.Helper()
	return s.Get("/v1/payments/" + id.String()).Payment(s.t)
}

func do(carrier *http.Client, request *http.Request, apiKey string) (Answer, error) {
	request.Header.Set("Authorization", "Bearer "+apiKey)
	response, err := carrier.Do(request)
	if err != nil {
		return Answer{}, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	return Answer{Status: response.StatusCode, Header: response.Header, Body: body}, err
}

// Eventually waits until the condition holds, for what another goroutine or process brings about; it fails after a generous bound.
func (s *System) Eventually(what string, condition func() bool) {
	s.t.Helper()
	deadline := time.NewTimer(60 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-deadline.C:
			require.FailNow(s.t, "it did not come to be", what)
		case <-tick.C:
		}
	}
}
