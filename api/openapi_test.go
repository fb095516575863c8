package api_test

import (
	"context"
	"encoding/json"
	"flag"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"payonce/api"
	"payonce/internal/seal"
	"payonce/internal/timing"
)

var update = flag.Bool("update", false, "write openapi.yaml anew")

// document is served without a database, so that it can be generated without one.
func document(t *testing.T, path string) string {
	t.Helper()
	config, err := pgxpool.ParseConfig("postgres://127.0.0.1:1/none")
	require.NoError(t, err)
	pool, err := newPool(config)
	require.NoError(t, err)
	defer pool.Close()
	handler, err := api.New(api.Config{
		Pool: pool, Sealer: &seal.Sealer{}, Commands: newCommands(), Waker: &waker{}, Timing: timing.Production(),
		Ready: func(context.Context) error { return nil }, BodyWithin: time.Minute, Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	got := httptest.NewRecorder()
	handler.ServeHTTP(got, httptest.NewRequest(http.MethodGet, path, nil))
	require.Equal(t, http.StatusOK, got.Code)
	return got.Body.String()
}

func TestTheOpenAPIDocumentIsCurrent(t *testing.T) {
	served := document(t, "/openapi.yaml")
	if *update {
		require.NoError(t, os.WriteFile("openapi.yaml", []byte(served), 0o644))
	}

	committed, err := os.ReadFile("openapi.yaml")
	require.NoError(t, err)
	require.Equal(t, string(committed), served, "run `go generate ./api`")
}

func TestTheOpenAPIDocumentNamesEveryRouteAndProblem(t *testing.T) {
	var described struct {
		Version string `json:"openapi"`
		Paths   map[string]map[string]struct {
			Responses map[string]struct {
				Content map[string]any `json:"content"`
			} `json:"responses"`
		} `json:"paths"`
	}
	require.NoError(t, json.Unmarshal([]byte(document(t, "/openapi.json")), &described))

	require.Equal(t, "3.1.0", described.Version)
	create := described.Paths["/v1/payments"]["post"].Responses
	for _, status := range []string{"200", "201", "202", "400", "401", "402", "403", "409", "413", "415", "422", "503"} {
		require.Contains(t, create, status)
	}
	require.Contains(t, create["409"].Content, "application/problem+json")
	require.Contains(t, described.Paths["/v1/payments/{id}"], "get")
}
