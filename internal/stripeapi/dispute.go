package stripeapi

import (
	"context"
	"net/url"
	"time"

	"github.com/stripe/stripe-go/v76"

	"payonce/payments"
)

// DisputeStatus is a dispute's status, in Stripe's words.
type DisputeStatus string

// The statuses of a dispute (https://docs.stripe.com/api/disputes/object). The warnings are those of an inquiry, which moves no money.
const (
	DisputeWarningNeedsResponse DisputeStatus = "warning_needs_response"
	DisputeWarningUnderReview   DisputeStatus = "warning_under_review"
	DisputeWarningClosed        DisputeStatus = "warning_closed"
	DisputeNeedsResponse        DisputeStatus = "needs_response"
	DisputeUnderReview          DisputeStatus = "under_review"
	DisputeWon                  DisputeStatus = "won"
	DisputeLost                 DisputeStatus = "lost"
)

// Dispute is what the engine needs to know of a dispute (https://docs.stripe.com/api/disputes/object).
type Dispute struct {
	ID         string
	Account    payments.Account // where it was read; the mode is the object's own
	Intent     string           // pi_…; empty for a charge that no intent made
	Charge     string           // ch_…
	Status     DisputeStatus
	Reason     string
	Money      payments.Money // disputed; it can differ from the charge
	DueBy      time.Time      // evidence must be in by then; zero when none is taken, as with bank debits
	Refundable bool           // a refund of the charge is still taken

	// Transactions are the withdrawal and the reinstatement, none, one or both, oldest first: their amounts are negative and positive, in the currency
	// that the account settles in, and the fee of the dispute is on the withdrawal.
	Transactions []BalanceTransaction
	Created      time.Time
}

// ReadDispute reads a dispute by its id.
func (c *Client) ReadDispute(ctx context.Context, credentials Credentials, id string) (Dispute, error) {
	dispute := &stripe.Dispute{}
	if err := c.read(ctx, credentials, "/v1/disputes/"+url.PathEscape(id), nil, dispute); err != nil {
		return Dispute{}, err
	}
	return disputeOf(dispute, credentials.Account), nil
}

// ListDisputes lists every dispute of an intent, newest first; ErrTooMany beyond 2,000.
func (c *Client) ListDisputes(ctx context.Context, credentials Credentials, intent string) ([]Dispute, error) {
	query := url.Values{"payment_intent": {intent}}
	disputes, err := readAll(ctx, c, credentials, "/v1/disputes", query, func(d *stripe.Dispute) string { return d.ID })
	return mapped(disputes, func(d *stripe.Dispute) Dispute { return disputeOf(d, credentials.Account) }), err
}

func disputeOf(from *stripe.Dispute, account payments.Account) Dispute {
	dispute := Dispute{
		ID:         from.ID,
		Account:    payments.Account{ID: account.ID, Livemode: from.Livemode},
		Intent:     intentID(from.PaymentIntent),
		Charge:     chargeID(from.Charge),
		Status:     DisputeStatus(from.Status),
		Reason:     string(from.Reason),
		Money:      payments.Money{Amount: from.Amount, Currency: payments.Currency(from.Currency)},
		Refundable: from.IsChargeRefundable,
		Created:    moment(from.Created),
	}
	if from.EvidenceDetails != nil {
		dispute.DueBy = moment(from.EvidenceDetails.DueBy)
	}
	dispute.Transactions = transactionsOf(from.BalanceTransactions, account)
	return dispute
}
