package tenants

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/payments"
)

// Freeze stops the calls of commands to Stripe: of one tenant, account or operation, of any two or all three together, or of everything. Commands are taken
// as before and wait; reads go on, and so does whatever Stripe tells.
type Freeze struct {
	Tenant    *payments.TenantID  // nil: every tenant
	Account   *payments.Account   // nil: every account
	Operation *payments.Operation // nil: every operation
	Reason    string              // 1 to 500 characters
	By        string              // who says so, 1 to 200 characters
}

// freezable are the operations that call Stripe.
func freezable() []payments.Operation {
	return []payments.Operation{
		payments.OperationCreate, payments.OperationConfirm, payments.OperationCapture, payments.OperationCancel, payments.OperationRefund,
		payments.OperationPayout, payments.OperationCustomer, payments.OperationConnectedAccount,
	}
}

// SetFreeze sets a freeze, for every call that is begun from now on; a call under way ends. It returns the freeze's id, by which it is lifted. An operation
// that calls nobody, and a blank reason or name, are refused. For the system role.
func SetFreeze(ctx context.Context, db DB, freeze Freeze) (uuid.UUID, error) {
	switch {
	case strings.TrimSpace(freeze.Reason) == "" || len(freeze.Reason) > 500:
		return uuid.Nil, errors.New("the reason must be 1 to 500 characters")
	case strings.TrimSpace(freeze.By) == "" || len(freeze.By) > 200:
		return uuid.Nil, errors.New("who says so must be 1 to 200 characters")
	case freeze.Operation != nil && !slices.Contains(freezable(), *freeze.Operation):
		return uuid.Nil, fmt.Errorf("operation %q calls nobody: there are %s", *freeze.Operation, joined(freezable()))
	}
	id, err := uuid.NewV7()
	if err != nil {
		return uuid.Nil, fmt.Errorf("make freeze id: %w", err)
	}
	var tenant *uuid.UUID
	if freeze.Tenant != nil {
		tenant = &freeze.Tenant.UUID
	}
	var account *string
	var livemode *bool
	if freeze.Account != nil {
		account, livemode = &freeze.Account.ID, &freeze.Account.Livemode
	}
	_, err = db.Exec(ctx, `
		INSERT INTO payonce.freezes (id, tenant, account, livemode, operation, reason, frozen_by, frozen_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, payonce.clock())`, id, tenant, account, livemode, freeze.Operation, freeze.Reason, freeze.By)
	if err != nil {
		return uuid.Nil, fmt.Errorf("set freeze: %w", err)
	}
	return id, nil
}

func joined(operations []payments.Operation) string {
	names := make([]string, len(operations))
	for i, operation := range operations {
		names[i] = string(operation)
	}
	return strings.Join(names, ", ")
}

// LiftFreeze lifts a freeze; ErrNotFound when there is none that is set. For the system role.
func LiftFreeze(ctx context.Context, db DB, id uuid.UUID, by string) error {
	if strings.TrimSpace(by) == "" || len(by) > 200 {
		return errors.New("who says so must be 1 to 200 characters")
	}
	tag, err := db.Exec(ctx, `UPDATE payonce.freezes SET lifted_at = payonce.clock(), lifted_by = $2 WHERE id = $1 AND lifted_at IS NULL`, id, by)
	if err != nil {
		return fmt.Errorf("lift freeze: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return fmt.Errorf("freeze %s: %w", id, ErrNotFound)
	}
	return nil
}

// ListedFreeze is a freeze as an operator sees it.
type ListedFreeze struct {
	ID        uuid.UUID
	Tenant    *string // name
	Account   *string
	Livemode  *bool
	Operation *string
	Reason    string
	By        string
	At        time.Time
	LiftedBy  *string
	LiftedAt  *time.Time
	Waiting   int64 // commands that are open and that it holds
}

// ListFreezes lists the freezes that are set, the oldest first, and those that were lifted too when all is true. For the system role.
func ListFreezes(ctx context.Context, pool *pgxpool.Pool, all bool) ([]ListedFreeze, error) {
	return list[ListedFreeze](ctx, pool, "freezes", `
		SELECT f.id, t.name, f.account, f.livemode, f.operation, f.reason, f.frozen_by, f.frozen_at, f.lifted_by, f.lifted_at,
		       CASE WHEN f.lifted_at IS NOT NULL THEN 0 ELSE (
		           SELECT count(*) FROM payonce.idempotency_records r JOIN payonce.tenants o ON o.id = r.tenant
		           WHERE r.status = 'in_progress' AND (f.tenant IS NULL OR f.tenant = r.tenant) AND (f.operation IS NULL OR f.operation = r.operation)
		             AND (f.account IS NULL OR (f.account, f.livemode) = (o.account, o.livemode))) END
		FROM payonce.freezes f LEFT JOIN payonce.tenants t ON t.id = f.tenant
		WHERE $1 OR f.lifted_at IS NULL ORDER BY f.frozen_at`, all)
}

// frozenFor reads the operations that are frozen for the account a and a tenant; an empty one stands for all.
func frozenFor(tenant string) string {
	return `ARRAY(
		SELECT coalesce(f.operation, '') FROM payonce.freezes f
		WHERE f.lifted_at IS NULL AND (f.tenant IS NULL OR f.tenant = ` + tenant + `)
		  AND (f.account IS NULL OR (f.account, f.livemode) = (a.account, a.livemode)))`
}

// Frozen tells whether the operation is frozen for whom the key was read.
func (k SealedKey) Frozen(operation payments.Operation) bool {
	return slices.Contains(k.frozen, "") || slices.Contains(k.frozen, string(operation))
}
