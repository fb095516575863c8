package ledger_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"payonce/boundaries"
	"payonce/ledger"
	"payonce/payments"
)

// hold is the fact that what is held of a payment of its own went from one amount to another.
func (b *book) hold(reference string, held, left int64) ledger.Hold {
	return ledger.Hold{
		Tenant: b.tenant, Payment: boundaries.PaymentID(b.tenant, reference, 1), Currency: "usd", Held: held, Left: left, Source: "event",
		EffectiveAt: day(1),
	}
}

func (b *book) pending() [2]int64 {
	b.t.Helper()
	return [2]int64{b.balance(ledger.StripeReceivablePending, "usd"), b.balance(ledger.MerchantBalancePending, "usd")}
}

func TestHoldStandsOnThePendingSideAlone(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	require.Equal(t, boundaries.Acquired, b.mustPost(ledger.HoldPlaced(b.hold("ch_1", 0, 1000)))[0].Outcome)
	require.Equal(t, boundaries.Replay, b.mustPost(ledger.HoldPlaced(b.hold("ch_1", 0, 1000)))[0].Outcome)
	require.Equal(t, [2]int64{1000, -1000}, b.pending())
	require.Zero(t, b.balance(ledger.StripeReceivable, "usd"))
	require.Zero(t, b.balance(ledger.MerchantBalance, "usd"))
	_, err := b.post(b.payOut("payout/1", 1))
	require.ErrorIs(t, err, ledger.ErrInsufficient, "what is held is not available")
	positions, err := ledger.Positions(t.Context(), b.pool, boundaries.PaymentID(b.tenant, "ch_1", 1))
	require.NoError(t, err)
	require.Empty(t, positions, "nothing moved")
}

// 1000 are held; 300 and 300 are captured, the rest is released: each fact comes twice.
func TestCapturesAndTheReleaseEndAHold(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	steps := [][]ledger.Posting{
		{ledger.HoldPlaced(b.hold("ch_1", 0, 1000))},
		{b.captured("ch_1", 300, 0), ledger.HoldPosted(b.hold("ch_1", 1000, 700))},
		{b.captured("ch_1", 600, 300), ledger.HoldPosted(b.hold("ch_1", 700, 400)), ledger.HoldVoided(b.hold("ch_1", 400, 0))},
	}
	left := []int64{1000, 700, 0}
	for i, step := range steps {
		for _, outcome := range []boundaries.Outcome{boundaries.Acquired, boundaries.Replay} {
			for _, result := range b.mustPost(step...) {
				require.Equal(t, outcome, result.Outcome)
			}
			require.Equal(t, [2]int64{left[i], -left[i]}, b.pending())
		}
	}
	require.EqualValues(t, 600, b.balance(ledger.StripeReceivable, "usd"))
	require.EqualValues(t, -600, b.balance(ledger.MerchantBalance, "usd"))
	for phase, count := range map[string]int{"pending": 1, "posted": 4, "void": 1} {
		require.Equal(t, count, b.count("SELECT count(*) FROM payonce.ledger_journals WHERE phase = $1", phase), phase)
	}
	require.Equal(t, 3, b.count(`SELECT count(*) FROM payonce.ledger_journals j JOIN payonce.ledger_journals held ON held.id = j.resolves
		WHERE held.phase = 'pending'`))
}

func TestHoldThatIsPlacedAndEndedInOneCall(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	for _, result := range b.mustPost(
		ledger.HoldVoided(b.hold("ch_1", 400, 0)), ledger.HoldPosted(b.hold("ch_1", 1000, 400)), ledger.HoldPlaced(b.hold("ch_1", 0, 1000)),
	) {
		require.Equal(t, boundaries.Acquired, result.Outcome)
	}
	require.Equal(t, [2]int64{}, b.pending())
}

func TestHoldThatWasNeverPlacedCannotEnd(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	_, err := b.post(ledger.HoldVoided(b.hold("ch_1", 1000, 0)))
	require.ErrorIs(t, err, ledger.ErrNothingToResolve)
	require.ErrorContains(t, err, "/hold")
	other := b.hold("ch_1", 0, 1000)
	other.Tenant = b.newTenant("other-shop")
	b.mustPost(ledger.HoldPlaced(other))
	_, err = b.post(ledger.HoldVoided(b.hold("ch_1", 1000, 0)))
	require.ErrorIs(t, err, ledger.ErrNothingToResolve, "another tenant's hold")
	require.Equal(t, 1, b.count("SELECT count(*) FROM payonce.ledger_journals"))
}

func TestSidesOfTheBookDoNotMix(t *testing.T) {
	t.Parallel()
	b := &book{t: t, tenant: payments.TenantID{UUID: uuid.New()}}
	for name, posting := range map[string]ledger.Posting{
		"both sides":            b.transfer("k", 5, ledger.StripeReceivablePending, ledger.MerchantBalance, "usd"),
		"posted on the pending": b.transfer("k", 5, ledger.StripeReceivablePending, ledger.MerchantBalancePending, "usd"),
		"pending on the posted": in(ledger.Pending, "", b.transfer("k", 5, ledger.StripeReceivable, ledger.MerchantBalance, "usd")),
		"pending that resolves": in(ledger.Pending, "h", b.transfer("k", 5, ledger.StripeReceivablePending, ledger.MerchantBalancePending, "usd")),
		"void of nothing":       in(ledger.Void, "", b.transfer("k", 5, ledger.StripeReceivablePending, ledger.MerchantBalancePending, "usd")),
		"void on the posted":    in(ledger.Void, "h", b.transfer("k", 5, ledger.StripeReceivable, ledger.MerchantBalance, "usd")),
		"no such phase":         in("draft", "", b.transfer("k", 5, ledger.StripeReceivable, ledger.MerchantBalance, "usd")),
	} {
		require.ErrorIs(t, posting.Validate(), ledger.ErrInvalidPosting, name)
	}
}

func in(phase ledger.Phase, resolves boundaries.PostingKey, posting ledger.Posting) ledger.Posting {
	posting.Phase, posting.Resolves = phase, resolves
	return posting
}
