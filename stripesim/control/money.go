package control

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// Refund is a refund in the books.
type Refund struct {
	ID                        string            `json:"id"`
	PaymentIntent             string            `json:"payment_intent"`
	Charge                    string            `json:"charge"`
	Amount                    int64             `json:"amount"` // minor units
	Currency                  string            `json:"currency"`
	Status                    string            `json:"status"` // Stripe's word
	Reason                    string            `json:"reason,omitempty"`
	FailureReason             string            `json:"failure_reason,omitempty"`
	BalanceTransaction        string            `json:"balance_transaction,omitempty"`         // empty while the account's balance has not paid it
	FailureBalanceTransaction string            `json:"failure_balance_transaction,omitempty"` // what gave it back to the balance
	Metadata                  map[string]string `json:"metadata"`
	Released                  bool              `json:"released,omitempty"` // of a hold: no captured money went back
	Created                   time.Time         `json:"created"`            // the twin's clock, whole seconds
}

// RefundPlan says what becomes of a refund when it is made, and later.
type RefundPlan struct {
	Status        string `json:"status"`                   // succeeded, pending, requires_action or failed
	Unfunded      bool   `json:"unfunded,omitempty"`       // of a pending one: for want of balance; it has no balance transaction yet
	AfterS        int64  `json:"after_s,omitempty"`        // seconds of the twin's clock until it changes; 0 = until SettleRefund
	Then          string `json:"then,omitempty"`           // to succeeded (the default) or failed
	FailureReason string `json:"failure_reason,omitempty"` // of one that fails; empty = unknown
}

// RefundElsewhere is a refund made at the Dashboard.
type RefundElsewhere struct {
	Amount   int64             `json:"amount,omitempty"` // minor units; 0 = all that is left
	Reason   string            `json:"reason,omitempty"`
	Metadata map[string]string `json:"metadata,omitempty"`
}

// SettleRefund says what becomes of a refund.
type SettleRefund struct {
	Status        string `json:"status"` // succeeded, failed, canceled; of one that succeeded only failed
	FailureReason string `json:"failure_reason,omitempty"`
}

// CaptureElsewhere is a capture made at the Dashboard.
type CaptureElsewhere struct {
	Amount int64 `json:"amount,omitempty"` // minor units; 0 = all that is left
	Keep   bool  `json:"keep,omitempty"`   // keeps the rest of a hold with multicapture for another capture
}

// CancelElsewhere is a cancellation made at the Dashboard.
type CancelElsewhere struct {
	Reason string `json:"reason,omitempty"` // empty = requested_by_customer
}

// Dispute is a dispute in the books.
type Dispute struct {
	ID                  string    `json:"id"`
	PaymentIntent       string    `json:"payment_intent"`
	Charge              string    `json:"charge"`
	Amount              int64     `json:"amount"` // minor units
	Currency            string    `json:"currency"`
	Status              string    `json:"status"` // Stripe's word
	Reason              string    `json:"reason"`
	Withdrawn           int64     `json:"withdrawn"`  // minor units, without fees
	Reinstated          int64     `json:"reinstated"` // minor units, without fees
	BalanceTransactions []string  `json:"balance_transactions,omitempty"`
	Created             time.Time `json:"created"` // the twin's clock, whole seconds
}

// OpenDispute is the payer's bank asking for the money.
type OpenDispute struct {
	Amount int64  `json:"amount,omitempty"` // minor units; 0 = what was captured and not refunded
	Reason string `json:"reason,omitempty"` // empty = fraudulent
	Status string `json:"status,omitempty"` // warning_needs_response (no money moves), needs_response (cards) or lost (bank debits)
	Fee    *int64 `json:"fee,omitempty"`    // minor units of the settlement's currency; null = 1500
}

// UpdateDispute changes an open dispute.
type UpdateDispute struct {
	Status   string `json:"status,omitempty"`   // empty = as it is; from an inquiry to needs_response takes the money
	Evidence bool   `json:"evidence,omitempty"` // some was submitted
}

