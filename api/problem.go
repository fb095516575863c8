package api

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"payonce/boundaries"
	"payonce/internal/outage"
	"payonce/internal/paymentstore"
	"payonce/internal/strictjson"
	"payonce/payments"
)

const problemType = "application/problem+json"

// Problem is a refusal in the form of RFC 9457. Code is stable and for programs; Title and Detail are for people and may change.
type Problem struct {
	Type    string `json:"type" doc:"urn:payonce:problem: and the code"`
	Title   string `json:"title"`
	Status  int    `json:"status"`
	Code    string `json:"code" doc:"Stable; what a program decides by"`
	Detail  string `json:"detail,omitempty"`
	Field   string `json:"field,omitempty" doc:"The member, header or parameter that was refused"`
	Payment string `json:"payment,omitempty" doc:"The payment that the command names or that is in the way"`
}

// code is a stable word for a kind of refusal.
type code string

// The codes. The ones of a conflict are those of boundaries.ConflictCode.
const (
	codeBodyInvalid          code = "body_invalid"
	codeFieldInvalid         code = "field_invalid"
	codeCardDataRefused      code = "card_data_refused"
	codeKeyMissing           code = "idempotency_key_missing"
	codeKeyInvalid           code = "idempotency_key_invalid"
	codePreferInvalid        code = "prefer_invalid"
	codeQueryRefused         code = "query_refused"
	codeParameterInvalid     code = "parameter_invalid"
	codeUnauthorized         code = "unauthorized"
	codeForbiddenScope       code = "forbidden_scope"
	codePaymentNotFound      code = "payment_not_found"
	codeRefundNotFound       code = "refund_not_found"
	codePayoutNotFound       code = "payout_not_found"
	codeProvisionNotFound    code = "provision_not_found"
	codeDisputeNotFound      code = "dispute_not_found"
	codeRouteNotFound        code = "route_not_found"
	codeMethodNotAllowed     code = "method_not_allowed"
	codeBodyTooSlow          code = "body_too_slow"
	codeBodyTooLarge         code = "body_too_large"
	codeMediaTypeUnsupported code = "media_type_unsupported"
	codeInProgress           code = "in_progress"
	codeKeyReused            code = "key_reused"
	codeInternal             code = "internal"
	codeUnavailable          code = "unavailable"

	codeReferenceConflict = code(boundaries.ConflictReference)
	codeReferenceEnded    = code(boundaries.ConflictReferenceEnded)
	codeReplacesUnknown   = code(boundaries.ConflictReplacesUnknown)
	codePaymentSucceeded  = code(boundaries.ConflictPaymentSucceeded)
	codePaymentEnded      = code(boundaries.ConflictPaymentEnded)
	codeUnexpectedState   = code(boundaries.ConflictUnexpectedState)
	codeAmountTooLarge    = code(boundaries.ConflictAmountTooLarge)
	codeOwnerConflict     = code(boundaries.ConflictOwner)

	// Of stored answers.
	codeProviderRefused = code(payments.FailureProviderRefused)
	codeExpiredUnsent   = code(payments.FailureExpiredUnsent)
)

// status is the HTTP status of a code: the one table of them.
func (c code) status() int {
	switch c {
	case codeBodyInvalid, codeFieldInvalid, codeCardDataRefused, codeKeyMissing, codeKeyInvalid, codePreferInvalid, codeQueryRefused,
		codeParameterInvalid:
		return http.StatusBadRequest
	case codeUnauthorized:
		return http.StatusUnauthorized
	case codeForbiddenScope:
		return http.StatusForbidden
	case codePaymentNotFound, codeRefundNotFound, codePayoutNotFound, codeDisputeNotFound, codeProvisionNotFound, codeRouteNotFound:
		return http.StatusNotFound
	case codeMethodNotAllowed:
		return http.StatusMethodNotAllowed
	case codeBodyTooSlow:
		return http.StatusRequestTimeout
	case codeInProgress, codeReferenceConflict, codeReferenceEnded, codeReplacesUnknown, codePaymentSucceeded, codePaymentEnded,
		codeUnexpectedState, codeAmountTooLarge, codeOwnerConflict, codeExpiredUnsent:
		return http.StatusConflict
	case codeProviderRefused:
		return http.StatusPaymentRequired
	case codeBodyTooLarge:
		return http.StatusRequestEntityTooLarge
	case codeMediaTypeUnsupported:
		return http.StatusUnsupportedMediaType
	case codeKeyReused:
		return http.StatusUnprocessableEntity
	case codeUnavailable:
		return http.StatusServiceUnavailable
	default:
		return http.StatusInternalServerError
	}
}

