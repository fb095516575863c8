package pg_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"payonce/internal/clock"
	"payonce/internal/testkit/pg"
)

func TestEveryRoleReachesTheMigratedDatabase(t *testing.T) {
	t.Parallel()
	db := pg.NewDatabase(t)
	for role, url := range map[string]string{
		"payonce_owner": db.OwnerURL, "payonce_tenant": db.TenantURL,
		"payonce_system": db.SystemURL, "payonce_twin": db.TwinURL,
	} {
		conn := connect(t, url)
		var user, database string
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT current_user, current_database()").Scan(&user, &database))
		require.Equal(t, role, user)
		require.Equal(t, db.Name, database)
		_, err := clock.Postgres{Source: conn}.Now(t.Context())
		require.NoError(t, err, "%s may read the clock", role)
	}
}

func TestDatabasesDoNotShareAnything(t *testing.T) {
	t.Parallel()
	first, second := pg.NewDatabase(t), pg.NewDatabase(t)
	_, err := connect(t, first.SuperuserURL).Exec(t.Context(), "CREATE TABLE mine ()")
	require.NoError(t, err)

	_, err = connect(t, second.SuperuserURL).Exec(t.Context(), "TABLE mine")

	require.ErrorContains(t, err, `"mine" does not exist`)
}

func TestTheDatabaseIsDroppedAfterTheTestUnderAnOpenConnection(t *testing.T) {
	t.Parallel()
	other := pg.NewDatabase(t)
	var name string
	t.Run("inner", func(t *testing.T) {
		db := pg.NewDatabase(t)
		name = db.Name
		_, err := pgx.Connect(t.Context(), db.SystemURL) // left open
		require.NoError(t, err)
	})

	var there bool
	require.NoError(t, connect(t, other.SuperuserURL).QueryRow(t.Context(),
		"SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name).Scan(&there))
	require.False(t, there)
}

func TestAdvanceClockMovesThisDatabaseAlone(t *testing.T) {
	t.Parallel()
	moved, still := pg.NewDatabase(t), pg.NewDatabase(t)
	before := now(t, moved)

	moved.AdvanceClock(t, 24*time.Hour)
	moved.AdvanceClock(t, time.Hour)

	require.WithinRange(t, now(t, moved), before.Add(25*time.Hour), before.Add(26*time.Hour))
	require.WithinRange(t, now(t, still), before, before.Add(time.Hour))
}

func now(t *testing.T, db *pg.Database) time.Time {
	t.Helper()
	at, err := clock.Postgres{Source: connect(t, db.TwinURL)}.Now(t.Context())
	require.NoError(t, err)
	return at
}

// connect opens a connection that is closed before the database is dropped.
func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	return conn
}
