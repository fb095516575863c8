package stripeapi

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"github.com/stripe/stripe-go/v76"

	"payonce/payments"
)

// ErrorType is Stripe's class of an error (https://docs.stripe.com/api/errors).
type ErrorType string

// The classes of Stripe's errors.
const (
	ErrorTypeAPI            ErrorType = "api_error"
	ErrorTypeCard           ErrorType = "card_error"
	ErrorTypeIdempotency    ErrorType = "idempotency_error"
	ErrorTypeInvalidRequest ErrorType = "invalid_request_error"
)

// Codes of Stripe that decide what is done next.
const (
	CodeKeyInUse        = "idempotency_key_in_use"
	CodeLockTimeout     = "lock_timeout"
	CodeUnexpectedState = "payment_intent_unexpected_state"
	CodeResourceMissing = "resource_missing"

	CodeChargeAlreadyRefunded = "charge_already_refunded" // nothing is left to be given back
	CodeChargeDisputed        = "charge_disputed"         // the bank took the money back, or is about to
	CodeRefundDisputedPayment = "refund_disputed_payment" // the same
	CodeAmountTooLarge        = "amount_too_large"
	CodeBalanceInsufficient   = "balance_insufficient"
	CodeAlreadyCaptured       = "charge_already_captured"
	CodeExpiredForCapture     = "charge_expired_for_capture"
)

// RetryAdvice is what Stripe says of sending the same request again, in the header Stripe-Should-Retry (https://docs.stripe.com/error-low-level).
type RetryAdvice string

// The advices; none when the header is absent or holds anything else.
const (
	RetryAdvised  RetryAdvice = "true"
	RetryUseless  RetryAdvice = "false"
	RetryNoAdvice RetryAdvice = ""
)

// Error is an answer of Stripe that is no 2xx.
type Error struct {
	Status     int
	Type       ErrorType
	Code       string
	Refusal    payments.ProviderError // fit to be shown
	RequestID  string
	Replayed   bool          // Stripe answered from its memory of the key: asking again gives the same
	RetryAfter time.Duration // 0 when Stripe named none
	Advice     RetryAdvice
	Intent     *Intent // the intent inside the error body, as with a decline
}

func (e *Error) Error() string {
	return fmt.Sprintf("stripe: %d %s %s: %s (request %s)", e.Status, e.Type, e.Code, e.Refusal.Message, e.RequestID)
}

// NotSentError says that certainly nothing reached Stripe.
type NotSentError struct{ Cause error }

func (e *NotSentError) Error() string { return "stripe: not sent: " + e.Cause.Error() }

// Unwrap gives the cause.
func (e *NotSentError) Unwrap() error { return e.Cause }

// errorOf translates what stripe-go returns; an error that it does not know stays as it is: the outcome is not known.
func errorOf(err error, account payments.Account) error {
	if err == nil {
		return nil
	}
	var refusal *stripe.Error
	if errors.As(err, &refusal) {
		return refusalOf(refusal, account)
	}
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" || errors.Is(err, syscall.ECONNREFUSED) {
		return &NotSentError{Cause: err}
	}
	return fmt.Errorf("stripe: outcome unknown: %w", err)
}

func refusalOf(from *stripe.Error, account payments.Account) *Error {
	to := &Error{
		Status: from.HTTPStatusCode, Type: ErrorType(from.Type), Code: string(from.Code),
		Refusal: *providerErrorOf(from), RequestID: from.RequestID,
	}
	if from.LastResponse != nil {
		to.Replayed = replayed(from.LastResponse.Header)
		to.RetryAfter = retryAfter(from.LastResponse.Header)
		to.Advice = retryAdvice(from.LastResponse.Header)
	}
	if from.PaymentIntent != nil {
		intent := intentOf(from.PaymentIntent, account)
		to.Intent = &intent
	}
	return to
}

func retryAfter(header http.Header) time.Duration {
	seconds, err := strconv.ParseInt(header.Get("Retry-After"), 10, 32)
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

func retryAdvice(header http.Header) RetryAdvice {
	switch advice := RetryAdvice(header.Get("Stripe-Should-Retry")); advice {
	case RetryAdvised, RetryUseless:
		return advice
	default:
		return RetryNoAdvice
	}
}
