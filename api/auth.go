package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"payonce/internal/tenants"
)

// authenticate reads the key of the request and refuses one that is unknown, revoked or without the scope. It asks the
// database at each request, so that a revocation holds at once: one look-up by the hash's unique index.
func (a *api) authenticate(r *http.Request, scope tenants.Scope) (tenants.APIKey, error) {
	presented, ok := bearer(r.Header)
	if !ok {
		return tenants.APIKey{}, refusal{Code: codeUnauthorized}
	}
	ctx, cancel := context.WithTimeout(r.Context(), a.Timing.Statement)
	defer cancel()
	key, err := tenants.FindAPIKey(ctx, a.Pool, presented)
	switch {
	case errors.Is(err, tenants.ErrNotFound):
		return tenants.APIKey{}, refusal{Code: codeUnauthorized}
	case err != nil:
		return tenants.APIKey{}, fmt.Errorf("authenticate: %w", err)
	case !key.Permits(scope):
		return tenants.APIKey{}, refusal{Code: codeForbiddenScope, Detail: "The scope " + string(scope) + " is required."}
	default:
		return key, nil
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
