package webhooks

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
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

// parseEnvelope reads the raw bytes of an event of any API version, in one pass. It refuses what is no JSON object, or has no id, no type or no mode;
// every other member that is missing or has another shape is left empty. Of a member that is given twice the last counts.
func parseEnvelope(body []byte) (envelope, error) {
	read := reader{jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
	event, moded, err := read.event()
	if err == nil {
		err = read.end()
	}
	switch {
	case err != nil:
		return envelope{}, fmt.Errorf("no JSON object: %w", err)
	case event.ID == "" || event.Type == "":
		return envelope{}, errors.New("no id or no type")
	case !moded:
		return envelope{}, errors.New("no livemode")
	}
	if event.ObjectKind == "payment_intent" {
		event.IntentID = event.ObjectID
	}
	return event, nil
}

// reader reads an event from its first byte to its last.
type reader struct{ *jsontext.Decoder }

// event reads the outermost object; moded tells whether the mode is given.
func (r reader) event() (event envelope, moded bool, err error) {
	err = r.members(func(name string) (err error) {
		switch name {
		case "id":
			event.ID, err = r.text()
		case "type":
			event.Type, err = r.text()
		case "api_version":
			event.APIVersion, err = r.text()
		case "account":
			event.Account, err = r.text()
		case "livemode":
			event.Livemode, moded, err = r.mode()
		case "created":
			event.Created, err = r.time()
		case "data":
			event.ObjectKind, event.ObjectID, event.IntentID = "", "", ""
			err = r.data(&event)
		default:
			err = r.SkipValue()
		}
		return err
	})
	return event, moded, err
}

// data reads what the event is about.
func (r reader) data(event *envelope) error {
	return r.members(func(name string) error {
		if name != "object" {
			return r.SkipValue()
		}
		event.ObjectKind, event.ObjectID, event.IntentID = "", "", ""
		return r.members(func(name string) (err error) {
			switch name {
			case "object":
				event.ObjectKind, err = r.text()
			case "id":
				event.ObjectID, err = r.text()
			case "payment_intent":
				event.IntentID, err = r.reference()
			default:
				err = r.SkipValue()
			}
			return err
		})
	})
}

// reference is the id of another object, which may be expanded.
func (r reader) reference() (id string, err error) {
	if r.PeekKind() == '"' {
		return r.text()
	}
	err = r.members(func(name string) (err error) {
		if name == "id" {
			id, err = r.text()
			return err
		}
		return r.SkipValue()
	})
	return id, err
}

// members calls each with the name of every member of the next value, which each must read. A value that is no object has none.
func (r reader) members(each func(name string) error) error {
	if r.PeekKind() != '{' {
		return r.SkipValue()
	}
	if _, err := r.ReadToken(); err != nil {
		return err
	}
	for r.PeekKind() == '"' {
		name, err := r.ReadToken()
		if err == nil {
			err = each(name.String())
		}
		if err != nil {
			return err
		}
	}
	_, err := r.ReadToken() // the closing brace, or what is wrong
	return err
}

// text is the next string, or empty when it is none that can be stored.
func (r reader) text() (string, error) {
	if r.PeekKind() != '"' {
		return "", r.SkipValue()
	}
	token, err := r.ReadToken()
	if err != nil {
		return "", err
	}
	text := token.String()
	if utf8.RuneCountInString(text) > maxText || strings.ContainsRune(text, 0) {
		return "", nil
	}
	return text, nil
}

// mode reads whether the event is of live mode; given is false when it says neither.
func (r reader) mode() (live, given bool, err error) {
	if kind := r.PeekKind(); kind != 't' && kind != 'f' {
		return false, false, r.SkipValue()
	}
	token, err := r.ReadToken()
	return err == nil && token.Bool(), true, err
}

// time reads a time in whole seconds; zero when it is none.
func (r reader) time() (time.Time, error) {
	const endOfTime = 253402300799 // the last second of the year 9999: later ones no column holds
	value, err := r.ReadValue()
	if err != nil {
		return time.Time{}, err
	}
	seconds, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil || seconds <= 0 || seconds > endOfTime {
		return time.Time{}, nil //nolint:nilerr // another shape: left empty
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// end requires that nothing follows.
func (r reader) end() error {
	_, err := r.ReadToken()
	if errors.Is(err, io.EOF) {
		return nil
	}
	return errors.Join(errors.New("something follows"), err)
}
