package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"payonce/boundaries"
	"payonce/internal/clock"
	"payonce/payments"
)

// givesUpAfter is how long a payment may take before the run is worth nothing.
const givesUpAfter = 90 * time.Second

// shop is a checkout backend: the load on one site.
type shop struct {
	url      string
	apiKey   string
	tenant   payments.TenantID
	arrivals *arrivals
	http     *http.Client
	orders   atomic.Int64
	prefix   string // of references
}

func newShop(url, apiKey string, tenant payments.TenantID, arrivals *arrivals, prefix string) *shop {
	return &shop{
		url: url, apiKey: apiKey, tenant: tenant, arrivals: arrivals, prefix: prefix,
		http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}, Timeout: givesUpAfter},
	}
}

// order is what a payment is asked for with.
type order struct {
	reference string
	payment   payments.PaymentID
	body      []byte
}

func (s *shop) order() order {
	reference := s.prefix + strconv.FormatInt(s.orders.Add(1), 10)
	body, err := json.Marshal(map[string]any{
		"reference": reference, "amount": 1999, "currency": "eur", "payment_method": "pm_card_visa",
		"description": "An order of the benchmark", "metadata": map[string]string{"shop": "bench"},
	})
	if err != nil {
		panic(err) // strings and a number
	}
	return order{reference: reference, payment: boundaries.PaymentID(s.tenant, reference, 1), body: body}
}

// submit asks for the payment and returns the status of the answer.
func (s *shop) submit(ctx context.Context, o order, wait int) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/v1/payments", bytes.NewReader(o.body))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+s.apiKey)
	request.Header.Set("Idempotency-Key", o.reference)
	request.Header.Set("Prefer", "wait="+strconv.Itoa(wait))
	response, err := s.http.Do(request)
	if err != nil {
		return 0, fmt.Errorf("order %s: %w", o.reference, err)
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return 0, fmt.Errorf("order %s: %w", o.reference, err)
	}
	return response.StatusCode, nil
}

// buy asks for a payment and waits until it was paid and the receiver has accepted the message. It returns how long the first answer took.
func (s *shop) buy(ctx context.Context) (answered float64, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, givesUpAfter, fmt.Errorf("no message within %s", givesUpAfter))
	defer cancel()
	o := s.order()
	told := s.arrivals.expect(o.payment.String())
	began := clock.Wall()
	status, err := s.submit(ctx, o, 30)
	if err != nil {
		return 0, err
	}
	answered = milliseconds(began)
	if status != http.StatusCreated {
		return 0, fmt.Errorf("order %s: answered %d", o.reference, status)
	}
	if err := s.arrivals.await(ctx, told); err != nil {
		return 0, fmt.Errorf("order %s: %w", o.reference, context.Cause(ctx))
	}
	return answered, nil
}
