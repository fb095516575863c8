package api

import (
	"context"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"payonce/boundaries"
	"payonce/payments"
)

// pathPayments is the path that a create is hashed with.
const pathPayments = "/v1/payments"

func describeCreatePayment(schemas huma.Registry) huma.Operation {
	return huma.Operation{
		OperationID: string(payments.OperationCreate), Method: http.MethodPost, Path: pathPayments, Summary: "Create a payment",
		Description: "Asks for a payment of an order. With a payment method it is confirmed at once, and the outcome, also a decline, " +
			"is the answer; without one it ends in `requires_payment_method`. A refused request (400, 413, 415) burns no key.",
		Parameters: commandParameters(),
		RequestBody: &huma.RequestBody{
			Required: true,
			Content:  map[string]*huma.MediaType{"application/json": {Schema: schemas.Schema(reflect.TypeFor[createBody](), true, "CreatePayment")}},
		},
		Responses: problemAnswers(schemas, commandAnswers(schemas, "201"),
			append(commandCodes(), codeProviderRefused, codeExpiredUnsent, codeReferenceConflict, codeReferenceEnded, codeReplacesUnknown)...),
	}
}

// createPayment claims the create of a payment and answers with its outcome.
func (a *api) createPayment(w http.ResponseWriter, r *http.Request, from caller) error {
	request, err := a.readCommand(w, r)
	if err != nil {
		return err
	}
	command, err := parseCreate(request.body)
	if err != nil {
		return err
	}
	normalised, err := boundaries.Normalise(payments.OperationCreate, pathPayments, command)
	if err != nil {
		return err
	}
	return a.serveCommand(w, r, request, func(ctx context.Context) (boundaries.Claim, error) {
		return a.Commands.ClaimCreate(ctx, a.asking(from, request, normalised), command)
	})
}
