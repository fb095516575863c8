package payments

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/google/uuid"
)

// PayoutID names a payout: UUIDv5 over its command's identity or, when it was made elsewhere, over Stripe's id.
type PayoutID struct{ uuid.UUID }

// PayoutCommand asks to send money that Stripe holds for the tenant to its bank.
type PayoutCommand struct {
	Amount      int64             `json:"amount"` // minor units
	Currency    Currency          `json:"currency"`
	Reference   string            `json:"reference"` // names the payout: two equal payouts have two references
	Description *string           `json:"description,omitempty"`
	Metadata    map[string]string `json:"metadata,omitempty"`
}

// Payout is a row of payouts. It belongs to no payment.
type Payout struct {
	ID            PayoutID
	Tenant        TenantID
	Account       Account   // the tenant's when it was asked for, pinned
	Record        *RecordID // nil: it was made elsewhere
	Reference     *string   // nil: it was made elsewhere
	Money         Money
	Description   *string
	Metadata      map[string]string
	Status        PayoutStatus
	Stage         Stage
	Reached       map[Stage]time.Time
	ProviderID    string     // po_…; empty until bound
	Automatic     bool       // Stripe's schedule made it
	ArrivalDate   *time.Time // when it is expected at the bank
	FailureReason string     // Stripe's code, of a failed one
	LastError     *ProviderError
	Moved         bool // the money has left what Stripe holds: it is posted
	Returned      bool // and came back: that is posted too
	Review        *Review
	LastMessage   int // number of the last message about it
	ReadBegunAt   *time.Time
	CreatedAt     time.Time
}

// ReachedAt is when the stage was reached, or nil.
func (p Payout) ReachedAt(stage Stage) *time.Time {
	at, reached := p.Reached[stage]
	if !reached {
		return nil
	}
	return &at
}

// External tells whether somebody else made it: the dashboard, another system, Stripe's own schedule.
func (p Payout) External() bool { return p.Record == nil }

// PayoutStatus is what a payout is, in Stripe's words (https://docs.stripe.com/api/payouts/object); submitted is ours.
type PayoutStatus string

// The statuses of a payout.
const (
	PayoutSubmitted PayoutStatus = "submitted"
	PayoutPending   PayoutStatus = "pending"
	PayoutInTransit PayoutStatus = "in_transit"
	PayoutPaid      PayoutStatus = "paid"
	PayoutFailed    PayoutStatus = "failed"
	PayoutCanceled  PayoutStatus = "canceled"
)

// PayoutStatuses lists every status.
func PayoutStatuses() []PayoutStatus {
	return []PayoutStatus{PayoutSubmitted, PayoutPending, PayoutInTransit, PayoutPaid, PayoutFailed, PayoutCanceled}
}

// CameBack tells whether the payout's money is, or stayed, at Stripe.
func (s PayoutStatus) CameBack() bool { return s == PayoutFailed || s == PayoutCanceled }

// Terminal tells whether the payout is over; one that was paid can still fail, within five business days
// (https://docs.stripe.com/api/payouts/object, status).
func (s PayoutStatus) Terminal() bool { return s == PayoutPaid || s.CameBack() }

// StageOf is the least stage of a payout in the status whose facts are all booked.
func (s PayoutStatus) StageOf() Stage {
	switch s {
	case PayoutSubmitted:
		return StageSubmitted
	case PayoutPending, PayoutInTransit:
		return StageProcessing
	default:
		return StageLedgerApplied
	}
}

// PayoutEdge is one permitted change of a payout's status.
type PayoutEdge struct {
	From, To PayoutStatus
	Why      string
}

// PayoutTransitions is the table of permitted changes. failed and canceled absorb.
func PayoutTransitions() []PayoutEdge {
	return []PayoutEdge{
		{PayoutSubmitted, PayoutPending, "Stripe took it; the bank has it later"},
		{PayoutSubmitted, PayoutInTransit, "it is with the bank"},
		{PayoutSubmitted, PayoutPaid, "the bank has it"},
		{PayoutSubmitted, PayoutFailed, "Stripe refused it, or the bank did at once"},
		{PayoutSubmitted, PayoutCanceled, "canceled before we learnt of it"},
		{PayoutPending, PayoutInTransit, "it is with the bank"},
		{PayoutPending, PayoutPaid, "the bank has it"},
		{PayoutPending, PayoutFailed, "the bank refused it"},
		{PayoutPending, PayoutCanceled, "canceled elsewhere, before it was sent to the bank"},
		{PayoutInTransit, PayoutPaid, "the bank has it"},
		{PayoutInTransit, PayoutFailed, "the bank refused it"},
		{PayoutInTransit, PayoutCanceled, "canceled elsewhere, and in_transit was told of late"},
		{PayoutPaid, PayoutFailed, "the bank sent it back, days later"},
	}
}

// CanBecome tells whether PayoutTransitions permits the change, or nothing changes.
func (s PayoutStatus) CanBecome(to PayoutStatus) bool {
	if s == to {
		return true
	}
	for _, edge := range PayoutTransitions() {
		if edge.From == s && edge.To == to {
			return true
		}
	}
	return false
}

// PayoutView is a payout as callers see it.
type PayoutView struct {
	ID            PayoutID            `json:"id"`
	Object        string              `json:"object"` // always "payout"
	Reference     *string             `json:"reference,omitempty"`
	Amount        int64               `json:"amount"`
	Currency      Currency            `json:"currency"`
	Description   *string             `json:"description,omitempty"`
	Status        PayoutStatus        `json:"status"`
	Stage         Stage               `json:"stage"`
	Stages        map[Stage]time.Time `json:"stages"`
	Payout        string              `json:"payout,omitempty"` // Stripe's id, po_…
	External      bool                `json:"external,omitempty"`
	Automatic     bool                `json:"automatic,omitempty"`
	ArrivalDate   *time.Time          `json:"arrival_date,omitempty"`
	FailureReason string              `json:"failure_reason,omitempty"`
	LastError     *ProviderError      `json:"last_error,omitempty"`
	Metadata      map[string]string   `json:"metadata,omitempty"`
	Livemode      bool                `json:"livemode"`
	CreatedAt     time.Time           `json:"created_at"`
}

// View shows the payout.
func (p Payout) View() PayoutView {
	return PayoutView{
		ID: p.ID, Object: "payout", Reference: p.Reference, Amount: p.Money.Amount, Currency: p.Money.Currency, Description: p.Description,
		Status: p.Status, Stage: p.Stage, Stages: p.Reached, Payout: p.ProviderID, External: p.External(), Automatic: p.Automatic,
		ArrivalDate: p.ArrivalDate, FailureReason: p.FailureReason, LastError: p.LastError, Metadata: p.Metadata, Livemode: p.Account.Livemode,
		CreatedAt: p.CreatedAt,
	}
}

// Outcome is the answer to the command that asked for the payout: 201, also while it is under way; 402 for a definite refusal by Stripe, for instance
// balance_insufficient.
func (p Payout) Outcome() (code int, contentType string, body []byte, err error) {
	if p.ProviderID == "" && p.LastError != nil {
		body, err = json.Marshal(NewProblem(http.StatusPaymentRequired, string(FailureProviderRefused), p.LastError.Message))
		return http.StatusPaymentRequired, ContentTypeProblem, body, encoding(err)
	}
	body, err = json.Marshal(p.View())
	return http.StatusCreated, ContentTypeJSON, body, encoding(err)
}
