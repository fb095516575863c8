package main

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDevTellsATakenAddressBeforeItStartsAnything(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, taken.Close()) }()
	state := filepath.Join(t.TempDir(), "dev")
	require.NoError(t, os.Chmod(filepath.Dir(filepath.Dir(state)), 0o755)) // so that Postgres could reach it

	err = (&devCommand{State: state, Listen: taken.Addr().String()}).Run(t.Context())

	require.ErrorContains(t, err, taken.Addr().String())
	require.ErrorContains(t, err, "PAYONCE_LISTEN=")
	require.NoDirExists(t, filepath.Join(state, "postgres"))
}

// A database that is exported for serve or doctor is not one to play in.
func TestDevTakesNoDatabaseFromTheEnvironment(t *testing.T) {
	t.Setenv("PAYONCE_DATABASE_URL", "postgres://books.example/payonce")
	t.Setenv("PAYONCE_TEMPORAL", "temporal.example:7233")
	var commands cli
	parser, err := newParser(t.Context(), &commands)
	require.NoError(t, err)
	_, err = parser.Parse([]string{"dev"})
	require.NoError(t, err)
	require.Empty(t, commands.Dev.DatabaseURL)
	require.Empty(t, commands.Dev.Temporal)
}

func TestWrongArgumentsPointToTheHelpOfTheirCommand(t *testing.T) {
	t.Parallel()
	for want, arguments := range map[string][]string{
		"payonce --help":             {},
		"payonce doctor --help":      {"doctor", "--no-such-flag"},
		"payonce keys create --help": {"keys", "create", "--no-such-flag"},
	} {
		parser, err := newParser(t.Context(), &cli{})
		require.NoError(t, err)
		_, err = parser.Parse(arguments)
		require.Equal(t, want, helpFor(err))
	}
}
