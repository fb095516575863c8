package notifications

import (
	"encoding/json"
	"fmt"
	"time"

	"payonce/payments"
)

// payload is a Standard Webhooks payload (https://www.standardwebhooks.com, "Payload structure"). Receivers parse it: members are added, never
// renamed.
type payload struct {
	Type      Kind      `json:"type"`
	Timestamp time.Time `json:"timestamp"` // when the thing happened
	Data      data      `json:"data"`
}

type data struct {
	Subject string         `json:"subject"`           // what changed: Kind.Subject
	Payment *payments.View `json:"payment,omitempty"` // as it was when the message was made, without the client secret; a payout has none

	Refund  *payments.RefundView  `json:"refund,omitempty"`  // of a message about a refund
	Dispute *payments.DisputeView `json:"dispute,omitempty"` // of a message about a dispute
	Payout  *payments.PayoutView  `json:"payout,omitempty"`  // of a message about a payout
}

// Render makes the bytes of a message, once: every endpoint and every try gets the same ones. at is when the thing happened; refund is nil but of a
// message about one.
func Render(kind Kind, subject string, view payments.View, refund *payments.RefundView, at time.Time) ([]byte, error) {
	told := view.ForMessage()
	return render(kind, data{Subject: subject, Payment: &told, Refund: refund}, at)
}

// RenderDispute is Render for a message about a dispute.
func RenderDispute(kind Kind, subject string, view payments.View, dispute payments.DisputeView, at time.Time) ([]byte, error) {
	told := view.ForMessage()
	return render(kind, data{Subject: subject, Payment: &told, Dispute: &dispute}, at)
}

// RenderPayout is Render for a message about a payout, which has no payment.
func RenderPayout(kind Kind, subject string, payout payments.PayoutView, at time.Time) ([]byte, error) {
	return render(kind, data{Subject: subject, Payout: &payout}, at)
}

func render(kind Kind, what data, at time.Time) ([]byte, error) {
	body, err := json.Marshal(payload{Type: kind, Timestamp: at.UTC(), Data: what})
	if err != nil {
		return nil, fmt.Errorf("render %s for %s: %w", kind, what.Subject, err)
	}
	return body, nil
}
