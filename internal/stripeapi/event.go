package stripeapi

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/stripe/stripe-go/v76"

	"payonce/payments"
)

// Event is what the applier needs of a stored event. The envelope's other members differ between API versions and are not read.
type Event struct {
	ID       string
	Type     string
	Created  time.Time
	Livemode bool
	Kind     string // data.object.object
	Object   string // data.object.id
	IntentID string // the PaymentIntent that the object is or names; empty for other objects
	Payment  string // our metadata on the object, if any
	Intent   *Intent
}

// ParseEvent reads the bytes of an event of any API version. account is the one that the event was verified for. The intent is decoded only from
// a payment_intent object.
func ParseEvent(body []byte, account payments.Account) (Event, error) {
	var envelope struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Created  int64  `json:"created"`
		Livemode bool   `json:"livemode"`
		Data     struct {
			Object json.RawMessage `json:"object"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &envelope); err != nil {
		return Event{}, fmt.Errorf("event envelope: %w", err)
	}
	var object struct {
		ID       string            `json:"id"`
		Kind     string            `json:"object"`
		Intent   json.RawMessage   `json:"payment_intent"`
		Metadata map[string]string `json:"metadata"`
	}
	if err := json.Unmarshal(envelope.Data.Object, &object); err != nil {
		return Event{}, fmt.Errorf("event object: %w", err)
	}
	event := Event{
		ID: envelope.ID, Type: envelope.Type, Created: time.Unix(envelope.Created, 0).UTC(), Livemode: envelope.Livemode,
		Kind: object.Kind, Object: object.ID, IntentID: idOf(object.Intent), Payment: object.Metadata[payments.MetadataPayment],
	}
	if object.Kind != "payment_intent" {
		return event, nil
	}
	decoded := &stripe.PaymentIntent{}
	if err := json.Unmarshal(envelope.Data.Object, decoded); err != nil {
		return Event{}, fmt.Errorf("event payment intent: %w", err)
	}
	intent := intentOf(decoded, account)
	event.IntentID, event.Intent = intent.ID, &intent
	return event, nil
}

// idOf reads an id that may be expanded to its object.
func idOf(raw json.RawMessage) string {
	var id string
	if json.Unmarshal(raw, &id) == nil {
		return id
	}
	var object struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(raw, &object) != nil {
		return ""
	}
	return object.ID
}
