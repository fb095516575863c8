package client

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"github.com/google/uuid"

	"payonce/payments"
)

// Key names one intent of yours. Every command takes one and is sent with it as its Idempotency-Key: commands with the same key take effect
// once, however often and from wherever they are sent. A Key is made by a function of this package from an id that your own records hold, so
// that a restart or another process derives the same one. It is never made from the time, the contents or chance.
//
// The zero Key, and one made of an empty id, are refused by every command before anything is sent.
type Key struct {
	text  string
	fault error
}

// ErrNoKey says that a command was given no usable key. Nothing was sent.
var ErrNoKey = errors.New("no idempotency key")

// Action is something that can rightly happen only once to a thing.
type Action string

// The actions. What may rightly happen twice has a function of its own that asks which time it is: ConfirmKey, PartialCaptureKey, RefundKey, PayoutKey.
const (
	ActionCancel  Action = "cancel"
	ActionCapture Action = "capture" // of the whole authorised amount

	ActionCreateCustomer         Action = "create customer"          // of an owner
	ActionCreateConnectedAccount Action = "create connected account" // of an owner and currency
	ActionCreateWallet           Action = "create wallet"            // of an owner, currency and network
)

// KeyFor is the key of an action that can happen once to what businessID names, for instance KeyFor(order.ID, ActionCancel).
func KeyFor(businessID string, action Action) Key {
	switch action {
	case ActionCancel, ActionCapture, ActionCreateCustomer, ActionCreateConnectedAccount, ActionCreateWallet:
	default:
		return Key{fault: fmt.Errorf("%w: %q is no action that happens once", ErrNoKey, string(action))}
	}
	return derive(string(action), businessID)
}

// IntentKey is the key of a creation. checkoutSession is the id that was minted when the payer's intention was formed, before the first
// request: a checkout session, a cart that was frozen, the run of a subscription. A further attempt after one that failed is a new intention
// and takes a session of its own; the order stays the same and is the payment's reference.
func IntentKey(checkoutSession string) Key { return derive("intent", checkoutSession) }

// ConfirmKey is the key of the n-th confirm of what businessID names, from 1: a payer may rightly pay again after a decline, so you count and
// store how often a method was handed in.
func ConfirmKey(businessID string, n int) Key {
	if n < 1 {
		return Key{fault: fmt.Errorf("%w: confirms are counted from 1, not %d", ErrNoKey, n)}
	}
	return derive("confirm", businessID, strconv.Itoa(n))
}

// PartialCaptureKey is the key of a capture of a part. reference is yours for this part, for instance a shipment: two parts may be equal.
func PartialCaptureKey(businessID, reference string) Key {
	return derive("partial capture", businessID, reference)
}

// RefundKey is the key of a refund. reference is yours for this refund, for instance a returned item: two refunds may be equal.
func RefundKey(businessID, reference string) Key { return derive("refund", businessID, reference) }

// PayoutKey is the key of a payout. reference is yours for this payout, for instance a week; it names one in each currency.
func PayoutKey(currency payments.Currency, reference string) Key {
	return derive("payout", string(currency), reference)
}

// maxKey is the longest key, in characters.
const maxKey = 255

// ParseKey takes a key that your records hold already: 1 to 255 printable ASCII characters, without blanks around them or a quote in front.
// Prefer the other functions: nothing says of a text where it came from.
func ParseKey(text string) (Key, error) {
	if text == "" || len(text) > maxKey || text[0] == ' ' || text[0] == '"' || text[len(text)-1] == ' ' {
		return Key{}, fmt.Errorf("%w: a key has 1 to %d characters and no blanks around them or quote in front", ErrNoKey, maxKey)
	}
	for _, b := range []byte(text) {
		if b < ' ' || b > '~' {
			return Key{}, fmt.Errorf("%w: a key holds printable ASCII only", ErrNoKey)
		}
	}
	return Key{text: text}, nil
}

// String is what is sent; empty when the key is not usable.
func (k Key) String() string { return k.text }

func (k Key) check() error {
	if k.text == "" && k.fault == nil {
		return ErrNoKey
	}
	return k.fault
}

// keySpace is the namespace of every key derived here. It is wire format: the golden test may only grow.
var keySpace = uuid.NewSHA1(uuid.NameSpaceURL, []byte("payonce:client:v1")) //nolint:gochecknoglobals // a constant, never written

// derive is UUIDv5 over the kind and the parts, each preceded by its length, so that no two lists of parts meet.
func derive(kind string, parts ...string) Key {
	name := make([]byte, 0, 128)
	for _, part := range append([]string{kind}, parts...) {
		if part == "" {
			return Key{fault: fmt.Errorf("%w: an empty id names nothing, so all %ss would be one", ErrNoKey, kind)}
		}
		name = binary.BigEndian.AppendUint64(name, uint64(len(part)))
		name = append(name, part...)
	}
	return Key{text: uuid.NewSHA1(keySpace, name).String()}
}
