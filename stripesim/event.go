package stripesim

import (
	"encoding/json"
)

const apiVersion = "2023-10-16"

// event is something that happened, with a snapshot of the object. It never changes once filed.
type event struct {
	Seq            int64
	ID             string
	Account        string
	Platform       string // set when the account was acted for through Stripe-Account
	Livemode       bool
	Created        int64
	Type           string
	Version        string
	Object         json.RawMessage
	Previous       json.RawMessage // previous_attributes; only of *.updated
	RequestID      string          // empty when nobody's request caused it
	IdempotencyKey string
	Intent         string // the payment intent it is about
	Raw            string // hand-made bytes, sent as they are
}

func (e *event) key() string      { return e.ID }
func (e *event) owner() scope     { return scope{e.Account, e.Livemode} }
func (e *event) createdAt() int64 { return e.Created }
func (e *event) number() *int64   { return &e.Seq }

type wireEvent struct {
	ID              string       `json:"id"`
	Object          string       `json:"object"`
	Account         string       `json:"account,omitempty"`
	APIVersion      string       `json:"api_version"`
	Created         int64        `json:"created"`
	Data            wireData     `json:"data"`
	Livemode        bool         `json:"livemode"`
	PendingWebhooks int          `json:"pending_webhooks"`
	Request         *wireRequest `json:"request"`
	Type            string       `json:"type"`
}

type wireData struct {
	Object   json.RawMessage `json:"object"`
	Previous json.RawMessage `json:"previous_attributes,omitempty"`
}

type wireRequest struct {
	ID             *string `json:"id"`
	IdempotencyKey *string `json:"idempotency_key"`
}

// renderEvent writes an event; pending is how many endpoints have not acknowledged it yet.
func renderEvent(e *event, pending int) wireEvent {
	w := wireEvent{ID: e.ID, Object: "event", APIVersion: e.Version, Created: e.Created,
		Data: wireData{Object: e.Object, Previous: e.Previous}, Livemode: e.Livemode, PendingWebhooks: pending,
		Request: &wireRequest{ID: orNil(e.RequestID), IdempotencyKey: orNil(e.IdempotencyKey)}, Type: e.Type}
	if e.Platform != "" {
		w.Account = e.Account
	}
	return w
}

// bytes is the body that is sent to an endpoint.
func (e *event) bytes(pending int) []byte {
	if e.Raw != "" {
		return []byte(e.Raw)
	}
	return encode(renderEvent(e, pending))
}
