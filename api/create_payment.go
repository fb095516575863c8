package api

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"reflect"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"payonce/boundaries"
	"payonce/internal/httpbody"
	"payonce/payments"
)

// pathPayments is the path that a create is hashed with.
const pathPayments = "/v1/payments"

// headerReplayed marks the stored answer of an earlier request.
const headerReplayed = "Idempotent-Replayed"

// unsettledRetryAfter is when a caller that was sent away with a 202 may look again.
const unsettledRetryAfter = time.Second

func describeCreatePayment(schemas huma.Registry) huma.Operation {
	moves := map[string]*huma.Param{
		"Location": textHeader("The payment"), "Retry-After": textHeader("Seconds after which to look again"),
	}
	replayed := map[string]*huma.Param{headerReplayed: textHeader("true: the stored answer of an earlier request")}
	return huma.Operation{
		OperationID: string(payments.OperationCreate), Method: http.MethodPost, Path: pathPayments, Summary: "Create a payment",
		Description: "Asks for a payment of an order. With a payment method it is confirmed at once, and the outcome, also a decline, " +
			"is the answer; without one it ends in `requires_payment_method`. A refused request (400, 413, 415) burns no key.",
		Parameters: []*huma.Param{
			{
				Name: headerKey, In: "header", Required: true,
				Description: "The caller's key of this intent, minted once and repeated unchanged: 1 to 255 printable ASCII characters, bare or quoted",
				Schema:      &huma.Schema{Type: huma.TypeString, MinLength: new(1), MaxLength: new(maxKey)},
			},
			{
				Name: "Prefer", In: "header", Description: "wait=<seconds>, 0 to 30: how long to wait for the outcome; 10 when absent (RFC 7240)",
				Schema: &huma.Schema{Type: huma.TypeString},
			},
		},
		RequestBody: &huma.RequestBody{
			Required: true,
			Content:  map[string]*huma.MediaType{"application/json": {Schema: schemas.Schema(reflect.TypeFor[createBody](), true, "CreatePayment")}},
		},
		Responses: problemAnswers(schemas, map[string]*huma.Response{
			"201": paymentAnswer(schemas, "The outcome, stored: a success or a decline", replayed),
			"200": paymentAnswer(schemas, "The replay window is over: the payment as it is now", replayed),
			"202": paymentAnswer(schemas, "No outcome yet; never stored. The payment as it is now", moves),
			"402": {
				Description: "The provider refused for good (`provider_refused`), stored: the payment failed",
				Headers:     replayed,
			},
		}, codeBodyInvalid, codeFieldInvalid, codeCardDataRefused, codeKeyMissing, codeKeyInvalid, codePreferInvalid, codeQueryRefused,
			codeUnauthorized, codeForbiddenScope, codeInProgress, codeReferenceConflict, codeReferenceEnded, codeReplacesUnknown,
			codeBodyTooLarge, codeMediaTypeUnsupported, codeKeyReused, codeUnavailable),
	}
}

// createRequest is a create as far as it is checked before the claim: what is refused until here burns no key.
type createRequest struct {
	key        boundaries.CallerKey
	wait       time.Duration
	command    payments.CreateCommand
	normalised boundaries.Normalised
}

// createPayment claims the command, wakes the workflow and waits for the outcome.
func (a *api) createPayment(w http.ResponseWriter, r *http.Request, tenant payments.TenantID) error {
	request, err := a.readCreate(w, r)
	if err != nil {
		return err
	}
	claim, err := a.claimCreate(r, tenant, request)
	if err != nil {
		return err
	}
	switch claim.Outcome {
	case boundaries.Acquired:
		return a.await(w, r, claim, request.wait)
	case boundaries.Replay:
		return a.replay(w, r, claim)
	case boundaries.InProgress:
		return refusal{Code: codeInProgress, Payment: claim.Payment, RetryAfter: claim.RetryAfter}
	case boundaries.Mismatch:
		return refusal{Code: codeKeyReused, Payment: claim.Payment}
	default:
		return fmt.Errorf("claim: no outcome %q", claim.Outcome)
	}
}

