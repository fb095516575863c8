package stripeapi

import (
	"encoding/json"
	"fmt"
	"time"

	"payonce/payments"
)

// Event is what the applier needs of a stored event. The envelope's other members differ between API versions and are not read.
type Event struct {
	ID         string
	Type       string
	APIVersion string // that wrote it; empty when not given
	Created    time.Time
	Livemode   bool
	Kind       string // data.object.object
	Object     string // data.object.id
	IntentID   string // the PaymentIntent that the object is or names; empty for other objects
	Payment    string // our metadata on the object, if any

	// The object, when it is one of these, as the event's API version wrote it. Nil also when that version's writing cannot be decoded: an event is a hint,
	// and the object is read.
	Intent  *Intent
	Charge  *Charge
	Refund  *Refund
	Dispute *Dispute
	Payout  *Payout
}

// endOfTime is the last second of the year 9999: later ones no column holds.
const endOfTime = 253402300799

// ParseEvent reads the bytes of an event of any API version. account is the one that the event was verified for.
func ParseEvent(body []byte, account payments.Account) (Event, error) {
	var envelope struct {
		ID         string `json:"id"`
		Type       string `json:"type"`
		APIVersion string `json:"api_version"`
		Created    int64  `json:"created"`
		Livemode   bool   `json:"livemode"`
		Data       struct {
			Object json.RawMessage `json:"object"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &envelope); err != nil {
		return Event{}, fmt.Errorf("event envelope: %w", err)
	}
	if envelope.Created < 0 || envelope.Created > endOfTime {
		return Event{}, fmt.Errorf("event envelope: created at %d is no time", envelope.Created)
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
		ID: envelope.ID, Type: envelope.Type, APIVersion: envelope.APIVersion, Created: time.Unix(envelope.Created, 0).UTC(), Livemode: envelope.Livemode,
		Kind: object.Kind, Object: object.ID, IntentID: idOf(object.Intent), Payment: object.Metadata[payments.MetadataPayment],
	}
	switch object.Kind {
	case "payment_intent":
		event.IntentID, event.Intent = object.ID, decodedAs(envelope.Data.Object, account, intentOf)
	case "charge":
		event.Charge = decodedAs(envelope.Data.Object, account, chargeOf)
	case "refund":
		event.Refund = decodedAs(envelope.Data.Object, account, refundOf)
	case "dispute":
		event.Dispute = decodedAs(envelope.Data.Object, account, disputeOf)
	case "payout":
		event.Payout = decodedAs(envelope.Data.Object, account, payoutOf)
	}
	return event, nil
}

// decodedAs is the object as ours, or nil when it cannot be decoded.
func decodedAs[From, To any](raw json.RawMessage, account payments.Account, to func(*From, payments.Account) To) *To {
	from := new(From)
	if json.Unmarshal(raw, from) != nil {
		return nil
	}
	object := to(from, account)
	return &object
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
