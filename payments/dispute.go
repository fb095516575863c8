package payments

import (
	"time"

	"github.com/google/uuid"
)

// DisputeID names a dispute: UUIDv5 over Stripe's id.
type DisputeID struct{ uuid.UUID }

// Dispute is a row of disputes: the payer's bank asks for money of a payment back. Amounts are minor units.
type Dispute struct {
	ID           DisputeID
	Tenant       TenantID
	Payment      PaymentID
	ProviderID   string // dp_…
	Charge       string // ch_…
	Money        Money  // disputed
	Reason       string // Stripe's word
	Status       DisputeStatus
	Stage        Stage
	Reached      map[Stage]time.Time
	DueBy        *time.Time // evidence must be in by then; nil: none is taken
	Withdrawn    int64      // by Stripe, of the disputed money
	Reinstated   int64      // of what was withdrawn
	Transactions []string   // txn_… that are booked
	Lost         int64      // what is booked as lost
	Fees         []Money    // what Stripe kept for it, in the currencies of the account; filled in for callers alone
	ReadBegunAt  *time.Time
	CreatedAt    time.Time // at Stripe
}

// ReachedAt is when the stage was reached, or nil.
func (d Dispute) ReachedAt(stage Stage) *time.Time {
	at, reached := d.Reached[stage]
	if !reached {
		return nil
	}
	return &at
}

// Taken is what is withdrawn and not reinstated: it may not be given back a second time.
func (d Dispute) Taken() int64 { return d.Withdrawn - d.Reinstated }

// DisputeStatus is what a dispute is, in Stripe's words (https://docs.stripe.com/api/disputes/object).
type DisputeStatus string

// The statuses of a dispute. The warnings are those of an inquiry, which moves no money.
const (
	DisputeWarningNeedsResponse DisputeStatus = "warning_needs_response"
	DisputeWarningUnderReview   DisputeStatus = "warning_under_review"
	DisputeWarningClosed        DisputeStatus = "warning_closed"
	DisputeNeedsResponse        DisputeStatus = "needs_response"
	DisputeUnderReview          DisputeStatus = "under_review"
	DisputeWon                  DisputeStatus = "won"
	DisputeLost                 DisputeStatus = "lost"
)

// DisputeStatuses lists every status.
func DisputeStatuses() []DisputeStatus {
	return []DisputeStatus{
		DisputeWarningNeedsResponse, DisputeWarningUnderReview, DisputeWarningClosed, DisputeNeedsResponse, DisputeUnderReview, DisputeWon, DisputeLost,
	}
}

// Terminal tells whether the dispute is decided. Opened is not lost: until then the money is held.
func (s DisputeStatus) Terminal() bool {
	return s == DisputeWon || s == DisputeLost || s == DisputeWarningClosed
}

// StageOf is the least stage of a dispute in the status whose facts are all booked.
func (s DisputeStatus) StageOf() Stage {
	if s.Terminal() {
		return StageLedgerApplied
	}
	return StageProcessing
}

// DisputeEdge is one permitted change of a dispute's status.
type DisputeEdge struct {
	From, To DisputeStatus
	Why      string
}

// DisputeTransitions is the table of permitted changes. A dispute is first seen in any status: a bank debit's is lost at once.
func DisputeTransitions() []DisputeEdge {
	return []DisputeEdge{
		{DisputeWarningNeedsResponse, DisputeWarningUnderReview, "the inquiry was answered"},
		{DisputeWarningNeedsResponse, DisputeWarningClosed, "the inquiry ended without a chargeback"},
		{DisputeWarningNeedsResponse, DisputeNeedsResponse, "the inquiry became a chargeback"},
		{DisputeWarningNeedsResponse, DisputeUnderReview, "it became a chargeback, which was answered"},
		{DisputeWarningNeedsResponse, DisputeWon, "it became a chargeback, which was won"},
		{DisputeWarningNeedsResponse, DisputeLost, "it became a chargeback, which was lost"},
		{DisputeWarningUnderReview, DisputeWarningNeedsResponse, "the bank asks for more"},
		{DisputeWarningUnderReview, DisputeWarningClosed, "the inquiry ended without a chargeback"},
		{DisputeWarningUnderReview, DisputeNeedsResponse, "the inquiry became a chargeback"},
		{DisputeWarningUnderReview, DisputeUnderReview, "it became a chargeback, which was answered"},
		{DisputeWarningUnderReview, DisputeWon, "it became a chargeback, which was won"},
		{DisputeWarningUnderReview, DisputeLost, "it became a chargeback, which was lost"},
		{DisputeWarningClosed, DisputeNeedsResponse, "a chargeback came after all"},
		{DisputeWarningClosed, DisputeUnderReview, "a chargeback came after all, and was answered"},
		{DisputeWarningClosed, DisputeWon, "a chargeback came after all, and was won"},
		{DisputeWarningClosed, DisputeLost, "a chargeback came after all, and was lost"},
		{DisputeNeedsResponse, DisputeUnderReview, "evidence was submitted"},
		{DisputeNeedsResponse, DisputeWon, "the bank gave the money back"},
		{DisputeNeedsResponse, DisputeLost, "nobody answered, or it was accepted"},
		{DisputeUnderReview, DisputeNeedsResponse, "the bank asks for more"},
		{DisputeUnderReview, DisputeWon, "the bank gave the money back"},
		{DisputeUnderReview, DisputeLost, "the bank kept the money"},
		{DisputeLost, DisputeWon, "the bank changed its mind"},
	}
}

// CanBecome tells whether DisputeTransitions permits the change, or nothing changes.
func (s DisputeStatus) CanBecome(to DisputeStatus) bool {
	if s == to {
		return true
	}
	for _, edge := range DisputeTransitions() {
		if edge.From == s && edge.To == to {
			return true
		}
	}
	return false
}

// DisputeView is a dispute as callers and receivers of messages see it.
type DisputeView struct {
	ID         DisputeID           `json:"id"`
	Object     string              `json:"object"` // always "dispute"
	Payment    PaymentID           `json:"payment"`
	Amount     int64               `json:"amount"`
	Currency   Currency            `json:"currency"`
	Reason     string              `json:"reason,omitempty"`
	Status     DisputeStatus       `json:"status"`
	Stage      Stage               `json:"stage"`
	Stages     map[Stage]time.Time `json:"stages"`
	DueBy      *time.Time          `json:"due_by,omitempty"`
	Withdrawn  int64               `json:"withdrawn"`
	Reinstated int64               `json:"reinstated"`
	Held       int64               `json:"held"`           // withdrawn, and not decided yet
	Lost       int64               `json:"lost"`           // gone
	Fees       []Money             `json:"fees,omitempty"` // what Stripe kept, in the currencies of the account; not in messages
	Dispute    string              `json:"dispute"`        // Stripe's id, dp_…
	Charge     string              `json:"charge,omitempty"`
	CreatedAt  time.Time           `json:"created_at"`
}

// View shows the dispute.
func (d Dispute) View() DisputeView {
	return DisputeView{
		ID: d.ID, Object: "dispute", Payment: d.Payment, Amount: d.Money.Amount, Currency: d.Money.Currency, Reason: d.Reason,
		Status: d.Status, Stage: d.Stage, Stages: d.Reached, DueBy: d.DueBy, Withdrawn: d.Withdrawn, Reinstated: d.Reinstated,
		Held: max(d.Taken()-d.Lost, 0), Lost: d.Lost, Fees: d.Fees,
		Dispute: d.ProviderID, Charge: d.Charge, CreatedAt: d.CreatedAt,
	}
}
