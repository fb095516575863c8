package boundaries_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"payonce/boundaries"
	"payonce/ledger"
)

func (w *world) post(postings ...ledger.Posting) []ledger.Result {
	w.t.Helper()
	var results []ledger.Result
	require.NoError(w.t, pgx.BeginFunc(w.t.Context(), w.system, func(tx pgx.Tx) (err error) {
		results, err = ledger.Post(w.t.Context(), tx, postings...)
		return err
	}))
	return results
}

// capturedTo is a charge's running total, as one of its bringers knows it.
func (w *world) capturedTo(total, previous int64, source string) ledger.Posting {
	w.t.Helper()
	posting, isNew := ledger.Captured(ledger.Capture{
		Tenant: w.Tenants[0], Payment: boundaries.PaymentID(w.Tenants[0], "order-1", 1), Charge: "ch_1", Currency: "usd",
		NewTotal: total, PreviousTotal: previous, Source: source, EffectiveAt: day(1),
	})
	require.True(w.t, isNew)
	posting.Payment = nil // posted beside the payments
	return posting
}

// Each bringer of one fact knows its time, source and words differently: the effect is the same.
func TestAPostingIsItsEffectWhoeverBringsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.post(w.capturedTo(1000, 0, "answer"))[0]
	require.Equal(t, boundaries.Acquired, first.Outcome)
	for _, source := range []string{"event", "poll", "backfill"} {
		again := w.capturedTo(1000, 0, source)
		again.Memo, again.EffectiveAt = "told by "+source, day(2)
		again.Entries[0], again.Entries[1] = again.Entries[1], again.Entries[0]
		repeat := w.post(again)[0]
		require.Equal(t, boundaries.Replay, repeat.Outcome, source)
		require.Equal(t, first.Journal, repeat.Journal)
	}
	require.EqualValues(t, 1000, w.balance(ledger.StripeReceivable))
	require.Equal(t, "answer", read[string](w, `SELECT source FROM payonce.ledger_journals`), "the first bringer is kept")
}

func TestOtherContentUnderAPostingKeyIsAMismatchAndPostsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.post(w.capturedTo(1000, 0, "answer"))[0]
	for name, change := range map[string]func(*ledger.Posting){
		"amount":   func(p *ledger.Posting) { p.Entries[0].Amount, p.Entries[1].Amount = 900, -900 },
		"currency": func(p *ledger.Posting) { p.Entries[0].Currency, p.Entries[1].Currency = "eur", "eur" },
		"account":  func(p *ledger.Posting) { p.Entries[1].Account = ledger.SuspenseMoney },
		"rule":     func(p *ledger.Posting) { p.Rule = "suspense" },
	} {
		other := w.capturedTo(1000, 0, "answer")
		change(&other)
		beside := w.capturedTo(1000, 0, "answer")
		beside.Key = boundaries.PostingKey("beside " + name)
		results := w.post(other, beside)
		require.Equal(t, boundaries.Mismatch, results[0].Outcome, name)
		require.Equal(t, first.Journal, results[0].Journal)
		require.Equal(t, boundaries.Acquired, results[1].Outcome, "the transaction stays usable")
	}
	require.EqualValues(t, 5000, w.balance(ledger.StripeReceivable))
}

func TestEachTotalOfAChargeIsReachedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.Equal(t, boundaries.Acquired, w.post(w.capturedTo(400, 0, "answer"))[0].Outcome)
	require.Equal(t, boundaries.Acquired, w.post(w.capturedTo(1000, 400, "event"))[0].Outcome)
	require.Equal(t, boundaries.Replay, w.post(w.capturedTo(1000, 400, "poll"))[0].Outcome)
	require.Equal(t, boundaries.Mismatch, w.post(w.capturedTo(1000, 0, "poll"))[0].Outcome, "a total posted from another base is no repeat")
	_, isNew := ledger.Captured(ledger.Capture{NewTotal: 400, PreviousTotal: 1000})
	require.False(t, isNew, "an older total brings nothing")
	require.EqualValues(t, 1000, w.balance(ledger.StripeReceivable))
	require.EqualValues(t, -1000, w.balance(ledger.MerchantBalance))
}

func (w *world) balance(account ledger.AccountName) int64 {
	w.t.Helper()
	balance, err := ledger.Balance(w.t.Context(), w.system, w.Tenants[0], account, "usd")
	require.NoError(w.t, err)
	return balance
}
