package api

import (
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"payonce/internal/strictjson"
	"payonce/payments"
)

// cancelBody is the JSON of a cancel. No body is as good as an empty object.
type cancelBody struct {
	Reason *string `json:"cancellation_reason,omitempty" enum:"duplicate,fraudulent,requested_by_customer,abandoned" doc:"Stripe's word for why"`
}

// cancellationReasons are those that a caller may give (https://docs.stripe.com/api/payment_intents/cancel).
func cancellationReasons() []string {
	return []string{"duplicate", "fraudulent", "requested_by_customer", "abandoned"}
}

func describeCancelPayment(schemas huma.Registry) huma.Operation {
	return huma.Operation{
		OperationID: string(payments.OperationCancel), Method: http.MethodPost, Path: "/v1/payments/{id}/cancel", Summary: "Cancel a payment",
		Description: "Ends a payment that has taken no money: `canceled` only once Stripe has canceled the intent, so that nobody can pay it any more. " +
			"A cancel that meets success is refused (`payment_succeeded`, stored), and so is one in a state in which Stripe does not cancel " +
			"(`payment_unexpected_state`, stored). A payment that has ended without money is answered as it is.",
		Parameters: append(commandParameters(), idParameter()),
		RequestBody: &huma.RequestBody{
			Content: map[string]*huma.MediaType{"application/json": {Schema: schemas.Schema(reflect.TypeFor[cancelBody](), true, "CancelPayment")}},
		},
		Responses: problemAnswers(schemas, commandAnswers(schemas, "200"),
			append(commandCodes(), codePaymentNotFound, codePaymentSucceeded, codeUnexpectedState)...),
	}
}

// cancelPayment claims the cancel of a payment and answers with its outcome.
func (a *api) cancelPayment(w http.ResponseWriter, r *http.Request, from caller) error {
	return serveFurther(a, w, r, from, payments.OperationCancel, "/cancel", parseCancel, a.Commands.ClaimCancel)
}

// parseCancel reads the body of a cancel into the typed, normalised command.
func parseCancel(payment payments.PaymentID, body []byte) (payments.CancelCommand, error) {
	if len(body) == 0 {
		body = []byte("{}")
	}
	var sent cancelBody
	if err := strictjson.Decode(body, &sent, MaxBody); err != nil {
		return payments.CancelCommand{}, err
	}
	if err := refuseCardNumbers(map[string]*string{"cancellation_reason": sent.Reason}); err != nil {
		return payments.CancelCommand{}, err
	}
	if sent.Reason != nil && !slices.Contains(cancellationReasons(), *sent.Reason) {
		return payments.CancelCommand{}, invalid("cancellation_reason", "must be one of "+strings.Join(cancellationReasons(), ", "))
	}
	return payments.CancelCommand{Payment: payment, Reason: sent.Reason}, nil
}
