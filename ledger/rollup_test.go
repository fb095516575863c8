package ledger_test

import (
	"context"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"payonce/boundaries"
	"payonce/ledger"
)

func (b *book) rollUp(limits ledger.RollUpLimits) ledger.RolledUp {
	b.t.Helper()
	done, err := ledger.RollUp(context.Background(), b.pool, limits)
	require.NoError(b.t, err)
	return done
}

// rollUpAll rolls up once and requires that it passes exactly that many entries.
func (b *book) rollUpAll(limits ledger.RollUpLimits, entries int64) {
	b.t.Helper()
	b.awaitHorizon()
	require.Equal(b.t, entries, b.rollUp(limits).Entries, "every entry once")
}

// awaitHorizon waits until the horizon has passed every entry of this book: transactions of other tests on the cluster hold it back for a moment.
func (b *book) awaitHorizon() {
	b.t.Helper()
	for b.count("SELECT count(*) FROM payonce.ledger_entries WHERE xid >= pg_snapshot_xmin(pg_current_snapshot())") > 0 {
		runtime.Gosched()
	}
}

func wide() ledger.RollUpLimits { return ledger.RollUpLimits{Accounts: 100, Entries: 1000} }

func TestRollUpChangesNoBalance(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	for n := range 10 {
		b.mustPost(b.captured("ch_"+strconv.Itoa(n), 100, 0))
	}
	b.rollUpAll(wide(), 20)
	require.EqualValues(t, 1000, b.balance(ledger.StripeReceivable, "usd"))
	require.Equal(t, 1, b.count("SELECT count(*) FROM payonce.ledger_rollups WHERE balance = 1000"))

	b.mustPost(b.captured("ch_late", 100, 0))
	require.EqualValues(t, 1100, b.balance(ledger.StripeReceivable, "usd"))
	b.rollUpAll(wide(), 2)
	require.Equal(t, ledger.RolledUp{}, b.rollUp(wide()), "nothing is left to pass")
	require.EqualValues(t, 1100, b.balance(ledger.StripeReceivable, "usd"))
}

func TestRollUpInSmallStepsPassesEveryEntryOnce(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	for n := range 7 {
		b.mustPost(b.captured("ch_a"+strconv.Itoa(n), 100, 0), b.captured("ch_b"+strconv.Itoa(n), 10, 0)) // two entries a transaction and account
	}
	b.rollUpAll(ledger.RollUpLimits{Accounts: 1, Entries: 3}, 28)
	require.EqualValues(t, 770, b.balance(ledger.StripeReceivable, "usd"))
	require.Equal(t, 1, b.count("SELECT count(*) FROM payonce.ledger_rollups WHERE balance = 770"))

	b.mustPost(b.captured("ch_a", 100, 0), b.captured("ch_b", 10, 0))
	b.rollUpAll(ledger.RollUpLimits{Accounts: 1, Entries: 1}, 4) // a transaction larger than the limit
}

// An older transaction commits after a younger one was rolled up.
func TestRollUpDoesNotSkipAnOlderTransactionThatCommitsLater(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	b.mustPost(b.captured("ch_0", 1, 0))
	older, err := b.pool.Begin(context.Background())
	require.NoError(t, err)
	_, err = ledger.Post(context.Background(), older, b.captured("ch_older", 100, 0))
	require.NoError(t, err)
	b.mustPost(b.captured("ch_younger", 10, 0))

	b.rollUp(wide()) // passes at most what is older than the open one
	require.EqualValues(t, 11, b.balance(ledger.StripeReceivable, "usd"))
	require.NoError(t, older.Commit(context.Background()))
	require.EqualValues(t, 111, b.balance(ledger.StripeReceivable, "usd"))
	b.awaitHorizon()
	b.rollUp(wide())
	require.EqualValues(t, 111, b.balance(ledger.StripeReceivable, "usd"))
	require.Equal(t, 1, b.count("SELECT count(*) FROM payonce.ledger_rollups WHERE balance = 111"))
}

// A restored database counts transactions from a low number again: the epoch keeps the order.
func TestRollUpOrdersByEpochBeforeTransaction(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	b.mustPost(b.captured("ch_1", 100, 0))
	b.awaitHorizon()
	b.rollUp(wide())
	owner := b.openPool(b.db.OwnerURL)
	_, err := owner.Exec(context.Background(), "UPDATE payonce.restore_epoch SET epoch = epoch + 1")
	require.NoError(t, err)
	b.exec("UPDATE payonce.ledger_rollups SET xid = '18446744073709551614'::xid8") // as high as the old cluster had come
	b.mustPost(b.captured("ch_2", 10, 0))
	require.EqualValues(t, 110, b.balance(ledger.StripeReceivable, "usd"))
	b.rollUpAll(wide(), 2)
	require.EqualValues(t, 110, b.balance(ledger.StripeReceivable, "usd"))
}

func TestRacingRollUpsAndPostingsKeepEveryBalance(t *testing.T) {
	t.Parallel()
	const postings = 60
	b := openBook(t)
	var done sync.WaitGroup
	errs := make([]error, 4)
	for side := range 2 {
		done.Go(func() {
			for n := range postings {
				if _, err := b.post(b.captured("ch_"+strconv.Itoa(side)+"_"+strconv.Itoa(n), 5, 0)); err != nil {
					errs[side] = err
				}
			}
		})
		done.Go(func() {
			for range 10 {
				if _, err := ledger.RollUp(context.Background(), b.pool, ledger.RollUpLimits{Accounts: 1, Entries: 7}); err != nil {
					errs[2+side] = err
				}
			}
		})
	}
	done.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.EqualValues(t, 2*postings*5, b.balance(ledger.StripeReceivable, "usd"))
	b.awaitHorizon()
	b.rollUp(wide())
	require.Equal(t, 1, b.count("SELECT count(*) FROM payonce.ledger_rollups WHERE balance = $1", 2*postings*5))
}

// The mark holds one plan: both balance and roll-up walk a range of the index and never the whole account.
func TestBalanceReadsOnlyTheTail(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	b.mustPost(b.captured("ch_1", 100, 0))
	tx, err := b.pool.Begin(context.Background())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(context.Background()) }()
	_, err = tx.Exec(context.Background(), "SET LOCAL enable_seqscan = off")
	require.NoError(t, err)
	rows, err := tx.Query(context.Background(), "EXPLAIN "+ledger.SelectBalances,
		[]string{boundaries.LedgerAccountID(b.tenant, string(ledger.StripeReceivable), "usd").String()})
	require.NoError(t, err)
	plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Regexp(t, `Index Cond: .*ROW\(epoch, xid\) >= ROW`, joinLines(plan))
}

func TestRollUpRefusesLimitsThatBoundNothing(t *testing.T) {
	t.Parallel()
	for _, limits := range []ledger.RollUpLimits{{}, {Accounts: 1}, {Entries: 1}} {
		_, err := ledger.RollUp(context.Background(), nil, limits)
		require.Error(t, err)
	}
}
