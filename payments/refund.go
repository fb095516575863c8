package payments

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/google/uuid"
)

// RefundID names a refund: UUIDv5 over its command's identity or, when it was made elsewhere, over Stripe's id.
type RefundID struct{ uuid.UUID }

// RefundCommand asks to give money back.
type RefundCommand struct {
	Payment   PaymentID         `json:"payment"`
	Amount    *int64            `json:"amount,omitempty"`    // minor units; absent: all that may still be given back
	Reference *string           `json:"reference,omitempty"` // names the refund: two equal refunds have two references
	Reason    *string           `json:"reason,omitempty"`    // Stripe's word for why
	Metadata  map[string]string `json:"metadata,omitempty"`
}

// Refund is a row of refunds.
type Refund struct {
	ID            RefundID
	Tenant        TenantID
	Payment       PaymentID
	Record        *RecordID // nil: it was made elsewhere
	Reference     *string
	Money         Money
	Reason        *string
	Metadata      map[string]string
	TakenFrom     []Destination // who gives it back, of a payment with destinations; fixed when the refund was made
	Status        RefundStatus
	Stage         Stage
	Reached       map[Stage]time.Time
	ProviderID    string // re_…; empty until bound
	Charge        string
	FailureReason string // Stripe's word, of a failed one
	LastError     *ProviderError
	Moved         bool // the money has left: it is posted
	Returned      bool // and came back: that is posted too
	ReadBegunAt   *time.Time
	CreatedAt     time.Time
}

// ReachedAt is when the stage was reached, or nil.
func (r Refund) ReachedAt(stage Stage) *time.Time {
	at, reached := r.Reached[stage]
	if !reached {
		return nil
	}
	return &at
}

// External tells whether somebody else made it: the dashboard, another system.
func (r Refund) External() bool { return r.Record == nil }

// RefundStatus is what a refund is, in Stripe's words (https://docs.stripe.com/api/refunds/object); submitted is ours.
type RefundStatus string

// The statuses of a refund.
const (
	RefundSubmitted      RefundStatus = "submitted"
	RefundPending        RefundStatus = "pending"
	RefundRequiresAction RefundStatus = "requires_action"
	RefundSucceeded      RefundStatus = "succeeded"
	RefundFailed         RefundStatus = "failed"
	RefundCanceled       RefundStatus = "canceled"
)

// RefundStatuses lists every status.
func RefundStatuses() []RefundStatus {
	return []RefundStatus{RefundSubmitted, RefundPending, RefundRequiresAction, RefundSucceeded, RefundFailed, RefundCanceled}
}

// Reserves tells whether the refund's amount is spoken for: it was, or may yet be, given back.
func (s RefundStatus) Reserves() bool { return s != RefundFailed && s != RefundCanceled }

// Terminal tells whether the refund is over; one that succeeded can still fail, days later.
func (s RefundStatus) Terminal() bool {
	return s == RefundSucceeded || s == RefundFailed || s == RefundCanceled
}

// StageOf is the least stage of a refund in the status whose facts are all booked.
func (s RefundStatus) StageOf() Stage {
	switch s {
	case RefundSubmitted:
		return StageSubmitted
	case RefundPending, RefundRequiresAction:
		return StageProcessing
	default:
		return StageLedgerApplied
	}
}

// RefundEdge is one permitted change of a refund's status.
type RefundEdge struct {
	From, To RefundStatus
	Why      string
}

// RefundTransitions is the table of permitted changes. failed and canceled absorb.
func RefundTransitions() []RefundEdge {
	return []RefundEdge{
		{RefundSubmitted, RefundPending, "Stripe took it; the money moves later"},
		{RefundSubmitted, RefundRequiresAction, "the customer is asked where the money is to go"},
		{RefundSubmitted, RefundSucceeded, "the money is on its way"},
		{RefundSubmitted, RefundFailed, "Stripe refused it, or it failed at once"},
		{RefundSubmitted, RefundCanceled, "canceled before we learnt of it"},
		{RefundPending, RefundRequiresAction, "the customer is asked where the money is to go"},
		{RefundPending, RefundSucceeded, "the money is on its way"},
		{RefundPending, RefundFailed, "the bank refused it"},
		{RefundPending, RefundCanceled, "canceled elsewhere"},
		{RefundRequiresAction, RefundPending, "the customer has answered"},
		{RefundRequiresAction, RefundSucceeded, "the customer has answered, and the money is on its way"},
		{RefundRequiresAction, RefundFailed, "the customer did not answer, or the bank refused it"},
		{RefundRequiresAction, RefundCanceled, "canceled elsewhere"},
		{RefundSucceeded, RefundFailed, "the bank gave the money back, days later"},
	}
}

// CanBecome tells whether RefundTransitions permits the change, or nothing changes.
func (s RefundStatus) CanBecome(to RefundStatus) bool {
	if s == to {
		return true
	}
	for _, edge := range RefundTransitions() {
		if edge.From == s && edge.To == to {
			return true
		}
	}
	return false
}

// RefundView is a refund as callers and receivers of messages see it.
type RefundView struct {
	ID            RefundID            `json:"id"`
	Object        string              `json:"object"` // always "refund"
	Payment       PaymentID           `json:"payment"`
	Reference     *string             `json:"reference,omitempty"`
	Amount        int64               `json:"amount"`
	Currency      Currency            `json:"currency"`
	Reason        *string             `json:"reason,omitempty"`
	TakenFrom     []Destination       `json:"taken_from,omitempty"` // of a payment with destinations: who gives back how much
	Status        RefundStatus        `json:"status"`
	Stage         Stage               `json:"stage"`
	Stages        map[Stage]time.Time `json:"stages"`
	Refund        string              `json:"refund,omitempty"` // Stripe's id, re_…
	External      bool                `json:"external,omitempty"`
	FailureReason string              `json:"failure_reason,omitempty"`
	LastError     *ProviderError      `json:"last_error,omitempty"`
	Metadata      map[string]string   `json:"metadata,omitempty"`
	CreatedAt     time.Time           `json:"created_at"`
}

// View shows the refund.
func (r Refund) View() RefundView {
	return RefundView{
		ID: r.ID, Object: "refund", Payment: r.Payment, Reference: r.Reference, Amount: r.Money.Amount, Currency: r.Money.Currency, Reason: r.Reason,
		TakenFrom: r.TakenFrom, Status: r.Status, Stage: r.Stage, Stages: r.Reached, Refund: r.ProviderID, External: r.External(), FailureReason: r.FailureReason,
		LastError: r.LastError, Metadata: r.Metadata, CreatedAt: r.CreatedAt,
	}
}

// Outcome is the answer to the command that asked for the refund: 201, also while it is pending; 402 for a definite refusal by Stripe.
func (r Refund) Outcome() (code int, contentType string, body []byte, err error) {
	if r.ProviderID == "" && r.LastError != nil {
		problem := NewProblem(http.StatusPaymentRequired, string(FailureProviderRefused), r.LastError.Message)
		problem.Payment = &r.Payment
		body, err = json.Marshal(problem)
		return problem.Status, ContentTypeProblem, body, encoding(err)
	}
	body, err = json.Marshal(r.View())
	return http.StatusCreated, ContentTypeJSON, body, encoding(err)
}
