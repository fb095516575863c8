package ledger_test

import (
	"context"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"payonce/boundaries"
	"payonce/ledger"
	"payonce/payments"
)

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

func TestCaptureIsPostedOnceAndRepeatsAreReplays(t *testing.T) {
	t.Parallel()
	b := openBook(t)

	first := b.mustPost(b.captured("ch_1", 1500, 0))[0]
	again := b.captured("ch_1", 1500, 0)
	again.Source, again.Memo, again.EffectiveAt = "poll", "seen by the poller", day(9)
	repeat := b.mustPost(again)[0]

	require.Equal(t, boundaries.Acquired, first.Outcome)
	require.Equal(t, ledger.Result{Outcome: boundaries.Replay, Journal: first.Journal}, repeat)
	require.EqualValues(t, 1500, b.balance(ledger.StripeReceivable, "usd"))
	require.EqualValues(t, -1500, b.balance(ledger.MerchantBalance, "usd"))
	require.Equal(t, 1, b.count("SELECT count(*) FROM payonce.ledger_journals"))
}

func TestSameKeyWithOtherContentIsMismatchAndPostsNothing(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	stands := b.mustPost(b.captured("ch_1", 1500, 0))[0]
	for name, change := range map[string]func(*ledger.Posting){
		"amount":   func(p *ledger.Posting) { p.Entries[0].Amount, p.Entries[1].Amount = 1400, -1400 },
		"account":  func(p *ledger.Posting) { p.Entries[1].Account = ledger.SuspenseMoney },
		"currency": func(p *ledger.Posting) { p.Entries[0].Currency, p.Entries[1].Currency = "eur", "eur" },
		"rule":     func(p *ledger.Posting) { p.Rule = "suspense" },
		"sides":    func(p *ledger.Posting) { p.Entries[0].Amount, p.Entries[1].Amount = -1500, 1500 },
	} {
		posting := b.captured("ch_1", 1500, 0)
		change(&posting)
		result := b.mustPost(posting)[0]
		require.Equal(t, ledger.Result{Outcome: boundaries.Mismatch, Journal: stands.Journal}, result, name)
	}
	require.Equal(t, 2, b.count("SELECT count(*) FROM payonce.ledger_entries"))
}

func TestOneCallPostsManyAndJudgesEach(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	b.mustPost(b.captured("ch_1", 100, 0), b.captured("ch_2", 200, 0))
	other := b.captured("ch_2", 200, 100)

	results := b.mustPost(b.captured("ch_3", 300, 0), b.captured("ch_1", 100, 0), other, b.captured("ch_3", 300, 0))

	outcomes := make([]boundaries.Outcome, len(results))
	for i, result := range results {
		outcomes[i] = result.Outcome
	}
	require.ElementsMatch(t, []boundaries.Outcome{boundaries.Acquired, boundaries.Replay},
		[]boundaries.Outcome{outcomes[0], outcomes[3]}, "the same posting twice in one call is one journal")
	require.Equal(t, []boundaries.Outcome{boundaries.Replay, boundaries.Mismatch}, outcomes[1:3])
	require.EqualValues(t, 600, b.balance(ledger.StripeReceivable, "usd"))
}

func TestKeyOfAnotherTenantIsAnotherPosting(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	posting := b.captured("ch_1", 100, 0)
	b.mustPost(posting)
	posting.Tenant = b.newTenant("other-shop")

	require.Equal(t, boundaries.Acquired, b.mustPost(posting)[0].Outcome)
	require.EqualValues(t, 100, b.balance(ledger.StripeReceivable, "usd"))
}

func TestConflictLeavesTheTransactionUsable(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	b.mustPost(b.captured("ch_1", 100, 0))
	mismatch := b.captured("ch_1", 100, 50)

	err := pgx.BeginFunc(context.Background(), b.pool, func(tx pgx.Tx) error {
		results, err := ledger.Post(context.Background(), tx, mismatch)
		require.NoError(t, err)
		require.Equal(t, boundaries.Mismatch, results[0].Outcome)
		results, err = ledger.Post(context.Background(), tx, b.captured("ch_2", 100, 0))
		require.NoError(t, err)
		require.Equal(t, boundaries.Acquired, results[0].Outcome)
		return nil
	})

	require.NoError(t, err)
	require.EqualValues(t, 200, b.balance(ledger.StripeReceivable, "usd"))
}

