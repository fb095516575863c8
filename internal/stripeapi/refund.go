package stripeapi

import (
	"context"
	"net/url"
	"time"

	"github.com/stripe/stripe-go/v76"

	"payonce/payments"
)

// RefundStatus is a refund's status, in Stripe's words.
type RefundStatus string

// The statuses of a refund (https://docs.stripe.com/api/refunds/object). A succeeded one can still fail, days later
// (https://docs.stripe.com/refunds#failed-refunds): none is absorbing but canceled and failed.
const (
	RefundPending        RefundStatus = "pending"
	RefundRequiresAction RefundStatus = "requires_action"
	RefundSucceeded      RefundStatus = "succeeded"
	RefundFailed         RefundStatus = "failed"
	RefundCanceled       RefundStatus = "canceled"
)

// Refund is what the engine needs to know of a refund (https://docs.stripe.com/api/refunds/object). Stripe's object has no mode: it is the account's.
type Refund struct {
	ID                 string
	Account            payments.Account // where it was read
	Intent             string           // pi_…; empty for a charge that no intent made
	Charge             string           // ch_…
	Status             RefundStatus
	Money              payments.Money
	Reason             string // duplicate, fraudulent, requested_by_customer, or Stripe's own expired_uncaptured_charge; empty when none was given
	FailureReason      string // why it failed, for instance expired_or_canceled_card
	BalanceTransaction string // txn_… that took the money; empty while none did
	FailureTransaction string // txn_… that gave it back after a failure
	Metadata           map[string]string
	Created            time.Time
}

// ReadRefund reads a refund by its id.
func (c *Client) ReadRefund(ctx context.Context, credentials Credentials, id string) (Refund, error) {
	refund := &stripe.Refund{}
	if err := c.read(ctx, credentials, "/v1/refunds/"+url.PathEscape(id), nil, refund); err != nil {
		return Refund{}, err
	}
	return refundOf(refund, credentials.Account), nil
}

// ListRefunds lists every refund of an intent, newest first, whoever made it; ErrTooMany beyond 2,000. A list call, unlike search, reads its own
// account's writes, so it can prove absence.
func (c *Client) ListRefunds(ctx context.Context, credentials Credentials, intent string) ([]Refund, error) {
	query := url.Values{"payment_intent": {intent}}
	refunds, err := readAll(ctx, c, credentials, "/v1/refunds", query, func(r *stripe.Refund) string { return r.ID })
	return mapped(refunds, func(r *stripe.Refund) Refund { return refundOf(r, credentials.Account) }), err
}

func refundOf(from *stripe.Refund, account payments.Account) Refund {
	return Refund{
		ID:                 from.ID,
		Account:            account,
		Intent:             intentID(from.PaymentIntent),
		Charge:             chargeID(from.Charge),
		Status:             RefundStatus(from.Status),
		Money:              payments.Money{Amount: from.Amount, Currency: payments.Currency(from.Currency)},
		Reason:             string(from.Reason),
		FailureReason:      string(from.FailureReason),
		BalanceTransaction: transactionID(from.BalanceTransaction),
		FailureTransaction: transactionID(from.FailureBalanceTransaction),
		Metadata:           from.Metadata,
		Created:            moment(from.Created),
	}
}
