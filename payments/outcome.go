package payments

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// Problem is an RFC 9457 problem with a stable code: what a caller is told of a refusal.
type Problem struct {
	Type    string     `json:"type"` // urn:payonce:problem: and the code
	Title   string     `json:"title"`
	Status  int        `json:"status"`
	Code    string     `json:"code"`
	Detail  string     `json:"detail,omitempty"`
	Field   string     `json:"field,omitempty"`
	Payment *PaymentID `json:"payment,omitempty"`
}

// NewProblem fills type and title from the status.
func NewProblem(status int, code, detail string) Problem {
	return Problem{Type: "urn:payonce:problem:" + code, Title: http.StatusText(status), Status: status, Code: code, Detail: detail}
}

// Codes of commands that the state of their payment rules out.
const (
	CodePaymentSucceeded = "payment_succeeded"
	CodePaymentEnded     = "payment_ended" // it is over without money, or about to be
	CodeUnexpectedState  = "payment_unexpected_state"
	CodeAmountTooLarge   = "amount_too_large" // more than is held, or than may be given back
)

// Content types of answers.
const (
	ContentTypeJSON    = "application/json"
	ContentTypeProblem = "application/problem+json"
)

// Outcome is the answer to a settled command of the payment: 201 for a create and 200 for the others, also with a decline; 402 for a definite
// refusal by Stripe; 409 for what the payment's end rules out. refused is the refusal that a capture met and that left the payment as it was; nil for
// every other outcome.
func (p Payment) Outcome(operation Operation, refused *ProviderError) (code int, contentType string, body []byte, err error) {
	problem := p.refusal(operation)
	if operation == OperationCapture {
		problem = p.captureRefusal(refused)
	}
	if problem != nil {
		problem.Payment = &p.ID
		body, err = json.Marshal(problem)
		return problem.Status, ContentTypeProblem, body, encoding(err)
	}
	code = http.StatusOK
	if operation == OperationCreate {
		code = http.StatusCreated
	}
	body, err = json.Marshal(p.View())
	return code, ContentTypeJSON, body, encoding(err)
}

func (p Payment) refusal(operation Operation) *Problem {
	var problem Problem
	switch {
	case operation == OperationCancel && p.Status == StatusSucceeded:
		problem = NewProblem(http.StatusConflict, CodePaymentSucceeded, "the payment has succeeded: refund it instead")
	case operation == OperationCancel && !p.Status.Terminal():
		problem = NewProblem(http.StatusConflict, CodeUnexpectedState, "Stripe does not cancel a payment in this state: it is "+string(p.Status))
	case operation == OperationCancel || p.Failure == nil || p.Status == StatusSucceeded:
		return nil
	case p.Failure.Code == FailureAbandoned, p.Failure.Code == FailureHoldExpired:
		return nil
	case p.Failure.Code == FailureExpiredUnsent:
		problem = NewProblem(http.StatusConflict, string(FailureExpiredUnsent), "the command could not be sent in time: nothing was charged")
	default:
		problem = NewProblem(http.StatusPaymentRequired, string(p.Failure.Code), p.Failure.Message)
	}
	return &problem
}

func (p Payment) captureRefusal(refused *ProviderError) *Problem {
	var problem Problem
	switch {
	case p.Status.EndedWithoutMoney() && (refused != nil || p.AmountCaptured == 0):
		problem = NewProblem(http.StatusConflict, CodePaymentEnded, "there is nothing to capture: the payment is "+string(p.Status))
	case refused != nil && p.Status != StatusSucceeded:
		problem = NewProblem(http.StatusPaymentRequired, string(FailureProviderRefused), refused.Message)
	default:
		return nil
	}
	return &problem
}

func encoding(err error) error {
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	return nil
}
