package ledger_test

import (
	"context"
	"encoding/hex"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"payonce/boundaries"
	"payonce/ledger"
	"payonce/payments"
)

func joinLines(lines []string) string { return strings.Join(lines, "\n") }

func TestAccountWithoutPostingsHoldsZero(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	require.Zero(t, b.balance(ledger.DisputesHeld, "eur"))
	_, err := ledger.Balance(context.Background(), b.pool, b.tenant, "petty:cash", "eur")
	require.ErrorIs(t, err, ledger.ErrUnknownAccount)
}

// F-13: amounts beyond 32 bits, and totals near and beyond 64.
func TestBalanceBeyond64BitsIsRefusedAndNeverWrapped(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	b.mustPost(b.transfer("idr", 3_000_000_000, ledger.StripeReceivable, ledger.SuspenseMoney, "idr"))
	require.EqualValues(t, 3_000_000_000, b.balance(ledger.StripeReceivable, "idr"))

	b.mustPost(b.transfer("most", math.MaxInt64, ledger.StripeReceivable, ledger.SuspenseMoney, "usd"))
	require.EqualValues(t, math.MaxInt64, b.balance(ledger.StripeReceivable, "usd"))
	b.mustPost(b.transfer("one more", 1, ledger.StripeReceivable, ledger.SuspenseMoney, "usd"))
	for range 2 {
		_, err := ledger.Balance(context.Background(), b.pool, b.tenant, ledger.StripeReceivable, "usd")
		require.ErrorIs(t, err, payments.ErrOverflow)
		require.EqualValues(t, math.MinInt64, b.balance(ledger.SuspenseMoney, "usd"))
		b.rollUp(wide())
	}
	b.mustPost(b.transfer("back", 1, ledger.SuspenseMoney, ledger.StripeReceivable, "usd"))
	require.EqualValues(t, math.MaxInt64, b.balance(ledger.StripeReceivable, "usd"), "a total that returns into range is exact")
}

// F-09: a fact of three days ago is learnt today.
func TestLateFactChangesItsDayAndNoClosedReport(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	b.mustPost(b.captured("ch_1", 100, 0))
	closed := b.now()
	b.db.AdvanceClock(t, time.Hour)
	late := b.captured("ch_2", 10, 0)
	late.EffectiveAt = day(1).Add(time.Minute)
	b.mustPost(late)
	at := func(effective, booked time.Time) int64 {
		balance, err := ledger.BalanceAt(context.Background(), b.pool, b.tenant, ledger.StripeReceivable, "usd", effective, booked)
		require.NoError(t, err)
		return balance
	}
	require.EqualValues(t, 100, at(day(2), closed), "the report of then")
	require.EqualValues(t, 110, at(day(2), b.now()), "the day as it is known now")
	require.EqualValues(t, 100, at(day(1), b.now()))
	require.EqualValues(t, 0, at(day(1).Add(-time.Second), b.now()))
}

func (b *book) now() time.Time {
	var now time.Time
	require.NoError(b.t, b.pool.QueryRow(context.Background(), "SELECT payonce.clock()").Scan(&now))
	return now
}

func TestPositionsOfAPaymentSumItsJournals(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	b.mustPost(b.captured("ch_1", 100, 0), b.captured("ch_1", 250, 100), b.captured("ch_2", 7, 0))
	positions, err := ledger.Positions(context.Background(), b.pool, boundaries.PaymentID(b.tenant, "ch_1", 1))
	require.NoError(t, err)
	require.Equal(t, []ledger.Position{
		{Account: ledger.MerchantBalance, Currency: "usd", Amount: -250}, {Account: ledger.StripeReceivable, Currency: "usd", Amount: 250},
	}, positions)
	require.Equal(t, []bool{false, true}, []bool{positions[0].AtStripe(), positions[1].AtStripe()})
}

func TestCapturesPostTheDifference(t *testing.T) {
	t.Parallel()
	tenant := payments.TenantID{UUID: uuid.MustParse("00000000-0000-4000-8000-000000000001")}
	capture := ledger.Capture{Tenant: tenant, Charge: "ch_1", Currency: "usd", NewTotal: 250, PreviousTotal: 100, Source: "event", EffectiveAt: day(1)}
	posting, due := ledger.Captured(capture)
	require.True(t, due)
	require.NoError(t, posting.Validate())
	require.Equal(t, boundaries.CapturePostingKey("ch_1", 250), posting.Key)
	require.Equal(t, []ledger.Entry{
		{Account: ledger.StripeReceivable, Amount: 150, Currency: "usd"}, {Account: ledger.MerchantBalance, Amount: -150, Currency: "usd"},
	}, posting.Entries)
	for _, total := range []int64{100, 99, 0} {
		capture.NewTotal = total
		_, due = ledger.Captured(capture)
		require.False(t, due, "a total that is not above what is posted")
	}
}

func TestQuarantinedMoneyGoesToSuspenseOnce(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	quarantined := ledger.Quarantined{Tenant: b.tenant, Charge: "ch_stray", Currency: "eur", NewTotal: 500, Source: "event", EffectiveAt: day(1)}
	posting, due := ledger.Suspense(quarantined)
	require.True(t, due)
	require.Equal(t, boundaries.Acquired, b.mustPost(posting)[0].Outcome)
	require.Equal(t, boundaries.Replay, b.mustPost(posting)[0].Outcome)
	require.EqualValues(t, -500, b.balance(ledger.SuspenseMoney, "eur"))
	require.Zero(t, b.balance(ledger.MerchantBalance, "eur"))
	quarantined.PreviousTotal = 500
	_, due = ledger.Suspense(quarantined)
	require.False(t, due)
}

// Stored with every journal: a change of what is hashed makes each repeat of an old posting a mismatch.
func TestContentHashIsPinned(t *testing.T) {
	t.Parallel()
	posting := ledger.Posting{Rule: "captured", Entries: []ledger.Entry{
		{Account: ledger.StripeReceivable, Amount: 1500, Currency: "usd"}, {Account: ledger.MerchantBalance, Amount: -1500, Currency: "usd"},
	}}
	const pinned = "86dc52765974a2aa5cc2d1324f00b8cc6205dce0b1955c5114d3c667eff413c7"
	require.Equal(t, pinned, hex.EncodeToString(posting.ContentHash()))
	posting.Entries[0], posting.Entries[1] = posting.Entries[1], posting.Entries[0]
	require.Equal(t, pinned, hex.EncodeToString(posting.ContentHash()), "order means nothing")
}

func TestChartNamesEachAccountAndItsKind(t *testing.T) {
	t.Parallel()
	for name, want := range map[ledger.AccountName]ledger.Kind{
		ledger.StripeReceivable: ledger.Free, ledger.MerchantBalance: ledger.Guarded, ledger.StripeFees: ledger.Free,
		ledger.DisputesHeld: ledger.Free, ledger.DisputesLost: ledger.Free, ledger.BankSettlement: ledger.Free,
		ledger.SuspenseMoney: ledger.Free, ledger.FX("usd", "eur"): ledger.Free,
	} {
		kind, err := ledger.KindOf(name)
		require.NoError(t, err)
		require.Equal(t, want, kind, name)
	}
	for _, wrong := range []ledger.AccountName{"", "fx:usd", "fx:usd:euro", "fx:USD:eur", "merchant"} {
		_, err := ledger.KindOf(wrong)
		require.ErrorIs(t, err, ledger.ErrUnknownAccount, wrong)
	}
}