// CloseDispute ends a dispute. One that is lost may still be won.
type CloseDispute struct {
	Status          string `json:"status"`                     // won or lost; warning_closed of an inquiry
	ReturnFee       bool   `json:"return_fee,omitempty"`       // of one that is won
	ReinstatedFirst bool   `json:"reinstated_first,omitempty"` // funds_reinstated before closed
}

// Account is how an account behaves, in both modes, where it does not behave as every other.
type Account struct {
	ID                 string      `json:"account"`
	BalanceLagS        int64       `json:"balance_lag_s,omitempty"`       // seconds from a capture to its balance transaction
	SettlementCurrency string      `json:"settlement_currency,omitempty"` // of payments in other currencies; empty = each in its own
	RateNumerator      int64       `json:"rate_numerator,omitempty"`      // minor units of the settlement for …
	RateDenominator    int64       `json:"rate_denominator,omitempty"`    // … so many of the payment
	NextRefund         *RefundPlan `json:"next_refund,omitempty"`         // of any intent; taken by the next refund
	ReleasesAsRefunds  bool        `json:"releases_as_refunds,omitempty"` // what a partial capture or a cancellation gives back of a hold is a Refund too
}

// PlanRefund sets what becomes of the next refund of an intent.
func (c *Client) PlanRefund(ctx context.Context, intent string, plan RefundPlan) (Book, error) {
	return c.act(ctx, intent, "next_refund", plan)
}

// RefundElsewhere makes a refund as the Dashboard does: without a key and with the metadata given, if any.
func (c *Client) RefundElsewhere(ctx context.Context, intent string, how RefundElsewhere) (Refund, error) {
	return call[Refund](ctx, c, http.MethodPost, "/_twin/payment_intents/"+url.PathEscape(intent)+"/refund", how)
}

// SettleRefund settles a refund that is pending or requires_action, or fails one that had succeeded.
func (c *Client) SettleRefund(ctx context.Context, refund string, how SettleRefund) (Refund, error) {
	return call[Refund](ctx, c, http.MethodPost, "/_twin/refunds/"+url.PathEscape(refund)+"/settle", how)
}

// CaptureElsewhere captures as the Dashboard does. It does not count among the books' captures_executed.
func (c *Client) CaptureElsewhere(ctx context.Context, intent string, how CaptureElsewhere) (Book, error) {
	return c.act(ctx, intent, "capture", how)
}

// CancelElsewhere cancels as the Dashboard does.
func (c *Client) CancelElsewhere(ctx context.Context, intent string, how CancelElsewhere) (Book, error) {
	return c.act(ctx, intent, "cancel", how)
}

// OpenDispute opens a dispute of an intent's money.
func (c *Client) OpenDispute(ctx context.Context, intent string, how OpenDispute) (Dispute, error) {
	return call[Dispute](ctx, c, http.MethodPost, "/_twin/payment_intents/"+url.PathEscape(intent)+"/dispute", how)
}

// UpdateDispute changes an open dispute.
func (c *Client) UpdateDispute(ctx context.Context, dispute string, how UpdateDispute) (Dispute, error) {
	return call[Dispute](ctx, c, http.MethodPost, "/_twin/disputes/"+url.PathEscape(dispute)+"/update", how)
}

// CloseDispute ends a dispute.
func (c *Client) CloseDispute(ctx context.Context, dispute string, how CloseDispute) (Dispute, error) {
	return call[Dispute](ctx, c, http.MethodPost, "/_twin/disputes/"+url.PathEscape(dispute)+"/close", how)
}

// SetAccount replaces how an account (acct_…) behaves; the zero value is as every other does.
func (c *Client) SetAccount(ctx context.Context, account Account) (Account, error) {
	return call[Account](ctx, c, http.MethodPost, "/_twin/accounts/"+url.PathEscape(account.ID), account)
}

// Account reads what SetAccount sets.
func (c *Client) Account(ctx context.Context, id string) (Account, error) {
	return call[Account](ctx, c, http.MethodGet, "/_twin/accounts/"+url.PathEscape(id), nil)
}
