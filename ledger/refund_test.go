package ledger_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"payonce/boundaries"
	"payonce/ledger"
)

// refund is the fact of a refund of the payment of its own that captured makes.
func (b *book) refund(charge string, refund uuid.UUID, amount int64) ledger.Refund {
	return ledger.Refund{
		Tenant: b.tenant, Payment: boundaries.PaymentID(b.tenant, charge, 1), Refund: refund, Currency: "usd", Amount: amount, Source: "answer",
		EffectiveAt: day(2),
	}
}

func TestRefundIsPostedOnceAndAFailureTakesItBackOnce(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	refund := b.refund("ch_1", uuid.New(), 400)
	b.mustPost(b.captured("ch_1", 1000, 0))
	for _, step := range []struct {
		posting ledger.Posting
		left    int64
	}{{ledger.RefundOut(refund), 600}, {ledger.RefundBack(refund), 1000}} {
		for _, outcome := range []boundaries.Outcome{boundaries.Acquired, boundaries.Replay} {
			step.posting.Source, step.posting.EffectiveAt = "event", day(3)
			require.Equal(t, outcome, b.mustPost(step.posting)[0].Outcome)
			require.Equal(t, step.left, b.balance(ledger.StripeReceivable, "usd"))
			require.Equal(t, -step.left, b.balance(ledger.MerchantBalance, "usd"))
		}
	}
	require.Equal(t, 1, b.count(`SELECT count(*) FROM payonce.ledger_journals j JOIN payonce.ledger_journals taken ON taken.id = j.resolves
		WHERE j.rule = 'refund_returned' AND taken.rule = 'refunded'`))
}

// F-07: a refund in another currency than the one that was posted under its key is no repeat.
func TestRefundOfOtherContentIsAMismatch(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	refund := b.refund("ch_1", uuid.New(), 400)
	b.mustPost(b.captured("ch_1", 1000, 0), ledger.RefundOut(refund))
	euro, more := refund, refund
	euro.Currency, more.Amount = "eur", 500
	for _, other := range []ledger.Refund{euro, more} {
		require.Equal(t, boundaries.Mismatch, b.mustPost(ledger.RefundOut(other))[0].Outcome)
	}
	require.EqualValues(t, 600, b.balance(ledger.StripeReceivable, "usd"))
}

func TestRefundThatTookNothingCannotComeBack(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	_, err := b.post(ledger.RefundBack(b.refund("ch_1", uuid.New(), 400)))
	require.ErrorIs(t, err, ledger.ErrNothingToResolve)
	require.Zero(t, b.count("SELECT count(*) FROM payonce.ledger_journals"))
}

// One poll learns that a refund took its money and that it came back; `back` sorts before `out`.
func TestRefundThatIsLearntWhenItIsOverIsPostedInOneCall(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	refund := b.refund("ch_1", uuid.New(), 400)
	b.mustPost(b.captured("ch_1", 1000, 0))
	for _, result := range b.mustPost(ledger.RefundBack(refund), ledger.RefundOut(refund)) {
		require.Equal(t, boundaries.Acquired, result.Outcome)
	}
	require.EqualValues(t, 1000, b.balance(ledger.StripeReceivable, "usd"))
}

func TestRefundBeyondWhatIsLeftIsAFactAndSaysSo(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	b.mustPost(b.captured("ch_1", 1000, 0), b.payOut("payout/1", 1000))
	result := b.mustPost(ledger.RefundOut(b.refund("ch_1", uuid.New(), 400)))[0]
	require.Equal(t, []ledger.AccountName{ledger.MerchantBalance}, result.InTheRed)
}
