package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/jackc/pgx/v5"

	"payonce/internal/paymentstore"
	"payonce/internal/postgres"
	"payonce/payments"
)

func describeGetPayment(schemas huma.Registry) huma.Operation {
	return huma.Operation{
		OperationID: "get_payment", Method: http.MethodGet, Path: "/v1/payments/{id}", Summary: "Read a payment as it is now",
		Parameters: []*huma.Param{idParameter()},
		Responses: problemAnswers(schemas, map[string]*huma.Response{
			"200": paymentAnswer(schemas, "The payment", nil),
		}, codeUnauthorized, codeForbiddenScope, codePaymentNotFound, codeUnavailable),
	}
}

// idParameter is the payment's id in a path.
func idParameter() *huma.Param {
	return &huma.Param{Name: "id", In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString, Format: "uuid"}}
}

// getPayment shows a payment of the tenant; another tenant's is as absent as one that never was.
func (a *api) getPayment(w http.ResponseWriter, r *http.Request, tenant payments.TenantID) error {
	id, err := pathPayment(r)
	if err != nil {
		return err
	}
	return a.showPayment(w, r, tenant, id, http.StatusOK)
}

// showPayment writes the present view of a payment.
func (a *api) showPayment(w http.ResponseWriter, r *http.Request, tenant payments.TenantID, id payments.PaymentID, status int) error {
	payment, err := a.readPayment(r.Context(), tenant, id)
	if err != nil {
		return err
	}
	body, err := json.Marshal(payment.View())
	if err != nil {
		return fmt.Errorf("encode payment: %w", err)
	}
	w.Header().Set("Cache-Control", "no-store") // it may hold the client secret
	write(w, status, "application/json", body)
	return nil
}

func (a *api) readPayment(ctx context.Context, tenant payments.TenantID, id payments.PaymentID) (payments.Payment, error) {
	ctx, cancel := context.WithTimeout(ctx, a.Timing.Statement)
	defer cancel()
	var payment payments.Payment
	err := postgres.ForTenant(ctx, a.Pool, tenant.UUID, func(batch *pgx.Batch) {
		batch.Queue(paymentstore.SelectByID+` AND p.tenant = $2`, id.UUID, tenant.UUID).QueryRow(func(row pgx.Row) (err error) {
			payment, err = paymentstore.Scan(row, a.Sealer)
			return err
		})
	})
	return payment, err
}
