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

// look is what a request presents before it is read: an API key, and with a command an Idempotency-Key.
type look struct {
	hash      []byte // of the API key
	operation payments.Operation
	key       boundaries.CallerKey // empty: not a command, or no key
}

// seen is what a look found.
type seen struct {
	key  *tenants.APIKey // nil: unknown or revoked
	peek boundaries.Peek
}

// looksTogether is how many requests are looked up in one round trip at most.
const looksTogether = 64

// authenticate reads the key of the request and refuses one that is unknown, revoked or without the scope. The database is asked after each request
// has come, so that a revocation holds at once: one round trip, which requests share that come while another is under way, and with which the look-up
// of a command's Idempotency-Key travels.
func (a *api) authenticate(r *http.Request, op operation) (caller, error) {
	presented, ok := bearer(r.Header)
	if !ok {
		return caller{}, refusal{Code: codeUnauthorized}
	}
	hash, err := tenants.HashAPIKey(presented)
	if err != nil {
		return caller{}, refusal{Code: codeUnauthorized}
	}
	asked := look{hash: hash, operation: payments.Operation(op.describe.OperationID)}
	if op.describe.Method == http.MethodPost {
		asked.key, _ = callerKey(r.Header) // one that is refused is refused when the command is read
	}
	ctx, cancel := context.WithTimeout(r.Context(), a.Timing.Statement)
	defer cancel()
	found, err := a.looks.Do(ctx, asked)
	switch {
	case err != nil:
		return caller{}, fmt.Errorf("authenticate: %w", err)
	case found.key == nil:
		return caller{}, refusal{Code: codeUnauthorized}
	case !found.key.Permits(op.scope):
		return caller{}, refusal{Code: codeForbiddenScope, Detail: "The scope " + string(op.scope) + " is required."}
	default:
		return caller{tenant: found.key.Tenant, peek: found.peek}, nil
	}
}

// lookUp reads what requests present, in one round trip.
func (a *api) lookUp(ctx context.Context, looks []look) ([]seen, error) {
	var (
		found  = make([]seen, len(looks))
		places = make(map[string]int, 1) // of the API keys, of which one sends many requests
		hashes [][]byte
		peeks  []boundaries.PeekAt
	)
	for i, look := range looks {
		if _, known := places[string(look.hash)]; !known {
			places[string(look.hash)] = len(hashes)
			hashes = append(hashes, look.hash)
		}
		if look.key != "" {
			peeks = append(peeks, boundaries.PeekAt{APIKeySHA256: look.hash, Operation: look.operation, Key: look.key, Into: &found[i].peek})
		}
	}
	keys, batch := make([]*tenants.APIKey, len(hashes)), &pgx.Batch{}
	tenants.QueueFindAPIKeys(batch, hashes, keys)
	if len(peeks) > 0 {
		boundaries.QueuePeeks(batch, peeks)
	}
	if err := a.Pool.SendBatch(ctx, batch).Close(); err != nil {
		return nil, fmt.Errorf("look up: %w", err)
	}
	for i, look := range looks {
		found[i].key = keys[places[string(look.hash)]]
	}
	return found, nil
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
