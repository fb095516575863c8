package postgres_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"payonce/internal/testkit/pg"
)

func TestStatementsAlreadyPlannedSeeTheClockMove(t *testing.T) {
	t.Parallel()
	db := pg.NewDatabase(t)
	for role, url := range map[string]string{"tenant": db.TenantURL, "system": db.SystemURL, "twin": db.TwinURL} {
		session := openSession(t, url) // one session, so that its plan is the one from before
		before := timeOf(t, session)
		db.AdvanceClock(t, 31*24*time.Hour)
		require.Greater(t, timeOf(t, session).Sub(before), 30*24*time.Hour, role)
		db.AdvanceClock(t, -31*24*time.Hour)
		require.Less(t, timeOf(t, session).Sub(before), 24*time.Hour, role)
	}
}

func openSession(t *testing.T, url string) *pgxpool.Conn {
	t.Helper()
	session, err := open(t, url).Acquire(t.Context())
	require.NoError(t, err)
	t.Cleanup(session.Release)
	return session
}

func timeOf(t *testing.T, session *pgxpool.Conn) time.Time {
	t.Helper()
	var now time.Time
	require.NoError(t, session.QueryRow(t.Context(), `SELECT payonce.clock()`).Scan(&now))
	return now
}

func TestAClockThatIsMovedAndRolledBackStays(t *testing.T) {
	t.Parallel()
	db := pg.NewDatabase(t)
	owner, err := openSession(t, db.OwnerURL).Begin(t.Context())
	require.NoError(t, err)
	_, err = owner.Exec(t.Context(), `UPDATE payonce.clock_offset SET offset_interval = interval '31 days'`)
	require.NoError(t, err)
	require.NoError(t, owner.Rollback(t.Context()))

	var still bool
	require.NoError(t, open(t, db.SystemURL).QueryRow(t.Context(), `SELECT payonce.clock() < clock_timestamp() + interval '1 day'`).Scan(&still))
	require.True(t, still)
}

func TestTheEpochIsThatOfItsTable(t *testing.T) {
	t.Parallel()
	db := pg.NewDatabase(t)
	session, owner := openSession(t, db.SystemURL), open(t, db.OwnerURL)
	for range 2 {
		var told, kept int
		require.NoError(t, session.QueryRow(t.Context(), `SELECT payonce.epoch(), epoch FROM payonce.restore_epoch`).Scan(&told, &kept))
		require.Equal(t, kept, told)
		_, err := owner.Exec(t.Context(), `UPDATE payonce.restore_epoch SET epoch = epoch + 1`)
		require.NoError(t, err)
	}
}

// Only the owner writes the time: the functions follow their tables, and nobody else may change either.
func TestNobodyElseMayWriteTheClock(t *testing.T) {
	t.Parallel()
	db := pg.NewDatabase(t)
	for _, role := range []string{db.TenantURL, db.SystemURL, db.TwinURL} {
		for _, statement := range []string{
			`CREATE OR REPLACE FUNCTION payonce.clock() RETURNS timestamptz LANGUAGE sql VOLATILE RETURN 'epoch'`,
			`UPDATE payonce.restore_epoch SET epoch = 7`,
		} {
			_, err := open(t, role).Exec(t.Context(), statement)
			var refusal *pgconn.PgError
			require.ErrorAs(t, err, &refusal, statement)
			require.Equal(t, "42501", refusal.Code, statement)
		}
	}
}