func TestRolledBackPostingFreesItsKeyAndItsAccounts(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	tx, err := b.pool.Begin(context.Background())
	require.NoError(t, err)
	_, err = ledger.Post(context.Background(), tx, b.captured("ch_1", 100, 0))
	require.NoError(t, err)
	require.NoError(t, tx.Rollback(context.Background()))

	require.Equal(t, boundaries.Acquired, b.mustPost(b.captured("ch_1", 100, 0))[0].Outcome)
}

// F-01: three paths learn of the same capture and post it at once.
func TestRacingPathsPostOneJournal(t *testing.T) {
	t.Parallel()
	const rounds, paths = 200, 3
	b := openBook(t)
	pools := make([]*pgxpool.Pool, paths)
	for i := range pools {
		pools[i] = b.openPool(b.db.SystemURL)
	}
	for round := range rounds {
		outcomes := race(t, pools, b.captured("ch_"+strconv.Itoa(round), 1000, 0))
		require.Equal(t, map[boundaries.Outcome]int{boundaries.Acquired: 1, boundaries.Replay: paths - 1}, outcomes)
	}
	require.Equal(t, rounds, b.count("SELECT count(*) FROM payonce.ledger_journals"))
	require.Equal(t, 2*rounds, b.count("SELECT count(*) FROM payonce.ledger_entries"))
	require.EqualValues(t, 1000*rounds, b.balance(ledger.StripeReceivable, "usd"))
}

// race posts the same posting through every pool from one barrier and counts the outcomes.
func race(t *testing.T, pools []*pgxpool.Pool, posting ledger.Posting) map[boundaries.Outcome]int {
	t.Helper()
	var ready, done sync.WaitGroup
	barrier := make(chan struct{})
	results, errs := make([][]ledger.Result, len(pools)), make([]error, len(pools))
	for i, pool := range pools {
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-barrier
			results[i], errs[i] = postThrough(pool, posting)
		})
	}
	ready.Wait()
	close(barrier)
	done.Wait()
	outcomes := map[boundaries.Outcome]int{}
	for i := range pools {
		require.NoError(t, errs[i])
		outcomes[results[i][0].Outcome]++
	}
	return outcomes
}

// F-11: postings over the same keys in opposite order all arrive, and nobody is a deadlock's victim.
func TestSamePostingsInOppositeOrderDoNotDeadlock(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	var postings []ledger.Posting
	for n := range 9 {
		postings = append(postings, b.transfer("key/"+strconv.Itoa(n), 5, ledger.StripeFees, ledger.StripeReceivable, "usd"))
	}
	b.postBothWays(postings, postings, postings[4])
	require.Equal(t, 9, b.count("SELECT count(*) FROM payonce.ledger_journals"))
}

func TestNewAccountsInOppositeOrderDoNotDeadlock(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	var one, other []ledger.Posting
	for n := range 9 {
		account := ledger.FX("usd", payments.Currency("aa"+string(rune('a'+n))))
		one = append(one, b.transfer("one/"+strconv.Itoa(n), 5, account, ledger.StripeReceivable, "usd"))
		other = append(other, b.transfer("other/"+strconv.Itoa(n), 5, account, ledger.StripeReceivable, "usd"))
	}
	middle := one[4]
	middle.Key = "middle"
	b.postBothWays(one, other, middle)
	require.Equal(t, 18, b.count("SELECT count(*) FROM payonce.ledger_journals"))
}

// postBothWays posts both lists at once, the second backwards, each in one transaction that is not run again. A transaction that has posted the
// middle and rolls back once both wait lets them meet there.
func (b *book) postBothWays(one, other []ledger.Posting, middle ledger.Posting) {
	b.t.Helper()
	ctx := context.Background()
	holder, err := b.pool.Begin(ctx)
	require.NoError(b.t, err)
	defer func() { _ = holder.Rollback(ctx) }()
	_, err = ledger.Post(ctx, holder, middle)
	require.NoError(b.t, err)

	backwards := slices.Clone(other)
	slices.Reverse(backwards)
	var done sync.WaitGroup
	errs := make([]error, 2)
	for side, postings := range [][]ledger.Posting{one, backwards} {
		done.Go(func() {
			errs[side] = pgx.BeginFunc(ctx, b.pool, func(tx pgx.Tx) error {
				_, err := ledger.Post(ctx, tx, postings...)
				return err
			})
		})
	}
	for b.count("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") < 2 {
		runtime.Gosched()
	}
	require.NoError(b.t, holder.Rollback(ctx))
	done.Wait()
	require.NoError(b.t, errs[0])
	require.NoError(b.t, errs[1])
}

