package api

import (
	"context"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"payonce/internal/paymentstore"
	"payonce/payments"
)

func describeGetDispute(schemas huma.Registry) huma.Operation {
	return huma.Operation{
		OperationID: "get_dispute", Method: http.MethodGet, Path: "/v1/disputes/{id}", Summary: "Read a dispute as it is now",
		Description: "What a dispute took follows its balance transactions, and never its status: opened is not lost.",
		Parameters:  []*huma.Param{idParameter()},
		Responses: problemAnswers(schemas, map[string]*huma.Response{
			"200": {
				Description: "The dispute",
				Content: map[string]*huma.MediaType{
					"application/json": {Schema: schemas.Schema(reflect.TypeFor[payments.DisputeView](), true, "Dispute")},
				},
			},
		}, codeParameterInvalid, codeUnauthorized, codeForbiddenScope, codeDisputeNotFound, codeUnavailable),
	}
}

// getDispute shows a dispute of the tenant; another tenant's is as absent as one that never was.
func (a *api) getDispute(w http.ResponseWriter, r *http.Request, from caller) error {
	id, err := uuid.Parse(r.PathValue("id"))
	if err != nil || len(r.PathValue("id")) != len(uuid.Nil.String()) {
		return refusal{Code: codeDisputeNotFound}
	}
	ctx, cancel := context.WithTimeout(r.Context(), a.Timing.Statement)
	defer cancel()
	dispute, err := paymentstore.ReadDispute(ctx, a.Pool, from.tenant, id)
	if err != nil {
		return err
	}
	return show(w, dispute.View())
}

// disputeList is every dispute of a payment.
type disputeList struct {
	Object string                 `json:"object" doc:"Always list"`
	Data   []payments.DisputeView `json:"data" doc:"The oldest first"`
}

func describeListDisputes(schemas huma.Registry) huma.Operation {
	return huma.Operation{
		OperationID: "list_disputes", Method: http.MethodGet, Path: "/v1/payments/{id}/disputes", Summary: "List the disputes of a payment",
		Parameters: []*huma.Param{idParameter()},
		Responses: problemAnswers(schemas, map[string]*huma.Response{
			"200": {
				Description: "At most 1000 disputes",
				Content:     map[string]*huma.MediaType{"application/json": {Schema: schemas.Schema(reflect.TypeFor[disputeList](), true, "DisputeList")}},
			},
		}, codeParameterInvalid, codeUnauthorized, codeForbiddenScope, codePaymentNotFound, codeUnavailable),
	}
}

// listDisputes shows the disputes of a payment of the tenant.
func (a *api) listDisputes(w http.ResponseWriter, r *http.Request, from caller) error {
	id, err := pathPayment(r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), a.Timing.Statement)
	defer cancel()
	found, err := paymentstore.ReadDisputes(ctx, a.Pool, from.tenant, id)
	if err != nil {
		return err
	}
	list := disputeList{Object: "list", Data: make([]payments.DisputeView, 0, len(found))}
	for _, dispute := range found {
		list.Data = append(list.Data, dispute.View())
	}
	return show(w, list)
}
