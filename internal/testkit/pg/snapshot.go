package pg

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"payonce/internal/testkit/services"
)

// Snapshot copies the database as it is now, and returns what restores the copy in its place: everything that was written meanwhile is lost. Whoever is
// connected is disconnected, both times.
func (d *Database) Snapshot(t testing.TB) (restore func()) {
	t.Helper()
	kept := "test_" + uuid.NewString()
	d.alone(t, "CREATE DATABASE "+quote(kept)+" TEMPLATE "+quote(d.Name)+" STRATEGY file_copy")
	return func() {
		lost := "test_" + uuid.NewString()
		d.alone(t, "ALTER DATABASE "+quote(d.Name)+" RENAME TO "+quote(lost), "ALTER DATABASE "+quote(kept)+" RENAME TO "+quote(d.Name),
			"DROP DATABASE "+quote(lost)+" WITH (FORCE)")
	}
}

// alone runs statements while nobody may connect to the database.
func (d *Database) alone(t testing.TB, statements ...string) {
	t.Helper()
	cluster, err := services.Postgres()
	require.NoError(t, err)
	ctx := context.WithoutCancel(t.Context())
	conn, err := pgx.Connect(ctx, cluster)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(ctx)) }()
	do := func(sql string, arguments ...any) {
		_, err := conn.Exec(ctx, sql, arguments...)
		require.NoError(t, err, sql)
	}
	do("ALTER DATABASE " + quote(d.Name) + " ALLOW_CONNECTIONS false")
	do("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1", d.Name)
	for _, statement := range statements {
		do(statement)
	}
	do("ALTER DATABASE " + quote(d.Name) + " ALLOW_CONNECTIONS true")
}
