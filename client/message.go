package client

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Message is what payonce tells your backend of a payment or a payout.
type Message struct {
	ID        string      // webhook-id: the same whenever this message is sent again. Store it in the transaction of what you do about it
	Type      MessageType // more may come: answer 2xx to those that you do not know
	Timestamp time.Time   // when the thing happened
	Subject   string      // what changed, for instance payment/<id>, charge/<ch>, refund/<id> or payout/<id>
	Payment   Payment     // as it was then, without the client secret; zero of payout.…. Messages of one payment, or payout, come in order
	Refund    *Refund     // as it was then; nil but of refund.…
	Dispute   *Dispute    // as it was then; nil but of dispute.…
	Payout    *Payout     // as it was then; nil but of payout.…
}

// MessageType is what a message tells.
type MessageType string

// The types.
const (
	PaymentSucceeded MessageType = "payment.succeeded" // the money was taken and booked
	PaymentDeclined  MessageType = "payment.declined"  // an attempt was declined; the payment stays open
	PaymentFailed    MessageType = "payment.failed"    // it ended without money, refused for good
	PaymentCanceled  MessageType = "payment.canceled"
	PaymentExpired   MessageType = "payment.expired" // it was abandoned or not sent in time, or its hold ran out

	PaymentAuthorized        MessageType = "payment.authorized"         // the money is held: capture it before CaptureBefore
	PaymentHoldExpiring      MessageType = "payment.hold_expiring"      // the hold is about to run out
	PaymentPartiallyCaptured MessageType = "payment.partially_captured" // a part was taken; the rest is still held

	RefundSucceeded MessageType = "refund.succeeded" // the money is on its way to the payer
	RefundFailed    MessageType = "refund.failed"    // also days after it had succeeded: the money came back, and may be given back anew
	RefundCanceled  MessageType = "refund.canceled"

	DisputeOpened MessageType = "dispute.opened" // the payer's bank asks; Stripe wants an answer before DueBy
	DisputeWon    MessageType = "dispute.won"    // what was withdrawn is back
	DisputeLost   MessageType = "dispute.lost"   // what was withdrawn is gone
	DisputeClosed MessageType = "dispute.closed" // it was an inquiry, and took no money

	PayoutPaid     MessageType = "payout.paid"   // the bank has it, and may still send it back
	PayoutFailed   MessageType = "payout.failed" // also days after it was paid: the money is at Stripe again, and may be paid out anew
	PayoutCanceled MessageType = "payout.canceled"
)

// ErrSignature says that a message is not from payonce, or too old: answer 400 and do nothing.
var ErrSignature = errors.New("payonce: message not verified")

// tolerance is how far the time of a signature may lie from this machine's, both ways.
const tolerance = 5 * time.Minute

// VerifyMessage verifies a message by Standard Webhooks (https://www.standardwebhooks.com): HMAC-SHA256 under the endpoint's secret (whsec_…)
// over the body exactly as it arrived, before anything parsed it. It refuses a signature that is more than five minutes off, with ErrSignature.
//
// A message comes at least once: drop one whose ID you have stored, and answer it 2xx.
func VerifyMessage(secret string, header http.Header, body []byte) (Message, error) {
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	expected, err := signature(secret, id, timestamp, body)
	if err != nil {
		return Message{}, err
	}
	if !anySignature(header.Get("webhook-signature"), expected) {
		return Message{}, fmt.Errorf("%w: no signature matches", ErrSignature)
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || id == "" {
		return Message{}, fmt.Errorf("%w: id and time are required", ErrSignature)
	}
	if age := time.Since(time.Unix(seconds, 0)); age.Abs() > tolerance {
		return Message{}, fmt.Errorf("%w: signed %s ago", ErrSignature, age.Round(time.Second))
	}
	var payload struct {
		Type      MessageType `json:"type"`
		Timestamp time.Time   `json:"timestamp"`
		Data      struct {
			Subject string   `json:"subject"`
			Payment Payment  `json:"payment"`
			Refund  *Refund  `json:"refund"`
			Dispute *Dispute `json:"dispute"`
			Payout  *Payout  `json:"payout"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &payload); err != nil {
		return Message{}, fmt.Errorf("payonce: read message %s: %w", id, err)
	}
	return Message{
		ID: id, Type: payload.Type, Timestamp: payload.Timestamp, Subject: payload.Data.Subject,
		Payment: payload.Data.Payment, Refund: payload.Data.Refund, Dispute: payload.Data.Dispute, Payout: payload.Data.Payout,
	}, nil
}

// signature is the HMAC that a message of ours carries. An endpoint's secret is never empty: an empty key would verify anybody's message.
func signature(secret, id, timestamp string, body []byte) ([]byte, error) {
	const shortest = 24 // bytes
	encoded, marked := strings.CutPrefix(secret, "whsec_")
	key, err := base64.StdEncoding.DecodeString(encoded)
	if !marked || err != nil || len(key) < shortest {
		return nil, errors.New("payonce: the signing secret is malformed")
	}
	mac := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(mac, "%s.%s.", id, timestamp)
	_, _ = mac.Write(body)
	return mac.Sum(nil), nil
}

// anySignature looks through the list of signatures, several while a secret is rolled: `v1,<base64> v1,<base64>`.
func anySignature(list string, expected []byte) bool {
	for _, signed := range strings.Fields(list) {
		version, encoded, _ := strings.Cut(signed, ",")
		given, err := base64.StdEncoding.DecodeString(encoded)
		if version == "v1" && err == nil && hmac.Equal(given, expected) {
			return true
		}
	}
	return false
}
