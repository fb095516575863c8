package services_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/internal/testkit/services"
)

func TestTheEnvironmentDecides(t *testing.T) {
	inModule(t)
	t.Setenv(services.PostgresVariable, "postgres://from-environment")
	t.Setenv(services.TemporalVariable, "environment:1")

	postgres, err := services.Postgres()
	require.NoError(t, err)
	require.Equal(t, "postgres://from-environment", postgres)
	temporal, err := services.Temporal()
	require.NoError(t, err)
	require.Equal(t, "environment:1", temporal)
}

func TestTheFileIsReadFromBelowTheModuleRoot(t *testing.T) {
	root := inModule(t)
	there := services.Where{PostgresURL: "postgres://postgres@127.0.0.1:1/postgres?sslmode=disable", Temporal: "127.0.0.1:2"}
	require.NoError(t, there.Write(root))

	postgres, err := services.Postgres()
	require.NoError(t, err)
	require.Equal(t, there.PostgresURL, postgres)
	temporal, err := services.Temporal()
	require.NoError(t, err)
	require.Equal(t, there.Temporal, temporal)
}

func TestAMissingServiceSaysWhatToRun(t *testing.T) {
	inModule(t)

	_, err := services.Postgres()
	require.ErrorContains(t, err, "go run ./internal/testkit/teststack up")
	_, err = services.Temporal()
	require.ErrorContains(t, err, services.TemporalVariable)
}

// inModule works in a package of an empty module, without variables set.
func inModule(t *testing.T) (root string) {
	t.Helper()
	t.Setenv(services.PostgresVariable, "")
	t.Setenv(services.TemporalVariable, "")
	root = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "go.mod"), nil, 0o644))
	inner := filepath.Join(root, "some", "package")
	require.NoError(t, os.MkdirAll(inner, 0o755))
	t.Chdir(inner)
	return root
}
