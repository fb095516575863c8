package ledger_test

import (
	"context"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"payonce/boundaries"
	"payonce/internal/postgres"
	"payonce/ledger"
)

func (b *book) reverse(r ledger.Reversal) (result ledger.Result, err error) {
	r.Tenant, r.Source, r.EffectiveAt = b.tenant, "person", day(5)
	err = postgres.InTransaction(context.Background(), b.pool, func(tx pgx.Tx) error {
		result, err = ledger.Reverse(context.Background(), tx, r)
		return err
	})
	return result, err
}

func TestJournalIsReversedInFullOnce(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	journal := b.mustPost(b.captured("ch_1", 1000, 0))[0].Journal
	for _, outcome := range []boundaries.Outcome{boundaries.Acquired, boundaries.Replay} {
		result, err := b.reverse(ledger.Reversal{Journal: journal})
		require.NoError(t, err)
		require.Equal(t, outcome, result.Outcome)
	}
	require.Zero(t, b.balance(ledger.StripeReceivable, "usd"))
	require.Equal(t, 1, b.count(`SELECT count(*) FROM payonce.ledger_journals WHERE resolves = $1 AND payment = $2`, journal,
		boundaries.PaymentID(b.tenant, "ch_1", 1).UUID))
	positions, err := ledger.Positions(context.Background(), b.pool, boundaries.PaymentID(b.tenant, "ch_1", 1))
	require.NoError(t, err)
	for _, position := range positions {
		require.Zero(t, position.Amount)
	}
	_, err = b.reverse(ledger.Reversal{Journal: journal, Part: 1, Amount: 1})
	require.ErrorIs(t, err, ledger.ErrNotReversible)
}

func TestPartsOfAReversalNeverExceedTheJournal(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	journal := b.mustPost(b.captured("ch_1", 1000, 0))[0].Journal
	const refused = boundaries.Outcome("")
	for _, step := range []struct {
		part    int
		amount  int64
		outcome boundaries.Outcome
		left    int64
	}{
		{2, 100, refused, 1000}, {1, 1001, refused, 1000}, {1, 600, boundaries.Acquired, 400}, {1, 600, boundaries.Replay, 400}, {1, 500, boundaries.Mismatch, 400},
		{2, 401, refused, 400}, {3, 1, refused, 400}, {2, 400, boundaries.Acquired, 0}, {3, 1, refused, 0}, {0, 0, refused, 0}, {1, 600, boundaries.Replay, 0},
	} {
		result, err := b.reverse(ledger.Reversal{Journal: journal, Part: step.part, Amount: step.amount})
		if step.outcome == refused {
			require.ErrorIs(t, err, ledger.ErrNotReversible, "%+v", step)
		} else {
			require.NoError(t, err, "%+v", step)
			require.Equal(t, step.outcome, result.Outcome, "%+v", step)
		}
		require.Equal(t, step.left, b.balance(ledger.StripeReceivable, "usd"), "%+v", step)
	}
}

func TestReversalOfWhatCannotBeReversedIsRefused(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	hold := b.mustPost(ledger.HoldPlaced(b.hold("ch_1", 0, 100)))[0].Journal
	ended := b.mustPost(ledger.HoldPosted(b.hold("ch_1", 100, 0)))[0].Journal
	other := b.captured("ch_2", 100, 0)
	other.Tenant = b.newTenant("other-shop")
	foreign := b.mustPost(other)[0].Journal
	many := b.captured("ch_3", 100, 0)
	many.Entries[1].Amount = -60
	many.Entries = append(many.Entries, ledger.Entry{Account: ledger.StripeFees, Amount: -40, Currency: "usd"})
	split := b.mustPost(many)[0].Journal
	for name, r := range map[string]ledger.Reversal{
		"unknown": {Journal: uuid.New()}, "a hold": {Journal: hold}, "the end of a hold": {Journal: ended}, "another tenant's": {Journal: foreign},
		"many entries in parts": {Journal: split, Part: 1, Amount: 10},
	} {
		_, err := b.reverse(r)
		require.ErrorIs(t, err, ledger.ErrNotReversible, name)
	}
	for name, r := range map[string]ledger.Reversal{
		"a part of nothing": {Journal: split, Part: 1}, "in full with an amount": {Journal: split, Amount: 5}, "negative": {Journal: split, Part: 1, Amount: -5},
		"negative part": {Journal: split, Part: -1, Amount: 5}, "too many parts": {Journal: split, Part: 1001, Amount: 5},
	} {
		_, err := b.reverse(r)
		require.ErrorIs(t, err, ledger.ErrInvalidPosting, name)
	}
	_, err := b.reverse(ledger.Reversal{Journal: split})
	require.NoError(t, err, "many entries in full")
}

func TestReversalThatIsADecisionTakesNoMoreThanIsAvailable(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	journal := b.mustPost(b.captured("ch_1", 1000, 0))[0].Journal
	b.mustPost(b.payOut("payout/1", 900))
	_, err := b.reverse(ledger.Reversal{Journal: journal, Decision: true})
	require.ErrorIs(t, err, ledger.ErrInsufficient)
	result, err := b.reverse(ledger.Reversal{Journal: journal})
	require.NoError(t, err)
	require.Equal(t, []ledger.AccountName{ledger.MerchantBalance}, result.InTheRed)
}

// In full and in parts at once: whichever comes first rules the other out.
func TestRacingReversalsNeverTakeMoreThanTheJournal(t *testing.T) {
	t.Parallel()
	const rounds = 20
	b := openBook(t)
	left := int64(0)
	for range rounds {
		journal := b.mustPost(b.captured("ch_"+uuid.NewString(), 1000, 0))[0].Journal
		var done sync.WaitGroup
		barrier := make(chan struct{})
		reversals := []ledger.Reversal{{Journal: journal}, {Journal: journal, Part: 1, Amount: 700}, {Journal: journal, Part: 1, Amount: 700}}
		errs := make([]error, len(reversals))
		for i, r := range reversals {
			done.Go(func() {
				<-barrier
				_, errs[i] = b.reverse(r)
			})
		}
		close(barrier)
		done.Wait()
		inFull := errs[0] == nil
		for i, err := range errs {
			if inFull == (i == 0) {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, ledger.ErrNotReversible)
			}
		}
		if !inFull {
			left += 300
		}
	}
	require.Equal(t, left, b.balance(ledger.StripeReceivable, "usd"))
}
