package api

import (
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"payonce/internal/strictjson"
	"payonce/payments"
)

// captureBody is the JSON of a capture. No body is as good as an empty object: all that is held.
type captureBody struct {
	Amount    *int64  `json:"amount,omitempty" minimum:"1" maximum:"999999999999" doc:"In the currency's minor units; absent: all that is held"`
	Reference *string `json:"reference,omitempty" minLength:"1" maxLength:"255" doc:"Names this part, for instance a shipment: two equal parts have two references. Without one the Idempotency-Key names it"`
	Final     *bool   `json:"final,omitempty" doc:"false: what is left stays held, of a payment that was created with multicapture. Else it is given back"`
}

func describeCapturePayment(schemas huma.Registry) huma.Operation {
	return huma.Operation{
		OperationID: string(payments.OperationCapture), Method: http.MethodPost, Path: "/v1/payments/{id}/capture", Summary: "Capture a payment",
		Description: "Takes money that is held (`requires_capture`). All of it is captured once, whoever asks: a fresh key attaches to that capture, also to " +
			"the engine's own when a hold runs out. A part has its own `reference`. One capture is open at a time. A capture that Stripe refuses leaves the " +
			"payment authorised (`provider_refused`, stored).",
		Parameters: append(commandParameters(), idParameter()),
		RequestBody: &huma.RequestBody{
			Content: map[string]*huma.MediaType{"application/json": {Schema: schemas.Schema(reflect.TypeFor[captureBody](), true, "CapturePayment")}},
		},
		Responses: problemAnswers(schemas, commandAnswers(schemas, "200"),
			append(commandCodes(), codeProviderRefused, codePaymentNotFound, codeReferenceConflict, codePaymentSucceeded, codePaymentEnded,
				codeUnexpectedState, codeAmountTooLarge)...),
	}
}

// capturePayment claims a capture of a payment and answers with its outcome.
func (a *api) capturePayment(w http.ResponseWriter, r *http.Request, from caller) error {
	return serveFurther(a, w, r, from, payments.OperationCapture, "/capture", parseCapture, a.Commands.ClaimCapture)
}

// parseCapture reads the body of a capture into the typed, normalised command. Whether the amount can be taken is known only of the payment.
func parseCapture(payment payments.PaymentID, body []byte) (payments.CaptureCommand, error) {
	if len(body) == 0 {
		body = []byte("{}")
	}
	var sent captureBody
	if err := strictjson.Decode(body, &sent, MaxBody); err != nil {
		return payments.CaptureCommand{}, err
	}
	if err := refuseCardNumbers(map[string]*string{"reference": sent.Reference}); err != nil {
		return payments.CaptureCommand{}, err
	}
	if err := refusePart(sent.Amount, sent.Reference); err != nil {
		return payments.CaptureCommand{}, err
	}
	return payments.CaptureCommand{Payment: payment, Amount: sent.Amount, Reference: sent.Reference, Final: sent.Final}, nil
}

// refusePart refuses what can be no part of any payment.
func refusePart(amount *int64, reference *string) error {
	if amount != nil && *amount <= 0 {
		return invalid("amount", "must be positive")
	}
	if reference != nil {
		if reason := refuseReference(*reference); reason != "" {
			return invalid("reference", reason)
		}
	}
	return nil
}
