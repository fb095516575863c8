package webhooks

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// envelope is what is read of an event before it is stored: the members that no API version has changed. Everything else,
// also `request`, which is a string in old versions and an object in new ones, stays in the raw bytes.
type envelope struct {
	ID         string
	Type       string
	APIVersion string
	Created    time.Time // zero when not given
	Livemode   bool
	Account    string // of a connected account's event; empty otherwise
	ObjectKind string
	ObjectID   string
	IntentID   string
}

// maxText bounds the texts that are stored beside the body.
const maxText = 255

// parseEnvelope reads the raw bytes of an event of any API version. It refuses what is no JSON object, or has no id, no type
// or no mode; every other member that is missing or has another shape is left empty.
func parseEnvelope(body []byte) (envelope, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return envelope{}, fmt.Errorf("no JSON object: %w", err)
	}
	event := envelope{
		ID: text(members["id"]), Type: text(members["type"]), APIVersion: text(members["api_version"]), Account: text(members["account"]),
	}
	if event.ID == "" || event.Type == "" {
		return envelope{}, errors.New("no id or no type")
	}
	if err := json.Unmarshal(members["livemode"], &event.Livemode); err != nil {
		return envelope{}, fmt.Errorf("no livemode: %w", err)
	}
	var seconds int64
	if json.Unmarshal(members["created"], &seconds) == nil && seconds > 0 {
		event.Created = time.Unix(seconds, 0).UTC()
	}
	data := object(members["data"])
	subject := object(data["object"])
	event.ObjectKind, event.ObjectID = text(subject["object"]), text(subject["id"])
	if event.ObjectKind == "payment_intent" {
		event.IntentID = event.ObjectID
	} else if event.IntentID = text(subject["payment_intent"]); event.IntentID == "" {
		event.IntentID = text(object(subject["payment_intent"])["id"]) // expanded
	}
	return event, nil
}

// text is the string in raw, or empty when it is none that can be stored.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil || utf8.RuneCountInString(s) > maxText || strings.ContainsRune(s, 0) {
		return ""
	}
	return s
}

// object is the members of the object in raw, or none.
func object(raw json.RawMessage) map[string]json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return nil
	}
	return members
}

// consumed tells whether events of the type are applied. The others are stored as ignored, so that nothing that was
// acknowledged is out of sight.
func consumed(eventType string) bool {
	for _, family := range []string{"payment_intent.", "charge.", "refund.", "payout."} {
		if strings.HasPrefix(eventType, family) {
			return true
		}
	}
	return false
}
