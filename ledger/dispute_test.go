package ledger_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/boundaries"
	"payonce/ledger"
)

// disputed is the fact of a balance transaction of dispute dp_1, in Stripe's signs.
func (b *book) disputed(transaction string, amount, fee int64) ledger.Posting {
	b.t.Helper()
	payment := boundaries.PaymentID(b.tenant, "ch_1", 1)
	posting, due := ledger.Disputed(ledger.DisputeMove{
		Tenant: b.tenant, Payment: &payment, Dispute: "dp_1", BalanceTransaction: transaction, Currency: "usd", Amount: amount, Fee: fee,
		Source: "event", EffectiveAt: day(3),
	})
	require.True(b.t, due)
	return posting
}

// sums are what is at Stripe, held apart, lost and paid as fees.
func (b *book) sums() [4]int64 {
	b.t.Helper()
	return [4]int64{
		b.balance(ledger.StripeReceivable, "usd"), b.balance(ledger.DisputesHeld, "usd"), b.balance(ledger.DisputesLost, "usd"),
		b.balance(ledger.StripeFees, "usd"),
	}
}

func TestDisputeThatIsWonGivesBackWhatItWithdrew(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	b.mustPost(b.captured("ch_1", 10_000, 0))
	for _, outcome := range []boundaries.Outcome{boundaries.Acquired, boundaries.Replay} {
		require.Equal(t, outcome, b.mustPost(b.disputed("txn_1", -1000, 1500))[0].Outcome)
		require.Equal(t, [4]int64{7500, 1000, 0, 1500}, b.sums())
	}
	for _, outcome := range []boundaries.Outcome{boundaries.Acquired, boundaries.Replay} {
		require.Equal(t, outcome, b.mustPost(b.disputed("txn_2", 1000, -1500))[0].Outcome)
		require.Equal(t, [4]int64{10_000, 0, 0, 0}, b.sums())
	}
	require.EqualValues(t, -10_000, b.balance(ledger.MerchantBalance, "usd"), "who bears a dispute is not decided here")
}

func TestDisputeThatIsLostKeepsWhatItHeld(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	b.mustPost(b.captured("ch_1", 10_000, 0), b.disputed("txn_1", -1000, 1500))
	loss := ledger.DisputeLoss{Tenant: b.tenant, Dispute: "dp_1", Currency: "usd", Held: 1000, Source: "event", EffectiveAt: day(9)}
	lost, due := ledger.DisputeLost(loss)
	require.True(t, due)
	for _, outcome := range []boundaries.Outcome{boundaries.Acquired, boundaries.Replay} {
		require.Equal(t, outcome, b.mustPost(lost)[0].Outcome)
		require.Equal(t, [4]int64{7500, 0, 1000, 1500}, b.sums())
	}
	loss.Held = 0
	_, due = ledger.DisputeLost(loss)
	require.False(t, due, "an inquiry that withdrew nothing")
}

func TestDisputeThatMovedNothingPostsNothing(t *testing.T) {
	_, due := ledger.Disputed(ledger.DisputeMove{Dispute: "dp_1", BalanceTransaction: "txn_1", Currency: "usd"})
	require.False(t, due)
	posting, due := ledger.Disputed(ledger.DisputeMove{Dispute: "dp_1", BalanceTransaction: "txn_1", Currency: "usd", Amount: -1500, Fee: -1500})
	require.True(t, due)
	require.Len(t, posting.Entries, 2, "what comes out even is no entry")
}

// What was lost comes back after all, in parts or in full: the journal of the loss stands beside those that resolve it, each once.
func TestLossThatComesBackIsTakenBackByJournalsThatNameIt(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	lost, _ := ledger.DisputeLost(ledger.DisputeLoss{Tenant: b.tenant, Dispute: "dp_1", Currency: "usd", Held: 1000, Source: "event", EffectiveAt: day(9)})
	b.mustPost(b.captured("ch_1", 10_000, 0), b.disputed("txn_1", -1000, 1500), lost)
	regain := ledger.DisputeRegain{Tenant: b.tenant, Dispute: "dp_1", Currency: "usd", Amount: 400, Left: 600, Source: "event", EffectiveAt: day(20)}
	for _, outcome := range []boundaries.Outcome{boundaries.Acquired, boundaries.Replay} {
		results := b.mustPost(b.disputed("txn_2", 400, 0), ledger.DisputeRegained(regain))
		require.Equal(t, outcome, results[1].Outcome)
		require.Equal(t, [4]int64{7900, 0, 600, 1500}, b.sums())
	}
	regain.Amount, regain.Left = 600, 0
	b.mustPost(b.disputed("txn_3", 600, 0), ledger.DisputeRegained(regain))
	require.Equal(t, [4]int64{8500, 0, 0, 1500}, b.sums())
}