// refusal is an error that the caller is told. Detail and Field hold nothing internal.
type refusal struct {
	Code       code
	Field      string
	Detail     string
	Payment    payments.PaymentID // zero: none
	RetryAfter time.Duration      // zero: the caller is not told to come back
}

func (r refusal) Error() string { return string(r.Code) + ": " + r.Detail }

// maxFieldName bounds the path of a refused member that is sent back, in bytes: the longest name of a metadata member and what is around it.
const maxFieldName = 128

// unavailableRetryAfter is when to come back while a dependency is down.
const unavailableRetryAfter = time.Second

// refusalOf is what the caller is told of an error; what is no refusal says nothing of its cause. A name that a caller chose is repeated only when it is
// short, printable and no card number, since answers are logged.
func refusalOf(err error) refusal {
	told := reasonOf(err)
	card := holdsCardNumber(told.Field)
	if !card && len(told.Field) <= maxFieldName && printable(told.Field) {
		return told
	}
	if card && told.Code == codeFieldInvalid {
		told.Code = codeCardDataRefused
	}
	told.Detail = strings.ReplaceAll(told.Detail, told.Field, "A member, whose name is not repeated here,")
	told.Field = ""
	return told
}

func reasonOf(err error) refusal {
	var (
		refused  refusal
		field    *strictjson.FieldError
		conflict *boundaries.ConflictError
		amount   *boundaries.AmountError
		wallet   *boundaries.DestinationError
		customer *boundaries.CustomerError
	)
	switch {
	case errors.As(err, &refused):
		return refused
	case errors.As(err, &field) && field.Field == "":
		return refusal{Code: codeBodyInvalid, Detail: "The body " + field.Reason + "."}
	case errors.As(err, &field):
		return refusal{Code: codeFieldInvalid, Field: field.Field, Detail: field.Field + " " + field.Reason + "."}
	case errors.As(err, &conflict):
		return refusal{Code: code(conflict.Code), Payment: conflict.Payment, Detail: conflict.Detail}
	case errors.As(err, &wallet):
		return refusal{Code: codeFieldInvalid, Field: ofDestination(wallet.Index, "account"), Detail: wallet.Error() + "."}
	case errors.As(err, &customer):
		return refusal{Code: codeFieldInvalid, Field: "customer", Detail: customer.Error() + "."}
	case errors.As(err, &amount):
		return refusal{Code: codeFieldInvalid, Field: "amount", Detail: amount.Error() + "."}
	case errors.Is(err, paymentstore.ErrNotFound):
		return refusal{Code: codePaymentNotFound}
	case errors.Is(err, paymentstore.ErrNoRefund):
		return refusal{Code: codeRefundNotFound}
	case errors.Is(err, paymentstore.ErrNoPayout):
		return refusal{Code: codePayoutNotFound}
	case errors.Is(err, paymentstore.ErrNoProvision):
		return refusal{Code: codeProvisionNotFound}
	case errors.Is(err, paymentstore.ErrNoDispute):
		return refusal{Code: codeDisputeNotFound}
	case outage.Is(err):
		return refusal{Code: codeUnavailable, RetryAfter: unavailableRetryAfter}
	default:
		return refusal{Code: codeInternal}
	}
}

