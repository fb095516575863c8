package ledger_test

import (
	"context"
	"flag"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"payonce/boundaries"
	"payonce/internal/postgres"
	"payonce/internal/testkit/pg"
	"payonce/ledger"
	"payonce/payments"
)

func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "20"); err != nil { // each check is a book on Postgres; a flag of the command line wins
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// The money invariants, checked at the end of every test on a book:
//   - per currency all entries sum to zero, and those of each journal too;
//   - every journal has entries;
//   - every balance equals the recomputed sum of its entries.
func (b *book) checkInvariants() {
	b.t.Helper()
	ctx := context.Background()
	b.requireNone("SELECT currency FROM payonce.ledger_entries GROUP BY currency HAVING sum(amount) <> 0")
	b.requireNone("SELECT journal FROM payonce.ledger_entries GROUP BY journal, currency HAVING sum(amount) <> 0")
	b.requireNone(`SELECT id FROM payonce.ledger_journals j
		WHERE NOT EXISTS (SELECT FROM payonce.ledger_entries e WHERE e.journal = j.id)`)
	rows, err := b.pool.Query(ctx, `SELECT a.tenant, a.name, a.currency, sum(e.amount)::text
		FROM payonce.ledger_accounts a JOIN payonce.ledger_entries e ON e.account = a.id GROUP BY a.id`)
	require.NoError(b.t, err)
	type account struct {
		tenant   uuid.UUID
		name     ledger.AccountName
		currency payments.Currency
		sum      string
	}
	accounts, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (account, error) {
		var a account
		return a, row.Scan(&a.tenant, &a.name, &a.currency, &a.sum)
	})
	require.NoError(b.t, err)
	for _, a := range accounts {
		balance, err := ledger.Balance(ctx, b.pool, payments.TenantID{UUID: a.tenant}, a.name, a.currency)
		if err == nil {
			require.Equal(b.t, a.sum, decimal(balance), "balance of %s", a.name)
		} else {
			require.ErrorIs(b.t, err, payments.ErrOverflow)
		}
	}
}

// book is the ledger of one fresh database, used as the system role that posts in production.
type book struct {
	t      *testing.T
	db     *pg.Database
	pool   *pgxpool.Pool
	tenant payments.TenantID
}

func openBook(t *testing.T) *book {
	t.Helper()
	b := &book{t: t, db: pg.NewDatabase(t)}
	b.pool = b.openPool(b.db.SystemURL)
	b.tenant = b.newTenant("shop")
	t.Cleanup(b.checkInvariants)
	return b
}

func (b *book) openPool(url string) *pgxpool.Pool {
	pool, err := postgres.Open(context.Background(), postgres.PoolConfig{
		URL: url, MaxConns: 8, StatementTimeout: time.Minute, LockTimeout: time.Minute, IdleTransactionTimeout: time.Minute,
	})
	require.NoError(b.t, err)
	b.t.Cleanup(pool.Close)
	return pool
}

func (b *book) newTenant(name string) payments.TenantID {
	tenant := payments.TenantID{UUID: uuid.New()}
	b.exec(`INSERT INTO payonce.provider_accounts (account, livemode, secret_key, webhook_secrets, created_at)
		VALUES ('acct_test', false, '', '', payonce.clock()) ON CONFLICT DO NOTHING`)
	b.exec(`INSERT INTO payonce.tenants (id, name, account, livemode, created_at) VALUES ($1, $2, 'acct_test', false, payonce.clock())`,
		tenant.UUID, name)
	return tenant
}

func (b *book) exec(sql string, arguments ...any) {
	b.t.Helper()
	_, err := b.pool.Exec(context.Background(), sql, arguments...)
	require.NoError(b.t, err)
}

func (b *book) count(sql string, arguments ...any) int {
	b.t.Helper()
	var count int
	require.NoError(b.t, b.pool.QueryRow(context.Background(), sql, arguments...).Scan(&count))
	return count
}

func (b *book) requireNone(sql string) {
	b.t.Helper()
	require.Zero(b.t, b.count("SELECT count(*) FROM ("+sql+") AS violations"), sql)
}

// post posts in a transaction of its own.
func (b *book) post(postings ...ledger.Posting) ([]ledger.Result, error) {
	return postThrough(b.pool, postings...)
}

func postThrough(pool *pgxpool.Pool, postings ...ledger.Posting) (results []ledger.Result, err error) {
	err = postgres.InTransaction(context.Background(), pool, func(tx pgx.Tx) error {
		results, err = ledger.Post(context.Background(), tx, postings...)
		return err
	})
	return results, err
}

func (b *book) mustPost(postings ...ledger.Posting) []ledger.Result {
	b.t.Helper()
	results, err := b.post(postings...)
	require.NoError(b.t, err)
	return results
}

func (b *book) balance(account ledger.AccountName, currency payments.Currency) int64 {
	b.t.Helper()
	balance, err := ledger.Balance(context.Background(), b.pool, b.tenant, account, currency)
	require.NoError(b.t, err)
	return balance
}

// captured is a capture posting of a payment of its own.
func (b *book) captured(charge string, total, previous int64) ledger.Posting {
	posting, due := ledger.Captured(ledger.Capture{
		Tenant: b.tenant, Payment: boundaries.PaymentID(b.tenant, charge, 1), Charge: charge, Currency: "usd",
		NewTotal: total, PreviousTotal: previous, Source: "event", EffectiveAt: day(1),
	})
	require.True(b.t, due)
	return posting
}

// transfer moves an amount from one account to the other under a key.
func (b *book) transfer(key string, amount int64, debit, credit ledger.AccountName, currency payments.Currency) ledger.Posting {
	return ledger.Posting{
		Tenant: b.tenant, Key: boundaries.PostingKey(key), Rule: "test", Source: "event", EffectiveAt: day(1),
		Entries: []ledger.Entry{{Account: debit, Amount: amount, Currency: currency}, {Account: credit, Amount: -amount, Currency: currency}},
	}
}

func day(n int) time.Time { return time.Date(2030, 1, n, 12, 0, 0, 0, time.UTC) }
