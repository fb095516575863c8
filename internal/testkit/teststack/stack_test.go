package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/internal/testkit/services"
)

func TestDirectoriesOfKilledStacksAreRemovedAndNoOthers(t *testing.T) {
	base := t.TempDir()
	dead := exec.Command("true")
	require.NoError(t, dead.Run())
	abandoned := filepath.Join(base, fmt.Sprintf("payonce-test-%d-1", dead.ProcessState.Pid()))
	used := filepath.Join(base, fmt.Sprintf("payonce-test-%d-1", os.Getpid()))
	foreign := filepath.Join(base, "payonce-test-notes-1")
	for _, dir := range []string{abandoned, used, foreign} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "postgres"), 0o755))
	}

	require.NoError(t, removeAbandoned(base))

	require.NoDirExists(t, abandoned)
	require.DirExists(t, used)
	require.DirExists(t, foreign)
}

func TestTheCommandGetsTheServicesAndItsExitCodeIsPassedOn(t *testing.T) {
	where := services.Where{PostgresURL: "postgres://here", Temporal: "there:1"}
	check := `test "$PAYONCE_TEST_POSTGRES_URL $PAYONCE_TEST_TEMPORAL" = "postgres://here there:1" && exit 7`

	code, err := pass(t.Context(), []string{"sh", "-c", check}, where)

	require.NoError(t, err)
	require.Equal(t, 7, code)
}

func TestWithoutACommandItSaysHowToUseIt(t *testing.T) {
	for _, args := range [][]string{nil, {"--"}, {"down"}, {"up", "now"}} {
		code, err := run(t.Context(), args)
		require.ErrorContains(t, err, "usage: teststack -- command")
		require.Equal(t, 2, code)
	}
}
