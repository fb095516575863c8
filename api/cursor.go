package api

import (
	"encoding/base64"
	"encoding/binary"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"payonce/internal/paymentstore"
	"payonce/payments"
)

// The first byte of a cursor says what it is a place in.
const (
	cursorPayments byte = 1
	cursorTimeline byte = 2
	cursorPayouts  byte = 3
)

// cursorAt is the size of a cursor's beginning: its kind and a time.
const cursorAt = 1 + 8

// writeCursor renders a place as opaque text: kind, time in microseconds since 1970 and what breaks ties.
func writeCursor(kind byte, at time.Time, tie []byte) string {
	place := binary.BigEndian.AppendUint64([]byte{kind}, uint64(at.UnixMicro()))
	return base64.RawURLEncoding.EncodeToString(append(place, tie...))
}

// readCursor reads what writeCursor wrote; it is false of anything else.
func readCursor(kind byte, text string) (at time.Time, tie []byte, ok bool) {
	place, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(place) < cursorAt || place[0] != kind {
		return time.Time{}, nil, false
	}
	microseconds := int64(binary.BigEndian.Uint64(place[1:]))
	return time.UnixMicro(microseconds).UTC(), place[cursorAt:], true
}

// paymentCursor is the cursor of the page that follows the payment.
func paymentCursor(payment payments.Payment) string {
	return writeCursor(cursorPayments, payment.CreatedAt, payment.ID.UUID[:])
}

// readPaymentCursor reads the cursor of a list of payments. It is not signed: what it may say is asked for by created_before too.
func readPaymentCursor(text string) (*paymentstore.Position, error) {
	at, tie, ok := readCursor(cursorPayments, text)
	id, err := uuid.FromBytes(tie)
	if !ok || err != nil || !storable(at) {
		return nil, cursorInvalid()
	}
	return &paymentstore.Position{CreatedAt: at, ID: payments.PaymentID{UUID: id}}, nil
}

// payoutCursor is the cursor of the page that follows the payout.
func payoutCursor(payout payments.Payout) string {
	return writeCursor(cursorPayouts, payout.CreatedAt, payout.ID.UUID[:])
}

// readPayoutCursor reads the cursor of a list of payouts.
func readPayoutCursor(text string) (*paymentstore.PayoutPosition, error) {
	at, tie, ok := readCursor(cursorPayouts, text)
	id, err := uuid.FromBytes(tie)
	if !ok || err != nil || !storable(at) {
		return nil, cursorInvalid()
	}
	return &paymentstore.PayoutPosition{CreatedAt: at, ID: payments.PayoutID{UUID: id}}, nil
}

// stepCursor is the cursor of the page that follows the step.
func stepCursor(step paymentstore.StepPosition) string {
	return writeCursor(cursorTimeline, step.At, append([]byte{byte(step.Rank)}, step.Tie...)) //nolint:gosec // a rank is a small number
}

// readStepCursor reads the cursor of a timeline.
func readStepCursor(text string) (*paymentstore.StepPosition, error) {
	at, tie, ok := readCursor(cursorTimeline, text)
	if !ok || !storable(at) || len(tie) == 0 || !utf8.Valid(tie[1:]) || !printable(string(tie[1:])) {
		return nil, cursorInvalid()
	}
	return &paymentstore.StepPosition{At: at, Rank: int(tie[0]), Tie: string(tie[1:])}, nil
}

func cursorInvalid() refusal {
	return parameterInvalid("cursor", "is not the next_cursor of this list")
}

// storable tells whether the database can hold a time: its years end at 294276, and those of RFC 3339 at 9999.
func storable(at time.Time) bool { return at.Year() >= 0 && at.Year() <= 9999 }
