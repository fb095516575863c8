package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"payonce/boundaries"
	"payonce/internal/paymentstore"
	"payonce/internal/postgres"
	"payonce/internal/strictjson"
	"payonce/payments"
)

// refundBody is the JSON of a refund. No body is as good as an empty object: all that may still be given back.
type refundBody struct {
	Amount    *int64            `json:"amount,omitempty" minimum:"1" maximum:"999999999999" doc:"In the currency's minor units; absent: all that may still be given back"`
	Reference *string           `json:"reference,omitempty" minLength:"1" maxLength:"255" doc:"Names this refund, for instance a returned item: two equal refunds have two references. Without one the Idempotency-Key names it"`
	Reason    *string           `json:"reason,omitempty" enum:"duplicate,fraudulent,requested_by_customer" doc:"Stripe's word for why"`
	Metadata  map[string]string `json:"metadata,omitempty" doc:"At most 47 names of up to 40 characters, none beginning with payonce_, with values of up to 500 characters"`
}

// refundReasons are those that a caller may give (https://docs.stripe.com/api/refunds/create).
func refundReasons() []string { return []string{"duplicate", "fraudulent", "requested_by_customer"} }

// reservedRefundMetadata are the names that we add to a refund.
const reservedRefundMetadata = 3

func describeCreateRefund(schemas huma.Registry) huma.Operation {
	answers := commandAnswers(schemas, "200")
	answers["200"] = paymentAnswer(schemas, "All of a hold was asked back: its cancel, as that command's outcome. "+
		"Or the replay window is over: the refund as it is now",
		map[string]*huma.Param{headerReplayed: textHeader("true: the stored answer of an earlier request")})
	answers["201"] = refundAnswer(schemas, "The outcome, stored: Stripe has the refund, which may still be pending")
	answers["202"] = refundAnswer(schemas, "No outcome yet; never stored. The refund as it is now")
	return huma.Operation{
		OperationID: string(payments.OperationRefund), Method: http.MethodPost, Path: "/v1/payments/{id}/refunds", Summary: "Refund a payment",
		Description: "Gives money back, all of it or in parts, each under its own `reference`. The amount is reserved before Stripe is asked: concurrent " +
			"refunds never exceed what may be given back (captured, less refunds not failed or canceled, less what disputes withdrew). Of a payment whose " +
			"money is only held (`requires_capture`) a refund of all of it is a cancel, and of a part is refused.",
		Parameters: append(commandParameters(), idParameter()),
		RequestBody: &huma.RequestBody{
			Content: map[string]*huma.MediaType{"application/json": {Schema: schemas.Schema(reflect.TypeFor[refundBody](), true, "CreateRefund")}},
		},
		Responses: problemAnswers(schemas, answers, append(commandCodes(), codeProviderRefused, codePaymentNotFound, codeReferenceConflict,
			codePaymentSucceeded, codePaymentEnded, codeUnexpectedState, codeAmountTooLarge)...),
	}
}

func refundAnswer(schemas huma.Registry, description string) *huma.Response {
	return &huma.Response{
		Description: description, Headers: map[string]*huma.Param{"Location": textHeader("The refund")},
		Content: map[string]*huma.MediaType{"application/json": {Schema: schemas.Schema(reflect.TypeFor[payments.RefundView](), true, "Refund")}},
	}
}

// createRefund claims a refund of a payment and answers with its outcome.
func (a *api) createRefund(w http.ResponseWriter, r *http.Request, from caller) error {
	return serveFurther(a, w, r, from, payments.OperationRefund, "/refunds", parseRefund, a.Commands.ClaimRefund)
}

// parseRefund reads the body of a refund into the typed, normalised command. Whether the amount can be given back is known only of the payment.
func parseRefund(payment payments.PaymentID, body []byte) (payments.RefundCommand, error) {
	if len(body) == 0 {
		body = []byte("{}")
	}
	var sent refundBody
	if err := strictjson.Decode(body, &sent, MaxBody); err != nil {
		return payments.RefundCommand{}, err
	}
	if err := refuseCardNumbers(map[string]*string{"reference": sent.Reference, "reason": sent.Reason}); err != nil {
		return payments.RefundCommand{}, err
	}
	if err := refuseCardsInMetadata(sent.Metadata); err != nil {
		return payments.RefundCommand{}, err
	}
	if err := refusePart(sent.Amount, sent.Reference); err != nil {
		return payments.RefundCommand{}, err
	}
	if sent.Reason != nil && !slices.Contains(refundReasons(), *sent.Reason) {
		return payments.RefundCommand{}, invalid("reason", "must be one of "+strings.Join(refundReasons(), ", "))
	}
	if err := refuseMetadata(sent.Metadata, reservedRefundMetadata); err != nil {
		return payments.RefundCommand{}, err
	}
	return payments.RefundCommand{Payment: payment, Amount: sent.Amount, Reference: sent.Reference, Reason: sent.Reason, Metadata: sent.Metadata}, nil
}

// showClaimed writes what a command made or is about as it is now.
func (a *api) showClaimed(w http.ResponseWriter, r *http.Request, claim boundaries.Claim, status int) error {
	if claim.Operation == payments.OperationRefund {
		refund, err := a.readRefund(r.Context(), claim.Tenant, `WHERE r.record = $1`, claim.Record.UUID)
		if err == nil {
			return a.showRefund(w, refund, status)
		}
		if !errors.Is(err, paymentstore.ErrNoRefund) { // else it was the cancel of a hold
			return err
		}
	}
	if status != http.StatusOK {
		w.Header().Set("Location", location(claim.Payment))
	}
	return a.showPayment(w, r, claim.Tenant, claim.Payment, status)
}

func (a *api) showRefund(w http.ResponseWriter, refund payments.Refund, status int) error {
	body, err := json.Marshal(refund.View())
	if err != nil {
		return fmt.Errorf("encode refund: %w", err)
	}
	if status != http.StatusOK {
		w.Header().Set("Location", "/v1/refunds/"+refund.ID.String())
	}
	w.Header().Set("Cache-Control", "no-store")
	write(w, status, "application/json", body)
	return nil
}

func (a *api) readRefund(ctx context.Context, tenant payments.TenantID, where string, id uuid.UUID) (refund payments.Refund, err error) {
	ctx, cancel := context.WithTimeout(ctx, a.Timing.Statement)
	defer cancel()
	err = postgres.ForTenant(ctx, a.Pool, tenant.UUID, func(batch *pgx.Batch) {
		batch.Queue(paymentstore.SelectRefunds+where+` AND r.tenant = $2`, id, tenant.UUID).QueryRow(func(row pgx.Row) (err error) {
			refund, err = paymentstore.ScanRefund(row)
			return err
		})
	})
	return refund, err
}