func (a *api) readCreate(w http.ResponseWriter, r *http.Request) (createRequest, error) {
	var request createRequest
	if r.URL.RawQuery != "" {
		return request, refusal{Code: codeQueryRefused}
	}
	if !isJSON(r.Header.Get("Content-Type")) {
		return request, refusal{Code: codeMediaTypeUnsupported, Field: "Content-Type", Detail: "Content-Type must be application/json."}
	}
	var err error
	if request.key, err = callerKey(r.Header); err != nil {
		return request, err
	}
	if request.wait, err = preferredWait(r.Header, a.Timing); err != nil {
		return request, err
	}
	body, err := httpbody.Read(w, r, MaxBody, a.BodyWithin)
	switch {
	case errors.Is(err, httpbody.ErrTooLarge):
		return request, refusal{Code: codeBodyTooLarge, Detail: "A body must not exceed " + strconv.Itoa(MaxBody) + " bytes."}
	case errors.Is(err, httpbody.ErrTooSlow):
		return request, refusal{Code: codeBodyTooSlow}
	case err != nil: // cut, or not well-formed HTTP
		return request, refusal{Code: codeBodyInvalid, Detail: "The body could not be read."}
	}
	if request.command, err = parseCreate(body); err != nil {
		return request, err
	}
	request.normalised, err = boundaries.Normalise(payments.OperationCreate, pathPayments, request.command)
	return request, err
}

// claimCreate does not end with the connection of the caller: a claim that is being made is made.
func (a *api) claimCreate(r *http.Request, tenant payments.TenantID, request createRequest) (boundaries.Claim, error) {
	ctx, cancel := a.detached(r)
	defer cancel()
	return a.Commands.ClaimCreate(ctx, tenant, request.key, request.command, request.normalised, request.wait+a.Timing.AttendMargin)
}

// await wakes the workflow and waits for the outcome as long as the caller does. A closed connection ends the wait, never
// the work.
func (a *api) await(w http.ResponseWriter, r *http.Request, claim boundaries.Claim, wait time.Duration) error {
	ctx, cancel := context.WithTimeout(r.Context(), wait)
	defer cancel()
	a.wake(r, claim)
	answer, err := a.Commands.Await(ctx, claim)
	if answer != nil {
		send(w, answer)
		return nil
	}
	a.leave(r, claim)
	switch {
	case r.Context().Err() != nil:
		return r.Context().Err()
	case err != nil && !errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("await the outcome: %w", err)
	}
	w.Header().Set("Location", location(claim.Payment))
	setRetryAfter(w, unsettledRetryAfter)
	return a.showPayment(w, r, claim.Tenant, claim.Payment, http.StatusAccepted)
}

// wake only logs a failure: the relay wakes the workflow later. While Temporal is down it costs the caller little of the wait.
func (a *api) wake(r *http.Request, claim boundaries.Claim) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), a.Timing.AttendMargin)
	defer cancel()
	if err := a.Waker.Wake(ctx, claim.Tenant, claim.Payment, true); err != nil {
		a.Log.WarnContext(ctx, "workflow not woken: the relay will", "payment", claim.Payment, "error", err)
	}
}

// leave only logs a failure: attendance ends by itself.
func (a *api) leave(r *http.Request, claim boundaries.Claim) {
	ctx, cancel := a.detached(r)
	defer cancel()
	if err := a.Commands.Leave(ctx, claim); err != nil {
		a.Log.WarnContext(ctx, "attendance not ended: it ends by itself", "payment", claim.Payment, "error", err)
	}
}

// detached is the request's context without its end, bounded as a database statement is.
func (a *api) detached(r *http.Request) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(r.Context()), a.Timing.Statement)
}

// replay sends the stored answer, or the payment as it is now when the replay window is over.
func (a *api) replay(w http.ResponseWriter, r *http.Request, claim boundaries.Claim) error {
	w.Header().Set(headerReplayed, "true")
	if claim.Answer != nil {
		send(w, claim.Answer)
		return nil
	}
	return a.showPayment(w, r, claim.Tenant, claim.Payment, http.StatusOK)
}

// send sends a stored answer as it is.
func send(w http.ResponseWriter, answer *boundaries.Answer) {
	contentType := "application/json"
	for name, value := range answer.Headers {
		if http.CanonicalHeaderKey(name) == "Content-Type" {
			contentType = value
			continue
		}
		w.Header().Set(name, value)
	}
	write(w, answer.Code, contentType, answer.Body)
}

// isJSON tells whether a body may be read as JSON: no Content-Type is as good as the right one.
func isJSON(contentType string) bool {
	if contentType == "" {
		return true
	}
	mediaType, _, err := mime.ParseMediaType(contentType)
	return err == nil && mediaType == "application/json"
}
