package api

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
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
	text := &huma.Schema{Type: huma.TypeString}
	tag := map[string]*huma.Param{"ETag": textHeader("Names the payment as it is shown")}
	return huma.Operation{
		OperationID: "get_payment", Method: http.MethodGet, Path: "/v1/payments/{id}", Summary: "Read a payment as it is now, or wait until it changes",
		Parameters: []*huma.Param{
			idParameter(),
			{Name: headerKnown, In: "header", Description: "The ETag of what the caller has: nothing is sent while that is how it is", Schema: text},
			{
				Name: "Prefer", In: "header", Schema: text,
				Description: "wait=<seconds>, 0 to 30: how long to wait until the payment is not what the caller has, or is `ledger_applied`; 0 when absent (RFC 7240)",
			},
		},
		Responses: problemAnswers(schemas, map[string]*huma.Response{
			"200": paymentAnswer(schemas, "The payment", tag),
			"304": {Description: "It is still what the caller has", Headers: tag},
		}, codePreferInvalid, codeParameterInvalid, codeUnauthorized, codeForbiddenScope, codePaymentNotFound, codeUnavailable),
	}
}

// idParameter is the payment's id in a path.
func idParameter() *huma.Param {
	return &huma.Param{Name: "id", In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString, Format: "uuid"}}
}

// getPayment shows a payment of the tenant; another tenant's is as absent as one that never was.
func (a *api) getPayment(w http.ResponseWriter, r *http.Request, from caller) error {
	id, err := pathPayment(r)
	if err != nil {
		return err
	}
	wait, err := waitOr(r.Header, a.Timing, 0)
	if err != nil {
		return err
	}
	now, err := a.watch(r, from.tenant, id, wait)
	if err != nil {
		return err
	}
	w.Header().Set("ETag", now.tag)
	if knows(r.Header, now.tag) {
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	now.send(w, http.StatusOK)
	return nil
}

// showPayment writes the present view of a payment.
func (a *api) showPayment(w http.ResponseWriter, r *http.Request, tenant payments.TenantID, id payments.PaymentID, status int) error {
	now, err := a.view(r.Context(), tenant, id)
	if err != nil {
		return err
	}
	now.send(w, status)
	return nil
}

// snapshot is a payment as it was shown at a moment.
type snapshot struct {
	body []byte
	tag  string // of exactly these bytes
	over bool   // nothing that is under way will change it
}

func (s snapshot) send(w http.ResponseWriter, status int) {
	w.Header().Set("Cache-Control", "no-store") // it may hold the client secret
	write(w, status, "application/json", s.body)
}

func (a *api) view(ctx context.Context, tenant payments.TenantID, id payments.PaymentID) (snapshot, error) {
	payment, err := a.readPayment(ctx, tenant, id)
	if err != nil {
		return snapshot{}, err
	}
	body, err := json.Marshal(payment.View())
	if err != nil {
		return snapshot{}, fmt.Errorf("encode payment: %w", err)
	}
	sum := sha256.Sum256(body)
	tag := `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`
	return snapshot{body: body, tag: tag, over: payment.Stage == payments.StageLedgerApplied}, nil
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
