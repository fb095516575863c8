package devstack_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/internal/devstack"
)

func openState(t *testing.T) devstack.State {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755)) // so that Postgres can reach it
	state, err := devstack.OpenState(filepath.Join(dir, "kept", "here"))
	require.NoError(t, err)
	require.Empty(t, state.Moved())
	return state
}

// Whoever clones below root's home finds the same state again; any other user runs Postgres as themselves and keeps it in the clone.
func TestAStateThatPostgresCannotReachIsKeptElsewhereAsAWhole(t *testing.T) {
	clone, temp := t.TempDir(), t.TempDir()
	require.NoError(t, os.Chmod(clone, 0o700))
	require.NoError(t, os.Chmod(filepath.Dir(temp), 0o755))
	t.Setenv("TMPDIR", temp)
	asked := filepath.Join(clone, ".payonce", "dev")
	state, err := devstack.OpenState(asked)
	require.NoError(t, err)
	_, err = state.Secret("api_key", func() (string, error) { return "s3cret", nil })
	require.NoError(t, err)

	again, err := devstack.OpenState(asked)
	require.NoError(t, err)
	kept, err := again.Secret("api_key", func() (string, error) { return "", os.ErrExist })
	require.NoError(t, err)
	require.Equal(t, "s3cret", kept)
	if os.Geteuid() != 0 {
		require.Empty(t, state.Moved())
		return
	}
	require.Contains(t, state.Moved(), asked)
	require.Contains(t, state.Moved(), again.Path(""))
	require.Equal(t, temp, filepath.Dir(again.Path("")))
	require.NoDirExists(t, filepath.Join(clone, ".payonce"))
}

func TestASecretIsMadeOnceAndReadableByItsOwnerAlone(t *testing.T) {
	state := openState(t)
	made := 0
	fresh := func() (string, error) { made++; return "s3cret", nil }

	for range 2 {
		secret, err := state.Secret("api_key", fresh)
		require.NoError(t, err)
		require.Equal(t, "s3cret", secret)
	}

	require.Equal(t, 1, made)
	info, err := os.Stat(state.Path("api_key"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestASecretThatCannotBeMadeLeavesNothingBehind(t *testing.T) {
	state := openState(t)
	_, err := state.Secret("api_key", func() (string, error) { return "", os.ErrPermission })
	require.ErrorIs(t, err, os.ErrPermission)
	require.NoFileExists(t, state.Path("api_key"))
}

func TestRunsAreNumberedOverRuns(t *testing.T) {
	state := openState(t)
	for want := 1; want <= 3; want++ {
		run, err := state.Next("run")
		require.NoError(t, err)
		require.Equal(t, want, run)
	}
	require.NoError(t, os.WriteFile(state.Path("run"), []byte("seven"), 0o600))
	_, err := state.Next("run")
	require.ErrorContains(t, err, "does not hold a number", "a new count would name old orders again")
}

func TestAnAddressStaysTheSameWhileItIsFree(t *testing.T) {
	state := openState(t)
	listener, err := state.Listen("receiver")
	require.NoError(t, err)
	first := listener.Addr().String()
	taken, err := state.Address("receiver")
	require.NoError(t, err)
	require.NotEqual(t, first, taken, "it is taken now")
	require.NoError(t, listener.Close())

	again, err := state.Address("receiver")
	require.NoError(t, err)
	require.Equal(t, taken, again, "the newest is kept")
}
