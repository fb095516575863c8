package ledger_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"payonce/boundaries"
	"payonce/internal/postgres"
	"payonce/ledger"
)

// openSession is a pool of one connection, so that the second posting goes where the first one went.
func (b *book) openSession() *pgxpool.Pool {
	b.t.Helper()
	config, err := pgxpool.ParseConfig(b.db.SystemURL)
	require.NoError(b.t, err)
	config.MaxConns = 1
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	require.NoError(b.t, err)
	b.t.Cleanup(pool.Close)
	return pool
}

func TestAccountsOfARolledBackTransactionAreMadeAgainOnItsConnection(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	session := b.openSession()
	tx, err := session.Begin(context.Background())
	require.NoError(t, err)
	for _, charge := range []string{"ch_1", "ch_2"} { // the second finds what the first made, and must not take it for committed
		_, err = ledger.Post(context.Background(), tx, b.captured(charge, 100, 0))
		require.NoError(t, err)
	}
	require.NoError(t, tx.Rollback(context.Background()))

	results, err := postThrough(session, b.captured("ch_1", 100, 0))
	require.NoError(t, err)
	require.Equal(t, boundaries.Acquired, results[0].Outcome)
}

func TestAccountsThatWereSeenAreNotLookedFor(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	session := b.openSession()
	for _, step := range []struct {
		charge     string
		statements int
	}{{"ch_1", 2}, {"ch_2", 2}, {"ch_3", 1}} { // made, seen, known
		require.NoError(t, pgx.BeginFunc(context.Background(), session, func(tx pgx.Tx) error {
			counted := &countedTx{Tx: tx}
			_, err := ledger.Post(context.Background(), counted, b.captured(step.charge, 100, 0))
			require.Equal(t, []int{step.statements}, counted.trips, step.charge)
			return err
		}))
	}
}

// countedTx counts the statements of each round trip.
type countedTx struct {
	pgx.Tx
	trips []int // statements, by round trip
}

func (c *countedTx) SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults {
	c.trips = append(c.trips, batch.Len())
	return c.Tx.SendBatch(ctx, batch)
}

func (c *countedTx) Exec(ctx context.Context, sql string, arguments ...any) (pgconn.CommandTag, error) {
	c.trips = append(c.trips, 1)
	return c.Tx.Exec(ctx, sql, arguments...)
}

// No role can do this but the owner, after disabling what refuses it.
func TestAnAccountThatTheDatabaseLostIsMadeAgainByTheNextTry(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	session := b.openSession()
	for _, charge := range []string{"ch_1", "ch_2"} {
		_, err := postThrough(session, b.captured(charge, 100, 0))
		require.NoError(t, err)
	}
	owner := b.openPool(b.db.OwnerURL)
	for _, statement := range []string{
		`ALTER TABLE payonce.ledger_accounts DISABLE TRIGGER ledger_accounts_append_only`,
		`DELETE FROM payonce.ledger_accounts WHERE name = 'stripe:receivable'`,
		`ALTER TABLE payonce.ledger_accounts ENABLE TRIGGER ledger_accounts_append_only`,
	} {
		_, err := owner.Exec(context.Background(), statement)
		require.NoError(t, err)
	}

	_, err := postThrough(session, b.captured("ch_3", 100, 0))
	require.True(t, postgres.Violates(err, "ledger_entries_account_currency"), "%v", err)
	results, err := postThrough(session, b.captured("ch_3", 100, 0))
	require.NoError(t, err)
	require.Equal(t, boundaries.Acquired, results[0].Outcome)
}

func TestWhatOneConnectionSawTheOthersOfItsPoolKnow(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	for _, charge := range []string{"ch_1", "ch_2"} {
		b.mustPost(b.captured(charge, 100, 0))
	}
	first, err := b.pool.Acquire(context.Background())
	require.NoError(t, err)
	defer first.Release()
	second, err := b.pool.Acquire(context.Background())
	require.NoError(t, err)
	defer second.Release()
	for i, conn := range []*pgxpool.Conn{first, second} {
		require.NoError(t, pgx.BeginFunc(context.Background(), conn, func(tx pgx.Tx) error {
			counted := &countedTx{Tx: tx}
			_, err := ledger.Post(context.Background(), counted, b.captured([]string{"ch_3", "ch_4"}[i], 100, 0))
			require.Equal(t, []int{1}, counted.trips)
			return err
		}))
	}
}
