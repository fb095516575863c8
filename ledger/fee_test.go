package ledger_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/boundaries"
	"payonce/ledger"
	"payonce/payments"
)

// F-04: the fee is learnt when the balance transaction is, as often as it is.
func TestFeeIsPostedOnceAndGivenBackByItsSign(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	payment := boundaries.PaymentID(b.tenant, "ch_1", 1)
	fee := ledger.Fee{
		Tenant: b.tenant, Payment: &payment, BalanceTransaction: "txn_1", Currency: "usd", Amount: 59, Source: "collector", EffectiveAt: day(2),
	}
	b.mustPost(b.captured("ch_1", 1000, 0))
	for _, outcome := range []boundaries.Outcome{boundaries.Acquired, boundaries.Replay} {
		posting, due := ledger.FeeTaken(fee)
		require.True(t, due)
		require.Equal(t, outcome, b.mustPost(posting)[0].Outcome)
		require.Equal(t, [4]int64{941, 0, 0, 59}, b.sums())
	}
	fee.BalanceTransaction, fee.Amount = "txn_2", -59
	posting, due := ledger.FeeTaken(fee)
	require.True(t, due)
	b.mustPost(posting)
	require.Equal(t, [4]int64{1000, 0, 0, 0}, b.sums())
	fee.Amount = 0
	_, due = ledger.FeeTaken(fee)
	require.False(t, due)
}

// F-07: a charge in euro settles in dollars, and so does its refund: each goes through the exchange, and each currency is even by itself.
func TestExchangeMovesWhatStripeHoldsIntoTheOtherCurrency(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	exchanged := func(transaction string, euro, dollar int64) ledger.Posting {
		posting, due := ledger.Exchanged(ledger.Exchange{
			Tenant: b.tenant, BalanceTransaction: transaction, Presented: payments.Money{Amount: euro, Currency: "eur"},
			Settled: payments.Money{Amount: dollar, Currency: "usd"}, Source: "collector", EffectiveAt: day(2),
		})
		require.True(t, due)
		return posting
	}
	held := func() [4]int64 {
		through := ledger.FX("eur", "usd")
		return [4]int64{
			b.balance(ledger.StripeReceivable, "eur"), b.balance(through, "eur"), b.balance(through, "usd"), b.balance(ledger.StripeReceivable, "usd"),
		}
	}
	b.mustPost(b.transfer("capture", 1000, ledger.StripeReceivable, ledger.MerchantBalance, "eur"))
	for range 2 {
		b.mustPost(exchanged("txn_1", 1000, 1087))
		require.Equal(t, [4]int64{0, 1000, -1087, 1087}, held())
	}
	b.mustPost(b.transfer("refund", 1000, ledger.MerchantBalance, ledger.StripeReceivable, "eur"), exchanged("txn_2", -1000, -1090))
	require.Equal(t, [4]int64{0, 0, 3, -3}, held(), "the rate moved")
}

func TestSettlementInTheSameCurrencyIsNoExchange(t *testing.T) {
	same := payments.Money{Amount: 1000, Currency: "usd"}
	_, due := ledger.Exchanged(ledger.Exchange{BalanceTransaction: "txn_1", Presented: same, Settled: same})
	require.False(t, due)
	_, due = ledger.Exchanged(ledger.Exchange{Presented: payments.Money{Currency: "eur"}, Settled: payments.Money{Currency: "usd"}})
	require.False(t, due)
}