// title says in a sentence what a code means.
func (c code) title() string {
	titles := map[code]string{
		codeBodyInvalid:       "The body is not a JSON object that can be read in one way only",
		codeFieldInvalid:      "A field is refused",
		codeCardDataRefused:   "A field or the Idempotency-Key holds what looks like a card number",
		codeKeyMissing:        "The Idempotency-Key header is required",
		codeKeyInvalid:        "The Idempotency-Key header is refused",
		codePreferInvalid:     "The Prefer header is refused",
		codeQueryRefused:      "A command takes no query parameters",
		codeParameterInvalid:  "A query parameter is refused",
		codeUnauthorized:      "The API key is missing, unknown or revoked",
		codeForbiddenScope:    "The API key lacks the scope of this operation",
		codePaymentNotFound:   "There is no such payment",
		codeRefundNotFound:    "There is no such refund",
		codePayoutNotFound:    "There is no such payout",
		codeProvisionNotFound: "There is no such customer, connected account or wallet",
		codeDisputeNotFound:   "There is no such dispute",
		codeInProgress:        "The same command is being processed",
		codeKeyReused:         "The Idempotency-Key was used for another command",
		codeReferenceConflict: "The reference is taken by another command, or its attempt is still open",
		codeReferenceEnded:    "The reference has succeeded and is not attempted again",
		codeReplacesUnknown:   "The payment to replace is not one of this reference",
		codePaymentSucceeded:  "The payment has succeeded",
		codePaymentEnded:      "The payment is over without money, or about to be",
		codeUnexpectedState:   "The payment's state rules this command out",
		codeAmountTooLarge:    "The amount is more than there is to take",
		codeOwnerConflict:     "The owner has it, or waits for it, with other content",
		codeBodyTooSlow:       "The body did not arrive in time",
		codeUnavailable:       "A dependency is down; nothing is lost by trying again with the same key",
	}
	return cmp.Or(titles[c], http.StatusText(c.status()))
}

// fail answers with what the caller may know of err, and logs the rest. When the request has ended, because the caller went
// away or the server stops, the connection is cut: returning would send an empty 200. A body that was too slow ends the
// request too, as net/http takes any failed read for a caller who went away; that one may still listen.
func (a *api) fail(w http.ResponseWriter, r *http.Request, err error) {
	refused := refusalOf(err)
	if r.Context().Err() != nil && refused.Code != codeBodyTooSlow {
		panic(http.ErrAbortHandler)
	}
	if refused.Code.status() >= http.StatusInternalServerError {
		a.Log.ErrorContext(r.Context(), "request failed", "request_id", requestID(w), "code", refused.Code, "error", err)
	}
	a.refuse(w, refused)
}

// refuse writes a problem.
func (a *api) refuse(w http.ResponseWriter, refused refusal) {
	problem := Problem{
		Type: "urn:payonce:problem:" + string(refused.Code), Title: refused.Code.title(), Status: refused.Code.status(),
		Code: string(refused.Code), Detail: cmp.Or(refused.Detail, refused.Code.advice()), Field: refused.Field,
	}
	if refused.Payment != (payments.PaymentID{}) {
		problem.Payment = refused.Payment.String()
		w.Header().Set("Location", location(refused.Payment))
	}
	if refused.RetryAfter > 0 {
		setRetryAfter(w, refused.RetryAfter)
	}
	if refused.Code == codeUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	body, err := json.Marshal(problem)
	if err != nil {
		panic(err) // a struct of strings
	}
	write(w, refused.Code.status(), problemType, body)
}

// setRetryAfter sets whole seconds, at least one.
func setRetryAfter(w http.ResponseWriter, after time.Duration) {
	w.Header().Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(after.Seconds())))))
}

func location(payment payments.PaymentID) string { return "/v1/payments/" + payment.String() }

func write(w http.ResponseWriter, status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_, _ = w.Write(body) // a caller that is gone asks again
}
