package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"

	"payonce/internal/bench/result"
	"payonce/internal/clock"
	"payonce/internal/postgres"
	"payonce/internal/stripeapi"
)

const rowWebhook = "webhook_accept"

// eventBytes is the size of an accepted event.
const eventBytes = 3 << 10

// measureWebhook compares an event that is verified, stored and answered over HTTP with the insert of one row. No worker runs: what becomes of the
// events later is in the rows of whole payments.
func (s *session) measureWebhook(ctx context.Context) ([]result.Row, error) {
	if err := s.still.makeRaw(ctx); err != nil {
		return nil, err
	}
	if err := s.still.run(ctx, payonce{name: "api-" + s.still.name, command: []string{"serve"}}); err != nil {
		return nil, err
	}
	raw, err := s.still.openPool(ctx, postgres.RoleSystem, microInFlight)
	if err != nil {
		return nil, err
	}
	defer raw.Close()
	stripe := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: microInFlight}}
	defer stripe.CloseIdleConnections()
	values, baselines, err := s.contest(ctx,
		func(ctx context.Context) error {
			return s.still.deliver(ctx, stripe, newEvent("evt_"+uuid.NewString()))
		},
		func(ctx context.Context) error {
			id := "evt_" + uuid.NewString()
			_, err := raw.Exec(ctx, `INSERT INTO raw.events (id, body) VALUES ($1, $2)`, id, newEvent(id))
			return err
		})
	if err != nil {
		return nil, err
	}
	row := result.NewRow(rowWebhook, "events/s", values, "the insert of one row with the same bytes, raw from pgx", baselines, result.AtLeast(0.5))
	row.Note = fmt.Sprintf("%d bytes over HTTP to `payonce serve`: signature checked, body sealed, committed; %d senders", eventBytes, microInFlight)
	return []result.Row{row}, nil
}

// deliver sends an event as Stripe does: again, when it was refused for the moment.
func (s *site) deliver(ctx context.Context, stripe *http.Client, event []byte) error {
	for {
		status, err := s.send(ctx, stripe, event)
		switch {
		case err != nil:
			return err
		case status == http.StatusOK:
			return nil
		case status != http.StatusServiceUnavailable:
			return fmt.Errorf("webhook answered %d", status)
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

// send makes one try and returns the status of its answer.
func (s *site) send(ctx context.Context, stripe *http.Client, event []byte) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.listen+"/webhooks/stripe", bytes.NewReader(event))
	if err != nil {
		return 0, err
	}
	now := strconv.FormatInt(clock.Wall().Unix(), 10)
	mac := hmac.New(sha256.New, []byte(s.secret))
	mac.Write([]byte(now + "."))
	mac.Write(event)
	request.Header.Set("Stripe-Signature", "t="+now+",v1="+hex.EncodeToString(mac.Sum(nil)))
	request.Header.Set("Content-Type", "application/json")
	response, err := stripe.Do(request)
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }()
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}

// newEvent is an event of a payment that is not ours, of the size of Stripe's.
func newEvent(id string) []byte {
	text := fmt.Sprintf(`{"id":%q,"object":"event","api_version":%q,"created":%d,"livemode":false,"type":"payment_intent.succeeded",`+
		`"data":{"object":{"id":"pi_%s","object":"payment_intent","amount":1999,"currency":"eur","status":"succeeded","description":"`,
		id, stripeapi.APIVersion, clock.Wall().Unix(), id)
	const end = `"}}}`
	event := append(make([]byte, 0, eventBytes), text...)
	for len(event) < eventBytes-len(end) {
		event = append(event, 'x')
	}
	return append(event, end...)
}
