package api

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"payonce/boundaries"
	"payonce/internal/httpbody"
	"payonce/payments"
)

// headerReplayed marks the stored answer of an earlier request.
const headerReplayed = "Idempotent-Replayed"

// unsettledRetryAfter is when a caller that was sent away with a 202 may look again.
const unsettledRetryAfter = time.Second

// commandParameters are the headers that every command takes.
func commandParameters() []*huma.Param {
	return []*huma.Param{
		{
			Name: headerKey, In: "header", Required: true,
			Description: "The caller's key of this intent, minted once and repeated unchanged: 1 to 255 printable ASCII characters, bare or quoted",
			Schema:      &huma.Schema{Type: huma.TypeString, MinLength: new(1), MaxLength: new(maxKey)},
		},
		{
			Name: "Prefer", In: "header", Description: "wait=<seconds>, 0 to 30: how long to wait for the outcome; 10 when absent (RFC 7240)",
			Schema: &huma.Schema{Type: huma.TypeString},
		},
	}
}

// commandAnswers are the answers that every command has beside its problems.
func commandAnswers(schemas huma.Registry, done string) map[string]*huma.Response {
	moves := map[string]*huma.Param{
		"Location": textHeader("The payment"), "Retry-After": textHeader("Seconds after which to look again"),
	}
	replayed := map[string]*huma.Param{headerReplayed: textHeader("true: the stored answer of an earlier request")}
	answers := map[string]*huma.Response{
		"200": paymentAnswer(schemas, "The replay window is over: the payment as it is now", replayed),
		"202": paymentAnswer(schemas, "No outcome yet; never stored. The payment as it is now", moves),
	}
	answers[done] = paymentAnswer(schemas, "The outcome, stored: a success or a decline", replayed)
	return answers
}

// commandCodes are the refusals that every command can meet.
func commandCodes() []code {
	return []code{
		codeBodyInvalid, codeFieldInvalid, codeCardDataRefused, codeKeyMissing, codeKeyInvalid, codePreferInvalid, codeQueryRefused,
		codeUnauthorized, codeForbiddenScope, codeInProgress, codeBodyTooSlow, codeBodyTooLarge, codeMediaTypeUnsupported,
		codeKeyReused, codeUnavailable,
	}
}

// commandRequest is a command as far as every operation has it; what is refused before the claim burns no key.
type commandRequest struct {
	key  boundaries.CallerKey
	wait time.Duration
	body []byte
}

func (a *api) readCommand(w http.ResponseWriter, r *http.Request) (commandRequest, error) {
	var request commandRequest
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
	request.body, err = httpbody.Read(w, r, MaxBody, a.BodyWithin)
	switch {
	case errors.Is(err, httpbody.ErrTooLarge):
		return request, refusal{Code: codeBodyTooLarge, Detail: "A body must not exceed " + strconv.Itoa(MaxBody) + " bytes."}
	case errors.Is(err, httpbody.ErrTooSlow):
		return request, refusal{Code: codeBodyTooSlow}
	case err != nil: // cut, or not well-formed HTTP
		return request, refusal{Code: codeBodyInvalid, Detail: "The body could not be read."}
	}
	return request, nil
}

// asking is who asks for the command.
func (a *api) asking(from caller, request commandRequest, normalised boundaries.Normalised) boundaries.Asking {
	return boundaries.Asking{
		Tenant: from.tenant, Key: request.key, Normalised: normalised, AttendedFor: request.wait + a.Timing.AttendMargin, Peek: &from.peek,
	}
}

// pathPayment is the payment that the path names. An id that is none names no payment.
func pathPayment(r *http.Request) (payments.PaymentID, error) {
	id, err := uuid.Parse(r.PathValue("id"))
	if err != nil || len(r.PathValue("id")) != len(uuid.Nil.String()) {
		return payments.PaymentID{}, refusal{Code: codePaymentNotFound}
	}
	return payments.PaymentID{UUID: id}, nil
}

