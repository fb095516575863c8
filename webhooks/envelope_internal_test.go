package webhooks

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// plainly reads an event as anybody would, member by member.
func plainly(body []byte) (read envelope, refused bool) {
	type members = map[string]json.RawMessage
	text := func(raw json.RawMessage) (s string) {
		if json.Unmarshal(raw, &s) != nil || len([]rune(s)) > maxText || strings.ContainsRune(s, 0) {
			return ""
		}
		return s
	}
	object := func(raw json.RawMessage) (m members) {
		if json.Unmarshal(raw, &m) != nil {
			return nil
		}
		return m
	}
	var event members
	if json.Unmarshal(body, &event) != nil {
		return envelope{}, true
	}
	subject := object(object(event["data"])["object"])
	read = envelope{
		ID: text(event["id"]), Type: text(event["type"]), APIVersion: text(event["api_version"]), Account: text(event["account"]),
		ObjectKind: text(subject["object"]), ObjectID: text(subject["id"]), IntentID: text(subject["payment_intent"]),
	}
	if read.IntentID == "" {
		read.IntentID = text(object(subject["payment_intent"])["id"])
	}
	if read.ObjectKind == "payment_intent" {
		read.IntentID = read.ObjectID
	}
	var mode *bool
	if read.ID == "" || read.Type == "" || json.Unmarshal(event["livemode"], &mode) != nil || mode == nil {
		return envelope{}, true
	}
	read.Livemode = *mode
	var seconds int64
	if json.Unmarshal(event["created"], &seconds) == nil && seconds > 0 && seconds <= 253402300799 {
		read.Created = time.Unix(seconds, 0).UTC()
	}
	return read, false
}

// Whatever the bytes are, the one pass reads what a plain reading does.
func TestAnEventIsReadAsItSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := document(t, []string{"id", "type", "api_version", "account", "livemode", "created", "data", "object", "payment_intent", "\\u0069d", "x"}, 4)
		if rapid.Bool().Draw(t, "likely") {
			body = `{"id":"evt_1","type":"charge.succeeded","livemode":true,` + strings.TrimPrefix(body, "{")
		}
		if cut := rapid.IntRange(-len(body), len(body)).Draw(t, "cut"); cut >= 0 {
			body = body[:cut] + rapid.SampledFrom([]string{"", "x", "}", " ", "\xff", "\x00", "\n", ":tru}", `{"id":1}`}).Draw(t, "end")
		}
		want, refused := plainly([]byte(body))
		got, err := parseEnvelope([]byte(body))
		require.Equal(t, refused, err != nil, "%s: %v", body, err)
		require.Equal(t, want, got, body)
	})
}

// document draws an object with members of the names, some given twice, whose values are of every kind.
func document(t *rapid.T, names []string, depth int) string {
	values := []string{
		`"evt_1"`, `"payment_intent"`, `"pi_1"`, `""`, `"a\u0000"`, `"\ud800x"`, "\"\xff\"", `"` + strings.Repeat("é", maxText) + `"`,
		`"` + strings.Repeat("é", maxText+1) + `"`, `true`, `false`, `null`, `1700000000`, `-1`, `1.5`, `1e3`, `99999999999999999999`, `[1,{"id":"x"}]`,
	}
	var members []string
	for range rapid.IntRange(0, 6).Draw(t, "members") {
		value := rapid.SampledFrom(values).Draw(t, "value")
		if depth > 0 && rapid.IntRange(0, 2).Draw(t, "nested") > 0 {
			value = document(t, names, depth-1)
		}
		members = append(members, `"`+rapid.SampledFrom(names).Draw(t, "name")+`": `+value)
	}
	return "{" + strings.Join(members, ",") + "}"
}
