package stripeapi

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/stripe/stripe-go/v76"

	"payonce/payments"
)

// PayoutStatus is a payout's status, in Stripe's words.
type PayoutStatus string

// The statuses of a payout (https://docs.stripe.com/api/payouts/object). A paid one can still fail, within five business days.
const (
	PayoutPending   PayoutStatus = "pending"
	PayoutInTransit PayoutStatus = "in_transit"
	PayoutPaid      PayoutStatus = "paid"
	PayoutFailed    PayoutStatus = "failed"
	PayoutCanceled  PayoutStatus = "canceled"
)

// Payout is what the engine needs to know of a payout (https://docs.stripe.com/api/payouts/object).
type Payout struct {
	ID                 string
	Account            payments.Account // where it was read; the mode is the object's own
	Status             PayoutStatus
	Money              payments.Money
	Automatic          bool      // Stripe's schedule made it
	ArrivalDate        time.Time // when it is expected at the bank
	BalanceTransaction string    // txn_… that took the money
	FailureTransaction string    // txn_… that gave it back after a failure or a cancel
	Failure            *payments.ProviderError
	Metadata           map[string]string
	Created            time.Time
}

// ReadPayout reads a payout by its id.
func (c *Client) ReadPayout(ctx context.Context, credentials Credentials, id string) (Payout, error) {
	payout := &stripe.Payout{}
	if err := c.read(ctx, credentials, "/v1/payouts/"+url.PathEscape(id), nil, payout); err != nil {
		return Payout{}, err
	}
	return payoutOf(payout, credentials.Account), nil
}

// ListPayouts lists the payouts created within [from, to], newest first; ErrTooMany beyond 2,000. A list call, unlike search, reads its own account's
// writes, so it can prove absence.
func (c *Client) ListPayouts(ctx context.Context, credentials Credentials, from, to time.Time) ([]Payout, error) {
	query := url.Values{
		"created[gte]": {strconv.FormatInt(from.Unix(), 10)},
		"created[lte]": {strconv.FormatInt(to.Unix()+1, 10)},
	}
	payouts, err := readAll(ctx, c, credentials, "/v1/payouts", query, func(p *stripe.Payout) string { return p.ID })
	return mapped(payouts, func(p *stripe.Payout) Payout { return payoutOf(p, credentials.Account) }), err
}

func payoutOf(from *stripe.Payout, account payments.Account) Payout {
	payout := Payout{
		ID:                 from.ID,
		Account:            payments.Account{ID: account.ID, Livemode: from.Livemode},
		Status:             PayoutStatus(from.Status),
		Money:              payments.Money{Amount: from.Amount, Currency: payments.Currency(from.Currency)},
		Automatic:          from.Automatic,
		ArrivalDate:        moment(from.ArrivalDate),
		BalanceTransaction: transactionID(from.BalanceTransaction),
		FailureTransaction: transactionID(from.FailureBalanceTransaction),
		Metadata:           from.Metadata,
		Created:            moment(from.Created),
	}
	if from.FailureCode != "" {
		payout.Failure = &payments.ProviderError{Code: string(from.FailureCode), Message: from.FailureMessage}
	}
	return payout
}
