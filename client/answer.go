package client

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"

	"payonce/payments"
)

// Payment is a payment as the API shows it; payments has the words of its status and stage.
type Payment = payments.View

// PaymentID names a payment.
type PaymentID = payments.PaymentID

// Answer is what a command was answered when it was not refused. A decline is an answer: see Payment.LastError.
type Answer struct {
	Payment   Payment // as of the answer; an old one when Replayed
	Status    int     // HTTP: 201 of a create, 200 of the others and after the replay window, 202 while unsettled
	Settled   bool    // there is an outcome. Otherwise repeat the command with the same key, or Await the answer
	Replayed  bool    // the stored answer of an earlier request, byte for byte
	RequestID string  // for whoever reads our logs

	retryAfter time.Duration
	request    *request // to ask again
}

// answer reads an answer to a command.
func (r reply) answer() (Answer, error) {
	switch r.status {
	case http.StatusOK, http.StatusCreated, http.StatusAccepted:
		payment, err := r.payment()
		return Answer{
			Payment: payment, Status: r.status, Settled: r.status != http.StatusAccepted, Replayed: r.replayed(),
			RequestID: r.requestID(), retryAfter: retryAfter(r.header),
		}, err
	default:
		return Answer{}, r.refusal()
	}
}

// payment reads a payment. What is none was cut, or written by something between us.
func (r reply) payment() (Payment, error) {
	var payment Payment
	if err := json.Unmarshal(r.body, &payment); err != nil {
		return Payment{}, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	if payment.Object != "payment" || payment.ID.UUID == uuid.Nil {
		return Payment{}, fmt.Errorf("%w: not a payment", errUnreadable)
	}
	return payment, nil
}
