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

// ErrNoSubject says that the thing a kind tells of was not named.
var ErrNoSubject = errors.New("message has no subject")

// Subject names what a message of the kind is about: the thing that changed. charge is needed for PaymentDeclined alone; without it the
// error is ErrNoSubject, as for a kind that does not exist.
func (k Kind) Subject(payment payments.PaymentID, charge string) (string, error) {
	switch k {
	case PaymentSucceeded, PaymentFailed, PaymentCanceled, PaymentExpired:
		return "payment/" + payment.String(), nil
	case PaymentDeclined:
		if charge == "" {
			return "", ErrNoSubject
		}
		return "charge/" + charge, nil
	default:
		return "", ErrNoSubject
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
