package stack_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/internal/stack"
)

func TestPostgresInPathComesFirst(t *testing.T) {
	dir := fakePostgres(t, "99.1")

	found, err := stack.FindPostgres(0)

	require.NoError(t, err)
	require.Equal(t, stack.Postgres{Dir: dir, Major: 99}, found)
}

func TestPostgresOfTheDataDirectorysVersionIsRequired(t *testing.T) {
	fakePostgres(t, "99.1")

	_, err := stack.FindPostgres(7)

	require.ErrorContains(t, err, "made by Postgres 7, and only Postgres 99")
}

// fakePostgres puts the two programs of a version into PATH.
func fakePostgres(t *testing.T, version string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	script := "#!/bin/sh\necho 'postgres (PostgreSQL) " + version + "'\n"
	for _, name := range []string{"initdb", "postgres"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755))
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return dir
}
