package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/jackc/pgx/v5"

	"payonce/boundaries"
	"payonce/internal/tenants"
	"payonce/payments"
)

// caller is who sent the request.
type caller struct {
	tenant payments.TenantID
	peek   boundaries.Peek // of a command: what its Idempotency-Key was found to name
}

// authenticate reads the key of the request and refuses one that is unknown, revoked or without the scope. It asks the
// database at each request, so that a revocation holds at once: one look-up by the hash's unique index, with which that of a
// command's Idempotency-Key travels.
func (a *api) authenticate(r *http.Request, op operation) (caller, error) {
	presented, ok := bearer(r.Header)
	if !ok {
		return caller{}, refusal{Code: codeUnauthorized}
	}
	var (
		found *tenants.APIKey
		from  caller
	)
	batch := &pgx.Batch{}
	hash, err := tenants.QueueFindAPIKey(batch, presented, &found)
	if err != nil {
		return caller{}, refusal{Code: codeUnauthorized}
	}
	if key, err := callerKey(r.Header); err == nil && op.describe.Method == http.MethodPost {
		boundaries.QueuePeek(batch, hash, payments.Operation(op.describe.OperationID), key, &from.peek)
	}
	ctx, cancel := context.WithTimeout(r.Context(), a.Timing.Statement)
	defer cancel()
	err = a.Pool.SendBatch(ctx, batch).Close()
	switch {
	case err != nil:
		return caller{}, fmt.Errorf("authenticate: %w", err)
	case found == nil:
		return caller{}, refusal{Code: codeUnauthorized}
	case !found.Permits(op.scope):
		return caller{}, refusal{Code: codeForbiddenScope, Detail: "The scope " + string(op.scope) + " is required."}
	default:
		from.tenant = found.Tenant
		return from, nil
	}
}

// bearer is the token of the one Authorization header (RFC 6750).
func bearer(header http.Header) (string, bool) {
	values := header.Values("Authorization")
	if len(values) != 1 {
		return "", false
	}
	scheme, token, found := strings.Cut(values[0], " ")
	return strings.TrimSpace(token), found && strings.EqualFold(scheme, "Bearer")
}
