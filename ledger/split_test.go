package ledger_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"payonce/boundaries"
	"payonce/ledger"
	"payonce/payments"
)

func wallet(n int) ledger.AccountName { return ledger.Wallet(fmt.Sprintf("seller-%d", n), "stripe") }

// shares are wallets 0, 1, … with the weights.
func shares(t require.TestingT, weights ...int64) ledger.Shares {
	var named []ledger.Share
	for i, weight := range weights {
		named = append(named, ledger.Share{Account: wallet(i), Weight: weight})
	}
	made, err := ledger.NewShares(named...)
	require.NoError(t, err)
	return made
}

func sum(legs []ledger.Leg) (total int64) {
	for _, leg := range legs {
		total += leg.Amount
	}
	return total
}

func TestSharesAreDividedByTheStatedRule(t *testing.T) {
	for _, c := range []struct {
		weights []int64
		whole   int64
		parts   []int64
	}{
		{[]int64{3333, 3333, 3334}, 1001, []int64{334, 333, 334}},
		{[]int64{3333, 3333, 3334}, 10_000, []int64{3333, 3333, 3334}},
		{[]int64{1, 1, 1}, 100, []int64{34, 33, 33}},
		{[]int64{1, 1, 1}, 101, []int64{34, 34, 33}},
		{[]int64{7000, 3000}, 1, []int64{1, 0}},
		{[]int64{7000, 3000}, 2, []int64{1, 1}},
		{[]int64{5000, 5000}, 9_000_000_000_000_000_001, []int64{4_500_000_000_000_000_001, 4_500_000_000_000_000_000}},
	} {
		var want []ledger.Leg
		for i, part := range c.parts {
			if part > 0 {
				want = append(want, ledger.Leg{Account: wallet(i), Amount: part})
			}
		}
		require.Equal(t, want, shares(t, c.weights...).Between(0, c.whole), "%v of %d", c.weights, c.whole)
	}
	require.Equal(t, []ledger.Leg{{Account: ledger.MerchantBalance, Amount: 70}}, ledger.Shares{}.Between(30, 100), "nobody is named")
}

// F-05: every amount from 1 to 100000, whatever the currency counts in: the parts sum to the whole, nobody's part falls when the whole grows by a unit,
// and nobody is more than a unit above the exact share.
func TestEveryAmountIsDividedWithoutRest(t *testing.T) {
	const most = 100_000
	for _, weights := range [][]int64{{1}, {1, 1, 1}, {50, 30, 20}, {29, 971}, {1, 2, 3, 5, 7, 11}} {
		s, of := shares(t, weights...), int64(0)
		for _, weight := range weights {
			of += weight
		}
		got := map[ledger.AccountName]int64{}
		for whole := int64(1); whole <= most; whole++ {
			unit := s.Between(whole-1, whole)
			if len(unit) != 1 || unit[0].Amount != 1 {
				require.Fail(t, "a unit goes to one", "%v: unit %d goes to %v", weights, whole, unit)
			}
			got[unit[0].Account]++
			for i, weight := range weights {
				if part := got[wallet(i)]; part > whole*weight/of+1 {
					require.Fail(t, "too much", "%v: %d of %d", weights, part, whole)
				}
			}
		}
		require.Equal(t, got, byAccount(s.Between(0, most)))
	}
}

func byAccount(legs []ledger.Leg) map[ledger.AccountName]int64 {
	amounts := map[ledger.AccountName]int64{}
	for _, leg := range legs {
		amounts[leg.Account] += leg.Amount
	}
	return amounts
}

// Refunds come, fail and come again: nobody gives back more than it got, and once all is given back everybody gave what it got.
func TestRefundsTakeBackWhatWasGiven(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.Int64Range(1, 500), 1, 20).Draw(t, "weights")
		s := shares(t, weights...)
		whole := rapid.Int64Range(1, 3000).Draw(t, "whole")
		given := byAccount(s.Between(0, whole))
		var refunds [][]ledger.Leg
		taken := func() (all []ledger.Leg) {
			for _, refund := range refunds {
				all = append(all, refund...)
			}
			return all
		}
		refund := func(amount int64) {
			legs, err := s.TakeBack(whole, taken(), amount)
			require.NoError(t, err)
			require.Equal(t, amount, sum(legs))
			for _, leg := range legs {
				require.Positive(t, leg.Amount)
			}
			refunds = append(refunds, legs)
			for account, amount := range byAccount(taken()) {
				require.LessOrEqual(t, amount, given[account])
			}
		}
		for range rapid.IntRange(0, 12).Draw(t, "steps") {
			if len(refunds) > 0 && rapid.Bool().Draw(t, "fails") {
				at := rapid.IntRange(0, len(refunds)-1).Draw(t, "which")
				refunds = append(refunds[:at], refunds[at+1:]...)
			} else if left := whole - sum(taken()); left > 0 {
				refund(rapid.Int64Range(1, left).Draw(t, "amount"))
			}
		}
		_, err := s.TakeBack(whole, taken(), whole-sum(taken())+1)
		require.ErrorIs(t, err, ledger.ErrInvalidShares)
		if left := whole - sum(taken()); left > 0 {
			refund(left)
		}
		require.Equal(t, given, byAccount(taken()))
	})
}

