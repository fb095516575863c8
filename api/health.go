package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

func describeHealth() huma.Operation {
	return huma.Operation{
		OperationID: "health", Method: http.MethodGet, Path: "/healthz", Summary: "Whether the process serves",
		Responses: map[string]*huma.Response{"200": {Description: "It does"}},
	}
}

func describeReady(schemas huma.Registry) huma.Operation {
	return huma.Operation{
		OperationID: "ready", Method: http.MethodGet, Path: "/readyz", Summary: "Whether requests can be served",
		Description: "The database is reachable and no migration is pending.",
		Responses:   problemAnswers(schemas, map[string]*huma.Response{"200": {Description: "They can"}}, codeUnavailable),
	}
}

func (a *api) health(w http.ResponseWriter, _ *http.Request, _ caller) error {
	write(w, http.StatusOK, "application/json", []byte(`{"status":"ok"}`))
	return nil
}

// ready logs why not, and does not tell: the route is open.
func (a *api) ready(w http.ResponseWriter, r *http.Request, _ caller) error {
	ctx, cancel := context.WithTimeout(r.Context(), a.Timing.Statement)
	defer cancel()
	if err := a.Ready(ctx); err != nil {
		a.Log.WarnContext(ctx, "not ready", "error", err)
		return refusal{Code: codeUnavailable, RetryAfter: unavailableRetryAfter}
	}
	write(w, http.StatusOK, "application/json", []byte(`{"status":"ok"}`))
	return nil
}
