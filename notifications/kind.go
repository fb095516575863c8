package notifications

import (
	"errors"
	"fmt"
	"slices"

	"payonce/payments"
)

// Kind is what a message tells.
type Kind string

// The kinds. An ending has the payment as its subject, since it happens once; a decline has what was declined, since a payment can be declined
// again and each is told once.
const (
	PaymentSucceeded Kind = "payment.succeeded" // subject: payment/<id>
	PaymentDeclined  Kind = "payment.declined"  // subject: charge/<ch>, or confirm/<payment>#<n> when Stripe made no charge
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

// Declined is what a PaymentDeclined tells of: the charge, or where Stripe made none the n-th confirm, from 1.
type Declined struct {
	Charge  string // ch_…; empty when there is none
	Confirm int
}

// Subject names what a message of the kind is about: the thing that changed. declined is read for PaymentDeclined alone; when it names
// nothing, or there is no such kind, the error is ErrInvalidMessage.
func (k Kind) Subject(payment payments.PaymentID, declined Declined) (string, error) {
	switch {
	case slices.Contains([]Kind{PaymentSucceeded, PaymentFailed, PaymentCanceled, PaymentExpired}, k):
		return "payment/" + payment.String(), nil
	case k == PaymentDeclined && declined.Charge != "":
		return "charge/" + declined.Charge, nil
	case k == PaymentDeclined && declined.Confirm > 0:
		return fmt.Sprintf("confirm/%s#%d", payment, declined.Confirm), nil
	default:
		return "", fmt.Errorf("%w: %q tells of nothing", ErrInvalidMessage, k)
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
