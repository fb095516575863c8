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

	PaymentAuthorized        Kind = "payment.authorized"         // subject: payment/<id>
	PaymentHoldExpiring      Kind = "payment.hold_expiring"      // subject: payment/<id>
	PaymentPartiallyCaptured Kind = "payment.partially_captured" // subject: capture/<ch>/<new total>; more may follow

	RefundSucceeded Kind = "refund.succeeded" // subject: refund/<id>
	RefundFailed    Kind = "refund.failed"    // subject: refund/<id>; also after it had succeeded
	RefundCanceled  Kind = "refund.canceled"  // subject: refund/<id>

	DisputeOpened Kind = "dispute.opened" // subject: dispute/<id>; an inquiry too: the dispute's status tells
	DisputeWon    Kind = "dispute.won"    // subject: dispute/<id>
	DisputeLost   Kind = "dispute.lost"   // subject: dispute/<id>
	DisputeClosed Kind = "dispute.closed" // subject: dispute/<id>; an inquiry that moved no money

	PayoutPaid     Kind = "payout.paid"     // subject: payout/<id>; the bank has it, and may still send it back
	PayoutFailed   Kind = "payout.failed"   // subject: payout/<id>; also after it was paid, and when Stripe refused it
	PayoutCanceled Kind = "payout.canceled" // subject: payout/<id>
)

// Kinds lists every kind.
func Kinds() []Kind {
	return []Kind{
		PaymentSucceeded, PaymentDeclined, PaymentFailed, PaymentCanceled, PaymentExpired,
		PaymentAuthorized, PaymentHoldExpiring, PaymentPartiallyCaptured, RefundSucceeded, RefundFailed, RefundCanceled,
		DisputeOpened, DisputeWon, DisputeLost, DisputeClosed,
		PayoutPaid, PayoutFailed, PayoutCanceled,
	}
}

// ErrInvalidMessage says that a message lacks what every message needs, for instance what it tells of.
var ErrInvalidMessage = errors.New("incomplete message")

// Of is what a message tells of beside its payment, or without one.
type Of struct {
	Charge  string // ch_…: what was declined, or captured in part; empty when Stripe made none
	Confirm int    // where Stripe made no charge: the n-th confirm, from 1
	Total   int64  // captured in all by the charge, minor units
	Refund  string // the id of a refund, of a message about one
	Dispute string // the id of a dispute, of a message about one
	Payout  string // the id of a payout, of a message about one: it has no payment
}

// Subject names what a message of the kind is about: the thing that changed. When of names nothing that the kind needs, or there is no such kind, the
// error is ErrInvalidMessage.
func (k Kind) Subject(payment payments.PaymentID, of Of) (string, error) {
	once := []Kind{PaymentSucceeded, PaymentFailed, PaymentCanceled, PaymentExpired, PaymentAuthorized, PaymentHoldExpiring}
	switch {
	case slices.Contains(once, k):
		return "payment/" + payment.String(), nil
	case k == PaymentDeclined && of.Charge != "":
		return "charge/" + of.Charge, nil
	case k == PaymentDeclined && of.Confirm > 0:
		return fmt.Sprintf("confirm/%s#%d", payment, of.Confirm), nil
	case k == PaymentPartiallyCaptured && of.Charge != "" && of.Total > 0:
		return fmt.Sprintf("capture/%s/%d", of.Charge, of.Total), nil
	case slices.Contains([]Kind{RefundSucceeded, RefundFailed, RefundCanceled}, k) && of.Refund != "":
		return "refund/" + of.Refund, nil
	case slices.Contains([]Kind{DisputeOpened, DisputeWon, DisputeLost, DisputeClosed}, k) && of.Dispute != "":
		return "dispute/" + of.Dispute, nil
	case slices.Contains([]Kind{PayoutPaid, PayoutFailed, PayoutCanceled}, k) && of.Payout != "":
		return "payout/" + of.Payout, nil
	default:
		return "", fmt.Errorf("%w: %q tells of nothing", ErrInvalidMessage, k)
	}
}

// KindOfRefund is the kind of message that tells of a refund's status; false while it is under way.
func KindOfRefund(status payments.RefundStatus) (Kind, bool) {
	switch status {
	case payments.RefundSucceeded:
		return RefundSucceeded, true
	case payments.RefundFailed:
		return RefundFailed, true
	case payments.RefundCanceled:
		return RefundCanceled, true
	default:
		return "", false
	}
}

// KindOfPayout is the kind of message that tells of a payout's status; false while it is under way.
func KindOfPayout(status payments.PayoutStatus) (Kind, bool) {
	switch status {
	case payments.PayoutPaid:
		return PayoutPaid, true
	case payments.PayoutFailed:
		return PayoutFailed, true
	case payments.PayoutCanceled:
		return PayoutCanceled, true
	default:
		return "", false
	}
}

// KindOfDispute is the kind of message that tells of a dispute's status; false until it is decided.
func KindOfDispute(status payments.DisputeStatus) (Kind, bool) {
	switch status {
	case payments.DisputeWon:
		return DisputeWon, true
	case payments.DisputeLost:
		return DisputeLost, true
	case payments.DisputeWarningClosed:
		return DisputeClosed, true
	default:
		return "", false
	}
}

// KindOf is the kind of message that tells of a payment's new status; false for a status that is not told.
func KindOf(status payments.Status) (Kind, bool) {
	switch status {
	case payments.StatusSucceeded:
		return PaymentSucceeded, true
	case payments.StatusFailed:
		return PaymentFailed, true
	case payments.StatusCanceled:
		return PaymentCanceled, true
	case payments.StatusExpired:
		return PaymentExpired, true
	case payments.StatusRequiresCapture:
		return PaymentAuthorized, true
	default:
		return "", false
	}
}
