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
	state, err := devstack.OpenState(filepath.Join(t.TempDir(), "kept", "here"))
	require.NoError(t, err)
	return state
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
