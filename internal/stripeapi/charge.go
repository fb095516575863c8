package stripeapi

import (
	"context"
	"net/url"
	"time"

	"github.com/stripe/stripe-go/v76"

	"payonce/payments"
)

// ChargeStatus is a charge's status, in Stripe's words (https://docs.stripe.com/api/charges/object).
type ChargeStatus string

// The statuses of a charge. One that only holds the money is succeeded too: Captured tells.
const (
	ChargeSucceeded ChargeStatus = "succeeded"
	ChargePending   ChargeStatus = "pending"
	ChargeFailed    ChargeStatus = "failed"
)

// Charge is what the engine needs to know of a charge (https://docs.stripe.com/api/charges/object). Amounts are minor units.
type Charge struct {
	ID             string
	Account        payments.Account // where it was read; the mode is the object's own
	Intent         string           // pi_…; empty for a charge that no intent made
	Status         ChargeStatus
	Money          payments.Money // authorised or charged
	AmountCaptured int64          // in all
	AmountRefunded int64          // in all; what a partial capture released is in it too (field notes of solidus_stripe#268)
	Captured       bool
	Disputed       bool      // it is, or was
	CaptureBefore  time.Time // a card's hold is released then; zero when none is known (https://docs.stripe.com/payments/place-a-hold-on-a-payment-method)
	Multicapture   bool      // it may be captured several times (https://docs.stripe.com/payments/multicapture)

	BalanceTransaction string              // txn_…; empty while Stripe has not made it (asynchronous capture, https://docs.stripe.com/changelog, 2024-04-10)
	Transaction        *BalanceTransaction // the same, when it came expanded
	FailureTransaction string              // txn_… that took the money back when the payment failed later
	Failure            *payments.ProviderError
	Metadata           map[string]string // of the intent, as it was when it was confirmed
	Created            time.Time
}

// PaymentMetadata is the payment that the charge's intent said it was made for; empty for a charge that is not ours.
func (c Charge) PaymentMetadata() string { return c.Metadata[payments.MetadataPayment] }

// ReadCharge reads a charge by its id, with its balance transaction in full.
func (c *Client) ReadCharge(ctx context.Context, credentials Credentials, id string) (Charge, error) {
	charge := &stripe.Charge{}
	query := url.Values{"expand[]": {"balance_transaction"}}
	if err := c.read(ctx, credentials, "/v1/charges/"+url.PathEscape(id), query, charge); err != nil {
		return Charge{}, err
	}
	return chargeOf(charge, credentials.Account), nil
}

func chargeOf(from *stripe.Charge, account payments.Account) Charge {
	charge := Charge{
		ID:             from.ID,
		Account:        payments.Account{ID: account.ID, Livemode: from.Livemode},
		Intent:         intentID(from.PaymentIntent),
		Status:         ChargeStatus(from.Status),
		Money:          payments.Money{Amount: from.Amount, Currency: payments.Currency(from.Currency)},
		AmountCaptured: from.AmountCaptured,
		AmountRefunded: from.AmountRefunded,
		Captured:       from.Captured,
		Disputed:       from.Disputed,

		BalanceTransaction: transactionID(from.BalanceTransaction),
		Transaction:        expandedTransaction(from.BalanceTransaction, account),
		FailureTransaction: transactionID(from.FailureBalanceTransaction),
		Metadata:           from.Metadata,
		Created:            moment(from.Created),
	}
	if from.FailureCode != "" {
		charge.Failure = &payments.ProviderError{Code: from.FailureCode, Message: from.FailureMessage, Charge: from.ID}
	}
	if details := from.PaymentMethodDetails; details != nil && details.Card != nil {
		charge.CaptureBefore = moment(details.Card.CaptureBefore)
		multicapture := details.Card.Multicapture
		charge.Multicapture = multicapture != nil && multicapture.Status == stripe.ChargePaymentMethodDetailsCardMulticaptureStatusAvailable
	}
	return charge
}

// expandedCharge is the charge, or nil when only its id came.
func expandedCharge(from *stripe.Charge, account payments.Account) *Charge {
	if from == nil || from.Object == "" {
		return nil
	}
	charge := chargeOf(from, account)
	return &charge
}

func chargeID(from *stripe.Charge) string {
	if from == nil {
		return ""
	}
	return from.ID
}

func intentID(from *stripe.PaymentIntent) string {
	if from == nil {
		return ""
	}
	return from.ID
}

// moment is a time of Stripe's, in Unix seconds; 0 and absent are the zero time.
func moment(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}
