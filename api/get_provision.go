package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"payonce/boundaries"
	"payonce/internal/paymentstore"
	"payonce/internal/postgres"
	"payonce/ledger"
	"payonce/payments"
)

func describeGetProvision(schemas huma.Registry, kind payments.ProvisionKind) huma.Operation {
	description := "Read it as it is now"
	if kind == payments.ProvisionWallet {
		description = "Read it as it is now, with what is owed to its owner"
	}
	return huma.Operation{
		OperationID: "get_" + string(kind), Method: http.MethodGet, Path: kind.Path() + "/{id}", Summary: description,
		Parameters: []*huma.Param{idParameter()},
		Responses: problemAnswers(schemas, map[string]*huma.Response{"200": provisionAnswer(schemas, "As it is now", nil)},
			codeParameterInvalid, codeUnauthorized, codeForbiddenScope, codeProvisionNotFound, codeUnavailable),
	}
}

// getProvision makes the function that shows a provision of the kind of the tenant; another tenant's is as absent as one that never was.
func (a *api) getProvision(kind payments.ProvisionKind) serve {
	return func(w http.ResponseWriter, r *http.Request, from caller) error {
		id, err := uuid.Parse(r.PathValue("id"))
		if err != nil || len(r.PathValue("id")) != len(uuid.Nil.String()) {
			return refusal{Code: codeProvisionNotFound}
		}
		provision, err := a.readProvision(r.Context(), from.tenant, `WHERE p.id = $1`, id)
		if err != nil {
			return err
		}
		if provision.Kind != kind {
			return refusal{Code: codeProvisionNotFound}
		}
		view := provision.View()
		if kind == payments.ProvisionWallet {
			ctx, cancel := context.WithTimeout(r.Context(), a.Timing.Statement)
			defer cancel()
			balance, err := ledger.Balance(ctx, a.Pool, from.tenant, ledger.AccountName(provision.LedgerAccount()), provision.Currency)
			if err != nil {
				return err
			}
			available := -balance // what we owe has a negative balance
			view.Available = &available
		}
		return showProvision(w, kind, view, http.StatusOK)
	}
}

// showClaimedProvision writes what a command links as it is now.
func (a *api) showClaimedProvision(w http.ResponseWriter, r *http.Request, claim boundaries.Claim, status int) error {
	provision, err := a.readProvision(r.Context(), claim.Tenant,
		`JOIN payonce.idempotency_records r ON r.resource_id = p.id AND r.tenant = p.tenant WHERE r.id = $1`, claim.Record.UUID)
	if err != nil {
		return err
	}
	return showProvision(w, provision.Kind, provision.View(), status)
}

func showProvision(w http.ResponseWriter, kind payments.ProvisionKind, view payments.ProvisionView, status int) error {
	body, err := json.Marshal(view)
	if err != nil {
		return fmt.Errorf("encode provision: %w", err)
	}
	if status != http.StatusOK {
		w.Header().Set("Location", kind.Path()+"/"+view.ID.String())
	}
	w.Header().Set("Cache-Control", "no-store")
	write(w, status, "application/json", body)
	return nil
}

func (a *api) readProvision(ctx context.Context, tenant payments.TenantID, where string, id uuid.UUID) (provision payments.Provision, err error) {
	ctx, cancel := context.WithTimeout(ctx, a.Timing.Statement)
	defer cancel()
	err = postgres.ForTenant(ctx, a.Pool, tenant.UUID, func(batch *pgx.Batch) {
		batch.Queue(paymentstore.SelectProvisions+where+` AND p.tenant = $2`, id, tenant.UUID).QueryRow(func(row pgx.Row) (err error) {
			provision, err = paymentstore.ScanProvision(row)
			return err
		})
	})
	return provision, err
}
