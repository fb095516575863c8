package stripesim

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"payonce/stripesim/control"
)

// newWebhookClient never follows redirects: a 3xx is a failed delivery.
func newWebhookClient(timeout time.Duration, connections int) *http.Client {
	return &http.Client{
		Timeout:       timeout,
		Transport:     &http.Transport{MaxIdleConnsPerHost: connections, IdleConnTimeout: 30 * time.Second},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// try sends an event to an endpoint once and says what came back. Each try has a fresh signature time.
func (d *dispatcher) try(ctx context.Context, e *event, endpoint, secret string, offset time.Duration) control.Try {
	now, err := lately(ctx, d.clock)
	if err != nil {
		return control.Try{Error: err.Error()}
	}
	to := d.endpoints.find(endpoint)
	if to == nil {
		return control.Try{Time: now, Error: "the endpoint was removed"}
	}
	secrets := []string{to.Secret, to.OldSecret}
	if secret != "" {
		secrets = []string{secret}
	}
	body := e.bytes(d.pending(e.ID))
	status, err := post(ctx, d.client, to.URL, body, sign(body, secrets, d.wall().Add(offset), e.Livemode))
	result := control.Try{Time: now, Status: status}
	if err != nil {
		result.Error = err.Error()
		d.log.Debug("webhook: no answer", "event", e.Type, "url", to.URL, "err", err)
	}
	return result
}

func post(ctx context.Context, client *http.Client, url string, body []byte, signature string) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", "application/json; charset=utf-8")
	request.Header.Set("User-Agent", "Stripe/1.0 (+https://stripe.com/docs/webhooks)")
	request.Header.Set("Stripe-Signature", signature)
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := io.Copy(io.Discard, io.LimitReader(response.Body, largestBody)); err != nil && !errors.Is(err, io.EOF) {
		return response.StatusCode, err
	}
	return response.StatusCode, nil
}

// pending is how many endpoints have not acknowledged an event.
func (d *dispatcher) pending(event string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for _, one := range d.byEvent[event] {
		if one.Status != control.DeliveryDelivered {
			n++
		}
	}
	return n
}

// succeeded says whether every endpoint has acknowledged an event.
func (d *dispatcher) succeeded(event string) bool { return d.pending(event) == 0 }

// of returns the deliveries of an event for the control API.
func (d *dispatcher) of(event string) []control.Delivery {
	d.mu.Lock()
	defer d.mu.Unlock()
	rows := []control.Delivery{}
	for _, one := range d.byEvent[event] {
		url := ""
		if to := d.endpoints.find(one.Endpoint); to != nil {
			url = to.URL
		}
		rows = append(rows, one.show(url))
	}
	return rows
}

// now sends an event to the endpoints that want it, as often as asked, and returns their answers. It sends dropped
// and finished ones too, as a person at the Dashboard can.
func (d *dispatcher) now(ctx context.Context, e *event, how control.Deliver, secret string, offset time.Duration) []control.Answer {
	answers := []control.Answer{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, to := range d.endpoints.wanting(e) {
		if how.Endpoint != "" && how.Endpoint != to.ID {
			continue
		}
		one := d.deliveryOf(e, to)
		send := func() {
			try := d.try(ctx, e, to.ID, secret, offset)
			d.mu.Lock()
			one.resent(try)
			d.write(one)
			d.mu.Unlock()
			mu.Lock()
			answers = append(answers, control.Answer{Endpoint: to.ID, Status: try.Status, Error: try.Error})
			mu.Unlock()
		}
		for range max(how.Times, 1) {
			if how.Concurrent {
				all.Go(send)
				continue
			}
			send()
		}
	}
	all.Wait()
	return answers
}

// deliveryOf returns the delivery of an event to an endpoint, made anew when there is none.
func (d *dispatcher) deliveryOf(e *event, to *endpoint) *delivery {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, one := range d.byEvent[e.ID] {
		if one.Endpoint == to.ID {
			return one
		}
	}
	d.last++
	one := &delivery{Seq: d.last, Event: e.ID, Endpoint: to.ID, Status: control.DeliveryFailed, event: e}
	d.byEvent[e.ID] = append(d.byEvent[e.ID], one)
	return one
}
