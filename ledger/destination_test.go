package ledger_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"payonce/boundaries"
	"payonce/ledger"
	"payonce/payments"
)

func wallet(n int) ledger.AccountName { return ledger.Wallet(fmt.Sprintf("seller-%d", n), "stripe") }

// shares are wallets 0, 1, … with the amounts.
func shares(t require.TestingT, amounts ...int64) payments.Shares {
	var named []payments.Destination
	for i, amount := range amounts {
		named = append(named, payments.Destination{Account: string(wallet(i)), Amount: amount})
	}
	made, err := payments.NewShares(named...)
	require.NoError(t, err)
	return made
}

func TestOnlyTheMerchantAndWalletsAreDestinations(t *testing.T) {
	for name, is := range map[ledger.AccountName]bool{
		ledger.MerchantBalance:                true,
		ledger.Wallet("A.b-c_9", "eu-1"):      true,
		ledger.StripeReceivable:               false,
		ledger.MerchantBalancePending:         false,
		ledger.Wallet("", "stripe"):           false,
		ledger.Wallet("seller", "Stripe:eu"):  false,
		ledger.Wallet("a seller", "stripe"):   false,
		ledger.FX("usd", "eur"):               false,
		ledger.AccountName("wallet:seller-1"): false,
		ledger.AccountName(""):                false,
	} {
		require.Equal(t, is, ledger.IsDestination(name), name)
	}
}

// A captured payment of 1001 in two parts, in yen and in dinar, refunded in three.
func TestMoneyGoesToItsDestinationsAndComesBackFromThem(t *testing.T) {
	t.Parallel()
	for _, currency := range []payments.Currency{"jpy", "kwd"} {
		b := openBook(t)
		s := shares(t, 3333, 3333, 3334)
		capture := ledger.Capture{
			Tenant: b.tenant, Payment: boundaries.PaymentID(b.tenant, "order", 1), Charge: "ch_1", Currency: currency, Destinations: s, Source: "event",
			EffectiveAt: day(1),
		}
		balances := func() (owed [3]int64) {
			for i := range owed {
				owed[i] = -b.balance(wallet(i), currency)
			}
			return owed
		}
		for _, total := range []int64{400, 1001} {
			capture.NewTotal = total
			posting, due := ledger.Captured(capture)
			require.True(t, due)
			b.mustPost(posting)
			capture.PreviousTotal = total
		}
		require.Equal(t, [3]int64{334, 333, 334}, balances())
		require.Zero(t, b.balance(ledger.MerchantBalance, currency))

		var taken []payments.Destination
		for _, amount := range []int64{1, 500, 500} {
			refund := b.refund("order", uuid.New(), amount)
			refund.Currency, refund.From = currency, s.TakeBack(taken, amount)
			taken = append(taken, refund.From...)
			result := b.mustPost(ledger.RefundOut(refund))[0]
			require.Empty(t, result.InTheRed)
		}
		require.Equal(t, [3]int64{}, balances())
		require.Zero(t, b.balance(ledger.StripeReceivable, currency))
	}
}

func TestRefundWhoseDestinationsAreNotItsAmountIsRefused(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	refund := b.refund("ch_1", uuid.New(), 400)
	refund.From = []payments.Destination{{Account: string(wallet(0)), Amount: 399}}
	_, err := b.post(ledger.RefundOut(refund))
	require.ErrorIs(t, err, ledger.ErrUnbalanced)
}

// What a wallet gave away meanwhile is taken back all the same: a refund is a fact, and says who is in the red.
func TestRefundFromAWalletThatIsShortPostsIntoTheRed(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	refund := b.refund("ch_1", uuid.New(), 400)
	refund.From = []payments.Destination{{Account: string(wallet(0)), Amount: 300}, {Account: payments.MerchantDestination, Amount: 100}}
	b.mustPost(b.captured("ch_1", 1000, 0))
	require.Equal(t, []ledger.AccountName{wallet(0)}, b.mustPost(ledger.RefundOut(refund))[0].InTheRed)
	require.EqualValues(t, 300, b.balance(wallet(0), "usd"))
	require.Empty(t, b.mustPost(ledger.RefundBack(refund))[0].InTheRed)
	require.Zero(t, b.balance(wallet(0), "usd"))
}
