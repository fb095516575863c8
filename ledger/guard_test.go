package ledger_test

import (
	"context"
	"math/big"
	"strconv"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"payonce/boundaries"
	"payonce/ledger"
)

// payOut is a decision that takes the amount from what is owed to the merchant.
func (b *book) payOut(key string, amount int64) ledger.Posting {
	posting := b.transfer(key, amount, ledger.MerchantBalance, ledger.BankSettlement, "usd")
	posting.Decision = true
	return posting
}

func TestDecisionBeyondWhatIsAvailableIsRefused(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	b.mustPost(b.captured("ch_1", 1000, 0))

	_, err := b.post(b.payOut("payout/1", 1001))
	require.ErrorIs(t, err, ledger.ErrInsufficient)
	var refusal *ledger.InsufficientError
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, &ledger.InsufficientError{
		Account: ledger.MerchantBalance, Currency: "usd", Available: big.NewInt(1000), Needed: big.NewInt(1001),
	}, refusal)

	require.Equal(t, boundaries.Acquired, b.mustPost(b.payOut("payout/1", 1000))[0].Outcome)
	require.Zero(t, b.balance(ledger.MerchantBalance, "usd"))
}

func TestRefusalLeavesTheTransactionUsable(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	require.NoError(t, pgx.BeginFunc(context.Background(), b.pool, func(tx pgx.Tx) error {
		_, err := ledger.Post(context.Background(), tx, b.payOut("payout/1", 1))
		require.ErrorIs(t, err, ledger.ErrInsufficient)
		_, err = ledger.Post(context.Background(), tx, b.captured("ch_1", 100, 0))
		return err
	}))
	require.EqualValues(t, -100, b.balance(ledger.MerchantBalance, "usd"))
}

func TestRepeatedDecisionIsAReplayThoughNothingIsLeft(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	b.mustPost(b.captured("ch_1", 1000, 0))
	b.mustPost(b.payOut("payout/1", 1000))
	require.Equal(t, boundaries.Replay, b.mustPost(b.payOut("payout/1", 1000))[0].Outcome)
	require.Equal(t, boundaries.Mismatch, b.mustPost(b.payOut("payout/1", 900))[0].Outcome)
}

func TestFactPostsIntoTheRedAndSaysSo(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	b.mustPost(b.captured("ch_1", 1000, 0))
	lost := b.transfer("dispute", 1500, ledger.MerchantBalance, ledger.StripeReceivable, "usd")
	result := b.mustPost(lost)[0]
	require.Equal(t, boundaries.Acquired, result.Outcome)
	require.Equal(t, []ledger.AccountName{ledger.MerchantBalance}, result.InTheRed)
	require.EqualValues(t, 500, b.balance(ledger.MerchantBalance, "usd"))
	require.Empty(t, b.mustPost(lost)[0].InTheRed, "a replay alarms nobody again")

	_, err := b.post(b.payOut("payout/1", 1))
	require.ErrorIs(t, err, ledger.ErrInsufficient)
}

func TestDecisionsOfOneCallShareWhatIsAvailable(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	b.mustPost(b.captured("ch_1", 1000, 0))
	_, err := b.post(b.payOut("payout/1", 600), b.payOut("payout/2", 600))
	require.ErrorIs(t, err, ledger.ErrInsufficient)
	require.EqualValues(t, -1000, b.balance(ledger.MerchantBalance, "usd"), "nothing of the call is posted")
	b.mustPost(b.payOut("payout/1", 600), b.payOut("payout/2", 400))
}

func TestRacingDecisionsNeverTakeMoreThanIsAvailable(t *testing.T) {
	t.Parallel()
	const racers = 8
	b := openBook(t)
	b.mustPost(b.captured("ch_1", 1000, 0))
	var done sync.WaitGroup
	barrier := make(chan struct{})
	errs := make([]error, racers)
	for i := range racers {
		done.Go(func() {
			<-barrier
			_, errs[i] = b.post(b.payOut("payout/"+strconv.Itoa(i), 400))
		})
	}
	close(barrier)
	done.Wait()
	paid := 0
	for _, err := range errs {
		if err == nil {
			paid++
			continue
		}
		require.ErrorIs(t, err, ledger.ErrInsufficient)
	}
	require.Equal(t, 2, paid)
	require.EqualValues(t, -200, b.balance(ledger.MerchantBalance, "usd"))
}

// A posting that only raises waits for nobody: the lock of a decision under way does not hold up captures.
func TestRaisingPostingTakesNoLock(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	b.mustPost(b.captured("ch_1", 1000, 0))
	require.NoError(t, pgx.BeginFunc(context.Background(), b.pool, func(tx pgx.Tx) error {
		if _, err := ledger.Post(context.Background(), tx, b.payOut("payout/1", 100)); err != nil {
			return err
		}
		results, err := b.post(b.captured("ch_2", 50, 0)) // on another connection, while the lock is held
		require.NoError(t, err)
		require.Equal(t, boundaries.Acquired, results[0].Outcome)
		return nil
	}))
}
