package postgres_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"payonce/internal/postgres"
	"payonce/internal/testkit/pg"
)

func open(t *testing.T, url string) *pgxpool.Pool {
	t.Helper()
	pool, err := postgres.Open(t.Context(), postgres.PoolConfig{
		URL: url, MaxConns: 2, StatementTimeout: 200 * time.Millisecond, LockTimeout: 100 * time.Millisecond, IdleTransactionTimeout: time.Second,
	})
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

func TestMigratingTwiceChangesNothing(t *testing.T) {
	db := pg.NewDatabase(t)
	require.NoError(t, postgres.Migrate(t.Context(), db.SuperuserURL))
	pending, err := postgres.Pending(t.Context(), db.SuperuserURL)
	require.NoError(t, err)
	require.False(t, pending)
	var newest int64
	require.NoError(t, open(t, db.SystemURL).QueryRow(t.Context(), `SELECT max(version_id) FROM payonce.schema_version`).Scan(&newest))
	require.Equal(t, postgres.NewestMigration(), newest)
}

func TestEachRoleMayDoOnlyItsOwn(t *testing.T) {
	db := pg.NewDatabase(t)
	for role, refused := range map[string][]string{
		db.TenantURL: {
			`SELECT secret_key FROM payonce.provider_accounts`, `INSERT INTO payonce.ledger_journals DEFAULT VALUES`,
			`SELECT body FROM payonce.provider_events`, `UPDATE payonce.clock_offset SET offset_interval = interval '1 day'`,
		},
		db.SystemURL: {
			`UPDATE payonce.clock_offset SET offset_interval = interval '1 day'`, `DELETE FROM payonce.idempotency_records`,
			`DELETE FROM payonce.payments`, `UPDATE payonce.ledger_entries SET amount = 1`, `DELETE FROM payonce.ledger_journals`,
		},
		db.TwinURL: {`SELECT count(*) FROM payonce.payments`, `SELECT offset_interval FROM payonce.clock_offset`},
	} {
		pool := open(t, role)
		for _, statement := range refused {
			_, err := pool.Exec(t.Context(), statement)
			var refusal *pgconn.PgError
			require.ErrorAs(t, err, &refusal, statement)
			require.Equal(t, "42501", refusal.Code, "%s: %s", statement, refusal.Message)
		}
		_, err := pool.Exec(t.Context(), `SELECT payonce.clock()`)
		require.NoError(t, err)
	}
}

func TestSessionsCarryTheirTimeouts(t *testing.T) {
	pool := open(t, pg.NewDatabase(t).SystemURL)
	_, err := pool.Exec(t.Context(), `SELECT pg_sleep(5)`)
	require.True(t, postgres.Unavailable(err), "%v", err)
}

// A database that is new has empty tables, and the plans that are made then are kept while it fills.
func TestNoPlanOfAnEmptyTableReadsItWhole(t *testing.T) {
	t.Parallel()
	db := pg.NewDatabase(t)
	owner, err := pgx.Connect(t.Context(), db.OwnerURL)
	require.NoError(t, err)
	defer func() { require.NoError(t, owner.Close(context.WithoutCancel(t.Context()))) }()
	_, err = owner.Exec(t.Context(), `VACUUM ANALYZE payonce.ledger_journals, payonce.ledger_accounts`)
	require.NoError(t, err)
	system := open(t, db.SystemURL)
	rows, err := system.Query(t.Context(), `EXPLAIN SELECT (SELECT currency FROM payonce.ledger_accounts WHERE id = '00000000-0000-0000-0000-000000000000'), xid
		FROM payonce.ledger_journals WHERE id = '00000000-0000-0000-0000-000000000000'`)
	require.NoError(t, err)
	plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.NotContains(t, strings.Join(plan, "\n"), "Seq Scan")
}

func TestTheTenantIsSetForItsStatementsAlone(t *testing.T) {
	pool := open(t, pg.NewDatabase(t).TenantURL)
	tenant := uuid.New()
	var seen string
	require.NoError(t, postgres.ForTenant(t.Context(), pool, tenant, func(batch *pgx.Batch) {
		batch.Queue(`SELECT current_setting('payonce.tenant')`).QueryRow(func(row pgx.Row) error { return row.Scan(&seen) })
	}))
	require.Equal(t, tenant.String(), seen)
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT coalesce(current_setting('payonce.tenant', true), '')`).Scan(&seen))
	require.Empty(t, seen)
}

func TestATransactionThatLostARaceIsRunAgain(t *testing.T) {
	pool := open(t, pg.NewDatabase(t).SystemURL)
	tries := 0
	require.NoError(t, postgres.InTransaction(t.Context(), pool, func(pgx.Tx) error {
		if tries++; tries < 3 {
			return &pgconn.PgError{Code: "40001"}
		}
		return nil
	}))
	require.Equal(t, 3, tries)
	tries = 0
	refused := errors.New("not a race")
	require.ErrorIs(t, postgres.InTransaction(context.Background(), pool, func(pgx.Tx) error { tries++; return refused }), refused)
	require.Equal(t, 1, tries)
}

func TestAnAddressThatIsRefusedIsNotRepeated(t *testing.T) {
	for _, refused := range []string{
		"postgres://u:s3cret@host:port/payonce", "postgres://u:s3%zzcret@host/payonce", "host=db user=u password=s3cret", "s3cret", "",
	} {
		_, err := postgres.WithRole(refused, postgres.RoleTenant)
		require.ErrorContains(t, err, "postgres://")
		require.NotContains(t, err.Error(), "s3cret")
	}
	url, err := postgres.WithRole("postgresql://u:s3cret@db/payonce?sslmode=require", postgres.RoleTenant)
	require.NoError(t, err)
	require.Equal(t, "postgresql://payonce_tenant@db/payonce?sslmode=require", url)
}
