package ledger_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"payonce/boundaries"
	"payonce/internal/postgres"
	"payonce/ledger"
	"payonce/payments"
)

// The database is the last judge: these tests go around Post.

const insertJournal = `INSERT INTO payonce.ledger_journals
	(id, tenant, posting_key, rule, content_hash, phase, source, effective_at, booked_at)
	VALUES ($1, $2, $3, 'test', sha256(''), 'posted', 'event', payonce.clock(), payonce.clock())`

const insertEntries = `INSERT INTO payonce.ledger_entries (journal, line, account, amount, currency)
	VALUES ($1, 1, $2, $3, $4), ($1, 2, $5, $6, $7)`

// insertJournalOf inserts a journal with two entries in one transaction, past every check of the package.
func (b *book) insertJournalOf(debit int64, debitCurrency string, credit int64, creditCurrency string) error {
	journal := uuid.New()
	receivable := boundaries.LedgerAccountID(b.tenant, string(ledger.StripeReceivable), "usd")
	balance := boundaries.LedgerAccountID(b.tenant, string(ledger.MerchantBalance), "usd")
	return pgx.BeginFunc(context.Background(), b.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(context.Background(), insertJournal, journal, b.tenant.UUID, journal.String()); err != nil {
			return err
		}
		_, err := tx.Exec(context.Background(), insertEntries, journal, receivable, debit, debitCurrency, balance, credit, creditCurrency)
		return err
	})
}

func TestDatabaseRefusesAJournalThatDoesNotSumToZero(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	b.mustPost(b.captured("ch_1", 100, 0))
	err := b.insertJournalOf(100, "usd", -99, "usd")
	require.True(t, postgres.Violates(err, "ledger_entries_sum_zero"), "%v", err)
	require.NoError(t, b.insertJournalOf(100, "usd", -100, "usd"))
}

func TestDatabaseRefusesAnImpliedExchange(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	b.mustPost(b.captured("ch_1", 100, 0))
	err := b.insertJournalOf(100, "eur", -100, "usd")
	require.True(t, postgres.Violates(err, "ledger_entries_sum_zero"), "%v", err)
	err = b.insertJournalOf(100, "eur", -100, "eur")
	require.True(t, postgres.Violates(err, "ledger_entries_account_currency"), "%v", err)
}

// Amounts that cancel each other out over two currencies, or over two journals of one statement, are not balanced.
func TestDatabaseSumsEachCurrencyOfEachJournalByItself(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	b.mustPost(b.captured("ch_1", 100, 0))
	euros := b.captured("ch_2", 100, 0)
	for i := range euros.Entries {
		euros.Entries[i].Currency = "eur"
	}
	b.mustPost(euros)
	account := func(name ledger.AccountName, currency payments.Currency) uuid.UUID {
		return boundaries.LedgerAccountID(b.tenant, string(name), currency)
	}
	insert := func(first, second uuid.UUID, currency payments.Currency) error {
		return pgx.BeginFunc(context.Background(), b.pool, func(tx pgx.Tx) error {
			for _, journal := range slices.Compact([]uuid.UUID{first, second}) {
				if _, err := tx.Exec(context.Background(), insertJournal, journal, b.tenant.UUID, journal.String()); err != nil {
					return err
				}
			}
			_, err := tx.Exec(context.Background(), `INSERT INTO payonce.ledger_entries (journal, line, account, amount, currency)
				VALUES ($1, 1, $2, 100, 'usd'), ($3, 2, $4, -100, $5)`,
				first, account(ledger.StripeReceivable, "usd"), second, account(ledger.MerchantBalance, currency), string(currency))
			return err
		})
	}
	one, two := uuid.New(), uuid.New()
	require.True(t, postgres.Violates(insert(one, one, "eur"), "ledger_entries_sum_zero"))
	require.True(t, postgres.Violates(insert(one, two, "usd"), "ledger_entries_sum_zero"))
	require.NoError(t, insert(one, one, "usd"))
}

func TestCommittedJournalTakesNoMoreEntries(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	journal := b.mustPost(b.captured("ch_1", 100, 0))[0].Journal
	account := boundaries.LedgerAccountID(b.tenant, string(ledger.StripeReceivable), "usd")
	_, err := b.pool.Exec(context.Background(), `INSERT INTO payonce.ledger_entries (journal, line, account, amount, currency)
		VALUES ($1, 3, $2, 5, 'usd'), ($1, 4, $2, -5, 'usd')`, journal, account)
	require.True(t, postgres.Violates(err, "ledger_entries_one_transaction"), "%v", err)
}