// Two units are taken from the first and one from the second; the two come back. The next unit cannot be divided as a refund of two would be.
func TestRefundAfterOneThatFailedPaysNobody(t *testing.T) {
	s := shares(t, 3, 1)
	first, err := s.TakeBack(8, nil, 2)
	require.NoError(t, err)
	require.Equal(t, []ledger.Leg{{Account: wallet(0), Amount: 2}}, first)
	second, err := s.TakeBack(8, first, 1)
	require.NoError(t, err)
	require.Equal(t, []ledger.Leg{{Account: wallet(1), Amount: 1}}, second)
	third, err := s.TakeBack(8, second, 1)
	require.NoError(t, err)
	require.Equal(t, []ledger.Leg{{Account: wallet(0), Amount: 1}}, third)
}

// Without a failure between them, refunds divide as one refund of their sum would.
func TestPartialRefundsAddUp(t *testing.T) {
	s := shares(t, 3333, 3333, 3334)
	var taken []ledger.Leg
	for range 143 {
		legs, err := s.TakeBack(1001, taken, 7)
		require.NoError(t, err)
		taken = append(taken, legs...)
		require.Equal(t, byAccount(s.Between(0, sum(taken))), byAccount(taken))
	}
	require.Equal(t, byAccount(s.Between(0, 1001)), byAccount(taken))
	_, err := s.TakeBack(1001, []ledger.Leg{{Account: ledger.MerchantBalance, Amount: 1}}, 1)
	require.ErrorIs(t, err, ledger.ErrInvalidShares, "the merchant got nothing of it")
	legs, err := ledger.Shares{}.TakeBack(100, []ledger.Leg{{Account: ledger.MerchantBalance, Amount: 30}}, 70)
	require.NoError(t, err)
	require.Equal(t, []ledger.Leg{{Account: ledger.MerchantBalance, Amount: 70}}, legs)
}

func TestSharesThatCannotBeAreRefused(t *testing.T) {
	many := make([]ledger.Share, 21)
	for i := range many {
		many[i] = ledger.Share{Account: wallet(i), Weight: 1}
	}
	for name, named := range map[string][]ledger.Share{
		"too many":         many,
		"no weight":        {{Account: wallet(1)}},
		"negative":         {{Account: wallet(1), Weight: -1}},
		"too heavy":        {{Account: wallet(1), Weight: 10_000}, {Account: wallet(2), Weight: 1}},
		"wrapped":          {{Account: wallet(1), Weight: 1 << 62}, {Account: wallet(2), Weight: 1 << 62}},
		"twice":            {{Account: wallet(1), Weight: 1}, {Account: wallet(1), Weight: 1}},
		"no destination":   {{Account: ledger.StripeReceivable, Weight: 1}},
		"pending side":     {{Account: ledger.MerchantBalancePending, Weight: 1}},
		"no such wallet":   {{Account: ledger.Wallet("", "stripe"), Weight: 1}},
		"network too wide": {{Account: ledger.Wallet("seller", "Stripe:eu"), Weight: 1}},
		"owner with blank": {{Account: ledger.Wallet("a seller", "stripe"), Weight: 1}},
	} {
		_, err := ledger.NewShares(named...)
		require.ErrorIs(t, err, ledger.ErrInvalidShares, name)
	}
	_, err := ledger.NewShares(ledger.Share{Account: ledger.MerchantBalance, Weight: 9000}, ledger.Share{Account: ledger.Wallet("A.b-c_9", "eu-1"), Weight: 1000})
	require.NoError(t, err)
}

func TestLegsAreStoredByTheirNames(t *testing.T) {
	body, err := json.Marshal([]ledger.Leg{{Account: wallet(1), Amount: 334}})
	require.NoError(t, err)
	require.JSONEq(t, `[{"account":"wallet:seller-1:stripe","amount":334}]`, string(body))
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
		for previous, total := range map[int64]int64{0: 400, 400: 1001} {
			capture.PreviousTotal, capture.NewTotal = previous, total
			posting, due := ledger.Captured(capture)
			require.True(t, due)
			b.mustPost(posting)
		}
		require.Equal(t, [3]int64{334, 333, 334}, balances())
		require.Zero(t, b.balance(ledger.MerchantBalance, currency))

		var taken []ledger.Leg
		for _, amount := range []int64{1, 500, 500} {
			legs, err := s.TakeBack(1001, taken, amount)
			require.NoError(t, err)
			taken = append(taken, legs...)
			refund := b.refund("order", uuid.New(), amount)
			refund.Currency, refund.From = currency, legs
			result := b.mustPost(ledger.RefundOut(refund))[0]
			require.Empty(t, result.InTheRed)
		}
		require.Equal(t, [3]int64{}, balances())
		require.Zero(t, b.balance(ledger.StripeReceivable, currency))
	}
}

func TestRefundWhoseLegsAreNotItsAmountIsRefused(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	refund := b.refund("ch_1", uuid.New(), 400)
	refund.From = []ledger.Leg{{Account: wallet(0), Amount: 399}}
	_, err := b.post(ledger.RefundOut(refund))
	require.ErrorIs(t, err, ledger.ErrUnbalanced)
}
