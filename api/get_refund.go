package api

import (
	"context"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"payonce/internal/paymentstore"
	"payonce/internal/postgres"
	"payonce/payments"
)

func describeGetRefund(schemas huma.Registry) huma.Operation {
	return huma.Operation{
		OperationID: "get_refund", Method: http.MethodGet, Path: "/v1/refunds/{id}", Summary: "Read a refund as it is now",
		Parameters: []*huma.Param{idParameter()},
		Responses: problemAnswers(schemas, map[string]*huma.Response{"200": refundAnswer(schemas, "The refund")},
			codeParameterInvalid, codeUnauthorized, codeForbiddenScope, codeRefundNotFound, codeUnavailable),
	}
}

// getRefund shows a refund of the tenant; another tenant's is as absent as one that never was.
func (a *api) getRefund(w http.ResponseWriter, r *http.Request, from caller) error {
	id, err := uuid.Parse(r.PathValue("id"))
	if err != nil || len(r.PathValue("id")) != len(uuid.Nil.String()) {
		return refusal{Code: codeRefundNotFound}
	}
	refund, err := a.readRefund(r.Context(), from.tenant, `WHERE r.id = $1`, id)
	if err != nil {
		return err
	}
	return a.showRefund(w, refund, http.StatusOK)
}

// refundList is every refund of a payment.
type refundList struct {
	Object string                `json:"object" doc:"Always list"`
	Data   []payments.RefundView `json:"data" doc:"The oldest first; those made elsewhere too"`
}

func describeListRefunds(schemas huma.Registry) huma.Operation {
	return huma.Operation{
		OperationID: "list_refunds", Method: http.MethodGet, Path: "/v1/payments/{id}/refunds", Summary: "List the refunds of a payment",
		Parameters: []*huma.Param{idParameter()},
		Responses: problemAnswers(schemas, map[string]*huma.Response{
			"200": {
				Description: "At most 1000 refunds",
				Content:     map[string]*huma.MediaType{"application/json": {Schema: schemas.Schema(reflect.TypeFor[refundList](), true, "RefundList")}},
			},
		}, codeParameterInvalid, codeUnauthorized, codeForbiddenScope, codePaymentNotFound, codeUnavailable),
	}
}

// listRefunds shows the refunds of a payment of the tenant.
func (a *api) listRefunds(w http.ResponseWriter, r *http.Request, from caller) error {
	id, err := pathPayment(r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), a.Timing.Statement)
	defer cancel()
	var found []payments.Refund
	var known bool
	err = postgres.ForTenant(ctx, a.Pool, from.tenant.UUID, func(batch *pgx.Batch) {
		batch.Queue(`SELECT EXISTS (SELECT FROM payonce.payments WHERE id = $1 AND tenant = $2)`, id.UUID, from.tenant.UUID).QueryRow(
			func(row pgx.Row) error { return row.Scan(&known) })
		paymentstore.QueueRefunds(batch, id, &found)
	})
	switch {
	case err != nil:
		return err
	case !known:
		return refusal{Code: codePaymentNotFound}
	}
	list := refundList{Object: "list", Data: make([]payments.RefundView, 0, len(found))}
	for _, refund := range found {
		list.Data = append(list.Data, refund.View())
	}
	return show(w, list)
}