// serveCommand claims the command, wakes the workflow and answers with the outcome, or with what the claim met. The claim does not end with the
// connection of the caller: a claim that is being made is made.
func (a *api) serveCommand(w http.ResponseWriter, r *http.Request, request commandRequest, claim func(context.Context) (boundaries.Claim, error),
) error {
	ctx, cancel := a.detached(r)
	defer cancel()
	claimed, err := claim(ctx)
	if err != nil {
		return err
	}
	switch claimed.Outcome {
	case boundaries.Acquired:
		if claimed.Answer != nil { // the claim was the whole of it
			send(w, claimed.Payment, claimed.Answer)
			return nil
		}
		return a.await(w, r, claimed, request.wait)
	case boundaries.Replay:
		return a.replay(w, r, claimed)
	case boundaries.InProgress:
		return refusal{Code: codeInProgress, Payment: claimed.Payment, RetryAfter: claimed.RetryAfter}
	case boundaries.Mismatch:
		return refusal{Code: codeKeyReused, Payment: claimed.Payment}
	default:
		return fmt.Errorf("claim: no outcome %q", claimed.Outcome)
	}
}

// serveFurther serves a command on the payment that the path names.
func serveFurther[C any](a *api, w http.ResponseWriter, r *http.Request, from caller, operation payments.Operation, suffix string,
	parse func(payments.PaymentID, []byte) (C, error), claim func(context.Context, boundaries.Asking, C) (boundaries.Claim, error),
) error {
	request, err := a.readCommand(w, r)
	if err != nil {
		return err
	}
	payment, err := pathPayment(r)
	if err != nil {
		return err
	}
	command, err := parse(payment, request.body)
	if err != nil {
		return err
	}
	normalised, err := boundaries.Normalise(operation, location(payment)+suffix, command)
	if err != nil {
		return err
	}
	return a.serveCommand(w, r, request, func(ctx context.Context) (boundaries.Claim, error) {
		return claim(ctx, a.asking(from, request, normalised), command)
	})
}

// await wakes the workflow and waits for the outcome as long as the caller does. A closed connection ends the wait, never
// the work.
func (a *api) await(w http.ResponseWriter, r *http.Request, claim boundaries.Claim, wait time.Duration) error {
	ctx, cancel := context.WithTimeout(r.Context(), wait)
	defer cancel()
	answer, err := a.Commands.Await(ctx, claim, func() { a.wake(r, claim) })
	if answer != nil {
		send(w, claim.Payment, answer)
		return nil
	}
	a.leave(r, claim)
	switch {
	case r.Context().Err() != nil:
		return r.Context().Err()
	case err != nil && !errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("await the outcome: %w", err)
	}
	setRetryAfter(w, unsettledRetryAfter)
	if claim.Operation == payments.OperationPayout {
		return a.showClaimedPayout(w, r, claim, http.StatusAccepted)
	}
	if _, provisions := payments.ProvisionKindOf(claim.Operation); provisions {
		return a.showClaimedProvision(w, r, claim, http.StatusAccepted)
	}
	return a.showClaimed(w, r, claim, http.StatusAccepted)
}

// wake only logs a failure: the relay wakes the workflow later. While Temporal is down it costs the caller little of the wait.
func (a *api) wake(r *http.Request, claim boundaries.Claim) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), a.Timing.AttendMargin)
	defer cancel()
	if err := a.Waker.Wake(ctx, claim); err != nil {
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
		send(w, claim.Payment, claim.Answer)
		return nil
	}
	if claim.Operation == payments.OperationPayout {
		return a.showClaimedPayout(w, r, claim, http.StatusOK)
	}
	if _, provisions := payments.ProvisionKindOf(claim.Operation); provisions {
		return a.showClaimedProvision(w, r, claim, http.StatusOK)
	}
	if claim.Operation == payments.OperationRefund {
		return a.showClaimed(w, r, claim, http.StatusOK)
	}
	return a.showPayment(w, r, claim.Tenant, claim.Payment, http.StatusOK)
}

// send sends a stored answer as it is. A refusal says beside it where the payment is, as every refusal does.
func send(w http.ResponseWriter, payment payments.PaymentID, answer *boundaries.Answer) {
	if answer.Code >= http.StatusBadRequest && payment != (payments.PaymentID{}) {
		w.Header().Set("Location", location(payment))
	}
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
