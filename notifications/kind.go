package notifications

import (
	"errors"

	"payonce/payments"
)

// Kind is what a message tells.
type Kind string

// The kinds. An ending has the payment as its subject, since it happens once; a decline has the charge that was declined, since a payment
// can be declined again and each is told once.
const (
	PaymentSucceeded Kind = "payment.succeeded" // subject: payment/<id>
	PaymentDeclined  Kind = "payment.declined"  // subject: charge/<ch>
	PaymentFailed    Kind = "payment.failed"    // subject: payment/<id>
	PaymentCanceled  Kind = "payment.canceled"  // subject: payment/<id>
	PaymentExpired   Kind = "payment.expired"   // subject: payment/<id>
)

// Kinds lists every kind.
func Kinds() []Kind {
	return []Kind{PaymentSucceeded, PaymentDeclined, PaymentFailed, PaymentCanceled, PaymentExpired}
}

// ErrInvalidMessage says that a message lacks what every message needs, for instance what it tells of.
var ErrInvalidMessage = errors.New("incomplete message")

// Subject names what a message of the kind is about: the thing that changed. charge is needed for PaymentDeclined alone; without it the
// error is ErrInvalidMessage, as for a kind that does not exist.
func (k Kind) Subject(payment payments.PaymentID, charge string) (string, error) {
	switch k {
	case PaymentSucceeded, PaymentFailed, PaymentCanceled, PaymentExpired:
		return "payment/" + payment.String(), nil
	case PaymentDeclined:
		if charge == "" {
			return "", ErrInvalidMessage
		}
		return "charge/" + charge, nil
	default:
		return "", ErrInvalidMessage
	}
}

// KindOfEnding is the kind of message that tells of a payment's ending; false while the payment has not ended.
func KindOfEnding(status payments.Status) (Kind, bool) {
	switch status {
	case payments.StatusSucceeded:
		return PaymentSucceeded, true
	case payments.StatusFailed:
		return PaymentFailed, true
	case payments.StatusCanceled:
		return PaymentCanceled, true
	case payments.StatusExpired:
		return PaymentExpired, true
	default:
		return "", false
	}
}
