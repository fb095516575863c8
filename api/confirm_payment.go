package api

import (
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"payonce/internal/strictjson"
	"payonce/payments"
)

// confirmBody is the JSON of a confirm.
type confirmBody struct {
	PaymentMethod *string `json:"payment_method" required:"true" nullable:"false" maxLength:"255" pattern:"^pm_[A-Za-z0-9_]+$"`
	ReturnURL     *string `json:"return_url,omitempty" format:"uri" maxLength:"2048" doc:"https; where the payer comes back to after a challenge"`
	OffSession    *bool   `json:"off_session,omitempty" doc:"The payer is not there to be asked"`
}

func describeConfirmPayment(schemas huma.Registry) huma.Operation {
	return huma.Operation{
		OperationID: string(payments.OperationConfirm), Method: http.MethodPost, Path: "/v1/payments/{id}/confirm", Summary: "Confirm a payment",
		Description: "Charges a method. After a decline, or in place of a challenge that the payer did not meet, it may be asked for again, also with " +
			"another method: each is a confirm of its own, under a key of its own. One is open at a time: meanwhile the same content attaches to it, " +
			"and other content is refused (`reference_conflict`).",
		Parameters: append(commandParameters(), idParameter()),
		RequestBody: &huma.RequestBody{
			Required: true,
			Content:  map[string]*huma.MediaType{"application/json": {Schema: schemas.Schema(reflect.TypeFor[confirmBody](), true, "ConfirmPayment")}},
		},
		Responses: problemAnswers(schemas, commandAnswers(schemas, "200"),
			append(commandCodes(), codeProviderRefused, codeExpiredUnsent, codePaymentNotFound, codeReferenceConflict, codePaymentSucceeded,
				codePaymentEnded, codeUnexpectedState)...),
	}
}

// confirmPayment claims the next confirm of a payment and answers with its outcome.
func (a *api) confirmPayment(w http.ResponseWriter, r *http.Request, from caller) error {
	return serveFurther(a, w, r, from, payments.OperationConfirm, "/confirm", parseConfirm, a.Commands.ClaimConfirm)
}

// parseConfirm reads the body of a confirm into the typed, normalised command.
func parseConfirm(payment payments.PaymentID, body []byte) (payments.ConfirmCommand, error) {
	var sent confirmBody
	if err := strictjson.Decode(body, &sent, MaxBody); err != nil {
		return payments.ConfirmCommand{}, err
	}
	if err := refuseCardNumbers(map[string]*string{"payment_method": sent.PaymentMethod, "return_url": sent.ReturnURL}); err != nil {
		return payments.ConfirmCommand{}, err
	}
	switch {
	case sent.PaymentMethod == nil:
		return payments.ConfirmCommand{}, invalid("payment_method", "is required")
	case !isPaymentMethod(*sent.PaymentMethod):
		return payments.ConfirmCommand{}, invalid("payment_method", "must be the id of a payment method, pm_…")
	case sent.ReturnURL != nil && !isHTTPS(*sent.ReturnURL):
		return payments.ConfirmCommand{}, invalid("return_url", "must be an https URL")
	}
	return payments.ConfirmCommand{
		Payment: payment, PaymentMethod: *sent.PaymentMethod, ReturnURL: sent.ReturnURL, OffSession: sent.OffSession,
	}, nil
}
