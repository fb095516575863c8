package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"payonce/internal/seal"
	"payonce/internal/testkit/pg"
)

func TestTheDoctorsExitCodeTellsHealthyFromIll(t *testing.T) {
	t.Parallel()
	db := pg.NewDatabase(t)
	keyset, err := seal.NewKeyset()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "keyset.json")
	require.NoError(t, os.WriteFile(file, keyset, 0o600))
	arguments := []string{"doctor", "--database-url", db.SuperuserURL, "--keyset-file", file, "--settled"}
	require.Equal(t, 0, run(t.Context(), arguments))

	owner, err := pgx.Connect(t.Context(), db.OwnerURL)
	require.NoError(t, err)
	defer func() { require.NoError(t, owner.Close(t.Context())) }()
	_, err = owner.Exec(t.Context(), `ALTER TABLE payonce.ledger_entries DISABLE TRIGGER ledger_entries_balanced`)
	require.NoError(t, err)

	require.Equal(t, 1, run(t.Context(), arguments))
	require.Equal(t, 1, run(t.Context(), append(arguments, "--json")))
}