func TestBookIsAppendOnlyForEveryRole(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	b.mustPost(b.captured("ch_1", 100, 0))
	roles := map[string]*pgxpool.Pool{
		"owner": b.openPool(b.db.OwnerURL), "system": b.pool, "tenant": b.openPool(b.db.TenantURL),
	}
	for role, pool := range roles {
		for _, statement := range []string{
			"UPDATE payonce.ledger_entries SET amount = amount + 1",
			"UPDATE payonce.ledger_journals SET memo = 'rewritten'",
			"DELETE FROM payonce.ledger_entries",
			"DELETE FROM payonce.ledger_journals",
			"TRUNCATE payonce.ledger_entries",
			"TRUNCATE payonce.ledger_journals CASCADE",
		} {
			_, err := pool.Exec(context.Background(), statement)
			require.Error(t, err, "%s: %s", role, statement)
			if role == "owner" {
				require.ErrorContains(t, err, "is append-only", statement)
			} else {
				require.ErrorContains(t, err, "permission denied", statement)
			}
		}
	}
	_, err := roles["tenant"].Exec(context.Background(), insertJournal, uuid.New(), b.tenant.UUID, "forged")
	require.ErrorContains(t, err, "permission denied", "the API's role posts nothing")
}

func TestTenantRoleReadsBalances(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	b.mustPost(b.captured("ch_1", 100, 0))
	balance, err := ledger.Balance(context.Background(), b.openPool(b.db.TenantURL), b.tenant, ledger.StripeReceivable, "usd")
	require.NoError(t, err)
	require.EqualValues(t, 100, balance)
}

func TestDatabaseRefusesAMalformedJournal(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	b.mustPost(b.captured("ch_1", 100, 0))
	good := malformed{key: "good", hash: "sha256('')", phase: "posted", resolves: "NULL", debit: 100, line: 2}
	require.NoError(t, b.insertMalformed(good))
	for name, change := range map[string]func(*malformed){
		"no key":          func(m *malformed) { m.key = "" },
		"a long key":      func(m *malformed) { m.key = strings.Repeat("k", 501) },
		"a short hash":    func(m *malformed) { m.hash = `'\x00'::bytea` },
		"a strange phase": func(m *malformed) { m.phase = "hoped" },
		"resolves none":   func(m *malformed) { m.resolves = "gen_random_uuid()" },
	} {
		bad := good
		bad.key = "bad"
		change(&bad)
		err := b.insertMalformed(bad)
		require.True(t, postgres.Violates(err, "ledger_journals_check"), "%s: %v", name, err)
	}
	for name, change := range map[string]func(*malformed){
		"no amount": func(m *malformed) { m.debit = 0 },
		"line zero": func(m *malformed) { m.line = 0 },
	} {
		bad := good
		bad.key = "bad"
		change(&bad)
		err := b.insertMalformed(bad)
		require.True(t, postgres.Violates(err, "ledger_entries_check"), "%s: %v", name, err)
	}
}

// malformed is a journal as no posting makes it.
type malformed struct {
	key, phase     string
	hash, resolves string // SQL
	debit          int64
	line           int // of the second entry
}

func (b *book) insertMalformed(m malformed) error {
	journal := uuid.New()
	receivable := boundaries.LedgerAccountID(b.tenant, string(ledger.StripeReceivable), "usd")
	balance := boundaries.LedgerAccountID(b.tenant, string(ledger.MerchantBalance), "usd")
	return pgx.BeginFunc(context.Background(), b.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(context.Background(), `INSERT INTO payonce.ledger_journals
			(id, tenant, posting_key, rule, content_hash, phase, resolves, source, effective_at, booked_at)
			VALUES ($1, $2, $3, 'test', `+m.hash+`, $4, `+m.resolves+`, 'event', payonce.clock(), payonce.clock())`, journal, b.tenant.UUID, m.key, m.phase)
		if err != nil {
			return err
		}
		_, err = tx.Exec(context.Background(), `INSERT INTO payonce.ledger_entries (journal, line, account, amount, currency)
			VALUES ($1, 1, $2, $3, 'usd'), ($1, $4, $5, -$3::bigint, 'usd')`, journal, receivable, m.debit, m.line, balance)
		return err
	})
}