func TestWorkedExampleOfTheReadme(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	require.Equal(t, boundaries.Acquired, b.mustPost(b.captured("ch_1", 1000, 0))[0].Outcome)
	require.Equal(t, boundaries.Replay, b.mustPost(b.captured("ch_1", 1000, 0))[0].Outcome)
	require.Equal(t, boundaries.Acquired, b.mustPost(b.captured("ch_1", 1500, 1000))[0].Outcome)
	_, due := ledger.Captured(ledger.Capture{Charge: "ch_1", NewTotal: 1000, PreviousTotal: 1500})
	require.False(t, due)
	require.EqualValues(t, 1500, b.balance(ledger.StripeReceivable, "usd"))
	require.EqualValues(t, -1500, b.balance(ledger.MerchantBalance, "usd"))
}

func TestInvalidPostingIsRefusedBeforeTheDatabase(t *testing.T) {
	t.Parallel()
	b := &book{t: t, tenant: payments.TenantID{UUID: boundaries.RecordID(payments.TenantID{}, "", "").UUID}}
	for name, broken := range map[string]struct {
		change func(*ledger.Posting)
		want   error
	}{
		"off by one":        {func(p *ledger.Posting) { p.Entries[0].Amount++ }, ledger.ErrUnbalanced},
		"two currencies":    {func(p *ledger.Posting) { p.Entries[0].Currency = "eur" }, ledger.ErrUnbalanced},
		"wrapped sum":       {func(p *ledger.Posting) { p.Entries = wrapping() }, ledger.ErrUnbalanced},
		"unknown account":   {func(p *ledger.Posting) { p.Entries[0].Account = "petty:cash" }, ledger.ErrUnknownAccount},
		"zero entry":        {func(p *ledger.Posting) { p.Entries[0].Amount = 0 }, ledger.ErrInvalidPosting},
		"one entry":         {func(p *ledger.Posting) { p.Entries = p.Entries[:1] }, ledger.ErrInvalidPosting},
		"no key":            {func(p *ledger.Posting) { p.Key = "" }, ledger.ErrInvalidPosting},
		"no tenant":         {func(p *ledger.Posting) { p.Tenant = payments.TenantID{} }, ledger.ErrInvalidPosting},
		"no effective time": {func(p *ledger.Posting) { p.EffectiveAt = time.Time{} }, ledger.ErrInvalidPosting},
	} {
		posting := b.captured("ch_1", 100, 0)
		broken.change(&posting)
		_, err := ledger.Post(context.Background(), nil, posting)
		require.ErrorIs(t, err, broken.want, name)
	}
}

// wrapping are entries whose sum is zero only when it wraps around 64 bits.
func wrapping() []ledger.Entry {
	const quarter = int64(1) << 62
	return []ledger.Entry{
		{Account: ledger.StripeReceivable, Amount: quarter, Currency: "usd"}, {Account: ledger.StripeReceivable, Amount: quarter, Currency: "usd"},
		{Account: ledger.StripeReceivable, Amount: quarter, Currency: "usd"}, {Account: ledger.StripeReceivable, Amount: quarter, Currency: "usd"},
	}
}

// F-07: an exchange is explicit, with a zero sum in each currency.
func TestExchangeBalancesEachCurrency(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	posting := b.transfer("exchange", 1000, ledger.StripeReceivable, ledger.FX("usd", "eur"), "usd")
	posting.Entries = append(posting.Entries, b.transfer("", 900, ledger.FX("usd", "eur"), ledger.StripeReceivable, "eur").Entries...)
	b.mustPost(posting)
	require.EqualValues(t, -1000, b.balance(ledger.FX("usd", "eur"), "usd"))
	require.EqualValues(t, 900, b.balance(ledger.FX("usd", "eur"), "eur"))
}
