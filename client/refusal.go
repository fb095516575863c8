package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"time"

	"payonce/payments"
)

// RefusedError is an answer that says no. It is definite: the same command with the same key is refused again, but for the refusals that this
// package repeats by itself.
type RefusedError struct {
	Status     int                 // HTTP
	Code       Code                // what a program decides by; empty when something between us answered
	Title      string              // for people; may change
	Detail     string              // the same, about this one
	Field      string              // the member, header or parameter that was refused
	Payment    *payments.PaymentID // the payment that the command names or that is in its way
	RequestID  string              // of the last try, for whoever reads our logs
	Replayed   bool                // the stored answer of an earlier request
	RetryAfter time.Duration       // zero: none was asked for
}

// Code is a stable word for a refusal.
type Code string

// The codes that a checkout decides by; the API documents all of them.
const (
	CodeInProgress        Code = "in_progress"              // 409: another request with this key is being waited for
	CodeReferenceConflict Code = "reference_conflict"       // 409: the reference has an open attempt, or other content
	CodeReferenceEnded    Code = "reference_ended"          // 409: the reference is paid
	CodeReplacesUnknown   Code = "replaces_unknown"         // 409: the payment to replace is not one of the reference
	CodePaymentSucceeded  Code = "payment_succeeded"        // 409: too late for this, the payment has succeeded
	CodePaymentEnded      Code = "payment_ended"            // 409: the payment is over without money, or about to be
	CodeUnexpectedState   Code = "payment_unexpected_state" // 409: the payment's state rules the command out
	CodeAmountTooLarge    Code = "amount_too_large"         // 409: more than is held, than may be given back, or than can be paid out
	CodeOwnerConflict     Code = "owner_conflict"           // 409: the owner is provisioned with other content
	CodeExpiredUnsent     Code = "expired_unsent"           // 409: the command could not be sent in time, nothing was charged
	CodeProviderRefused   Code = "provider_refused"         // 402: refused for good; the payment failed
	CodePaymentNotFound   Code = "payment_not_found"        // 404
	CodeRefundNotFound    Code = "refund_not_found"         // 404
	CodePayoutNotFound    Code = "payout_not_found"         // 404
	CodeDisputeNotFound   Code = "dispute_not_found"        // 404
	CodeProvisionNotFound Code = "provision_not_found"      // 404
	CodeKeyReused         Code = "key_reused"               // 422: the key names another command
	CodeKeyInvalid        Code = "idempotency_key_invalid"  // 400
	CodeFieldInvalid      Code = "field_invalid"            // 400: see Field
	CodeParameterInvalid  Code = "parameter_invalid"        // 400: see Field
	CodeCardDataRefused   Code = "card_data_refused"        // 400: card numbers go to Stripe and nowhere else
	CodeUnauthorized      Code = "unauthorized"             // 401: the API key is missing, unknown or revoked
	CodeForbiddenScope    Code = "forbidden_scope"          // 403: the API key lacks the scope of the operation
	CodeUnavailable       Code = "unavailable"              // 503: a dependency is down
)

// Error says what was refused, for logs.
func (r *RefusedError) Error() string {
	text := fmt.Sprintf("payonce refused with %d", r.Status)
	for _, part := range []string{string(r.Code), r.Field, r.Detail} {
		if part != "" {
			text += ": " + part
		}
	}
	return text
}

// CodeOf is the code of the refusal in err; empty when there is none.
func CodeOf(err error) Code {
	var refusal *RefusedError
	if errors.As(err, &refusal) {
		return refusal.Code
	}
	return ""
}

// temporary tells whether the same command with the same key can get another answer by itself.
func (r *RefusedError) temporary() bool {
	switch r.Status {
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
		http.StatusTooManyRequests:
		return true
	case http.StatusConflict:
		return r.Code == CodeInProgress
	default:
		return false
	}
}

// refusal reads an answer that is no success. A problem that cannot be read was cut on its way.
func (r reply) refusal() error {
	if r.status < http.StatusMultipleChoices {
		return fmt.Errorf("%w: %d says nothing of a payment", errUnreadable, r.status)
	}
	refused := &RefusedError{
		Status: r.status, Title: http.StatusText(r.status), RequestID: r.requestID(),
		Replayed: r.replayed(), RetryAfter: retryAfter(r.header),
	}
	if media, _, _ := mime.ParseMediaType(r.header.Get("Content-Type")); media != payments.ContentTypeProblem {
		return refused
	}
	var problem payments.Problem
	if err := json.Unmarshal(r.body, &problem); err != nil {
		return fmt.Errorf("%w: %w", errUnreadable, err)
	}
	refused.Code, refused.Title, refused.Detail = Code(problem.Code), problem.Title, problem.Detail
	refused.Field, refused.Payment = problem.Field, problem.Payment
	return refused
}
