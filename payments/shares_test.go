package payments_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"payonce/payments"
)

func seller(n int) string { return fmt.Sprintf("wallet:seller-%d:stripe", n) }

// among are destinations of the amounts, and their shares.
func among(t require.TestingT, amounts ...int64) payments.Shares {
	var named []payments.Destination
	for i, amount := range amounts {
		named = append(named, payments.Destination{Account: seller(i), Amount: amount})
	}
	shares, err := payments.NewShares(named...)
	require.NoError(t, err)
	return shares
}

func total(destinations []payments.Destination) (sum int64) {
	for _, d := range destinations {
		sum += d.Amount
	}
	return sum
}

func byAccount(destinations []payments.Destination) map[string]int64 {
	amounts := map[string]int64{}
	for _, d := range destinations {
		amounts[d.Account] += d.Amount
	}
	return amounts
}

func TestMoneyIsDividedByTheStatedRule(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		amounts []int64
		whole   int64
		parts   []int64
	}{
		{[]int64{3333, 3333, 3334}, 1001, []int64{334, 333, 334}},
		{[]int64{3333, 3333, 3334}, 10_000, []int64{3333, 3333, 3334}},
		{[]int64{1, 1, 1}, 100, []int64{34, 33, 33}},
		{[]int64{1, 1, 1}, 101, []int64{34, 34, 33}},
		{[]int64{7000, 3000}, 1, []int64{1, 0}},
		{[]int64{7000, 3000}, 2, []int64{1, 1}},
		{[]int64{334, 333, 334}, 1001, []int64{334, 333, 334}},
		{[]int64{5000, 5000}, 9_000_000_000_000_000_001, []int64{4_500_000_000_000_000_001, 4_500_000_000_000_000_000}},
		{[]int64{999_999_999_998, 1}, 999_999_999_999, []int64{999_999_999_998, 1}},
		{[]int64{1_000_000, 1, 1, 1}, 1_000_001, []int64{999_998, 1, 1, 1}},
	} {
		var want []payments.Destination
		for i, part := range c.parts {
			if part > 0 {
				want = append(want, payments.Destination{Account: seller(i), Amount: part})
			}
		}
		require.Equal(t, want, among(t, c.amounts...).Between(0, c.whole), "%v of %d", c.amounts, c.whole)
	}
	require.Empty(t, payments.Shares{}.Between(30, 100), "nobody is named")
	require.Empty(t, payments.Shares{}.TakeBack(nil, 100))
}

// unitByUnit is the rule as it is stated.
func unitByUnit(amounts []int64, whole int64) map[string]int64 {
	parts := make([]int64, len(amounts))
	for range whole {
		most := 0
		for i := range amounts {
			if amounts[i]*(2*parts[most]+1) > amounts[most]*(2*parts[i]+1) {
				most = i
			}
		}
		parts[most]++
	}
	got := map[string]int64{}
	for i, part := range parts {
		if part > 0 {
			got[seller(i)] = part
		}
	}
	return got
}

func TestPartsAreThoseOfGivingUnitByUnit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		amounts := rapid.SliceOfN(rapid.OneOf(rapid.Int64Range(1, 5), rapid.Int64Range(1, 1_000_000)), 1, 20).Draw(t, "amounts")
		whole := rapid.Int64Range(0, 400).Draw(t, "whole")
		require.Equal(t, unitByUnit(amounts, whole), byAccount(among(t, amounts...).Between(0, whole)))
	})
}

// F-05: every amount from 1 to 100000, whatever the currency counts in: each unit more goes to one destination and is taken from none, and nobody is a
// unit away from the exact share.
func TestEveryAmountIsDividedWithoutRest(t *testing.T) {
	t.Parallel()
	const most = 100_000
	for _, amounts := range [][]int64{{1}, {1, 1, 1}, {50, 30, 20}, {29, 971}, {3333, 3333, 3334}} {
		s, of := among(t, amounts...), int64(0)
		for _, amount := range amounts {
			of += amount
		}
		got := map[string]int64{}
		for whole := int64(1); whole <= most; whole++ {
			unit := s.Between(whole-1, whole)
			if len(unit) != 1 || unit[0].Amount != 1 {
				require.Fail(t, "a unit goes to one", "%v: unit %d goes to %v", amounts, whole, unit)
			}
			got[unit[0].Account]++
			for i, amount := range amounts {
				if away := got[seller(i)]*of - whole*amount; away >= of || away <= -of {
					require.Fail(t, "a unit away", "%v: %d of %d", amounts, got[seller(i)], whole)
				}
			}
		}
		require.Equal(t, got, byAccount(s.Between(0, most)))
	}
}

// Amounts of twelve digits and twenty destinations: no bound that a small case does not reach.
func TestLargeAmountsAreDividedAsSmallOnesAre(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		amounts := rapid.SliceOfN(rapid.OneOf(rapid.Int64Range(1, 3), rapid.Int64Range(1, payments.MaxAmount/20)), 1, 20).Draw(t, "amounts")
		whole := rapid.Int64Range(0, payments.MaxAmount).Draw(t, "whole")
		s, of := among(t, amounts...), int64(0)
		for _, amount := range amounts {
			of += amount
		}
		exact := map[string]int64{}
		for i, amount := range amounts {
			exact[seller(i)] = amount
		}
		require.Equal(t, exact, byAccount(s.Between(0, of)))
		unit := s.Between(whole, whole+1)
		require.Len(t, unit, 1)
		require.EqualValues(t, 1, unit[0].Amount)
		got := byAccount(s.Between(0, whole))
		for i, amount := range amounts { // 2·|part·sum − whole·amount| is at most sum + n·amount
			away := new(big.Int).Mul(big.NewInt(got[seller(i)]), big.NewInt(of))
			away.Sub(away, new(big.Int).Mul(big.NewInt(whole), big.NewInt(amount))).Abs(away).Lsh(away, 1)
			require.LessOrEqual(t, away.Cmp(big.NewInt(of+int64(len(amounts))*amount)), 0, "%d of %d", got[seller(i)], whole)
		}
	})
}

// Refunds come, fail and come again: nobody gives back more than it got, and once all is given back everybody gave what it got.
func TestRefundsTakeBackWhatWasGiven(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		amounts := rapid.SliceOfN(rapid.Int64Range(1, 500), 1, 20).Draw(t, "amounts")
		s := among(t, amounts...)
		whole := rapid.Int64Range(1, 3000).Draw(t, "whole")
		given := byAccount(s.Between(0, whole))
		var refunds [][]payments.Destination
		taken := func() (all []payments.Destination) {
			for _, refund := range refunds {
				all = append(all, refund...)
			}
			return all
		}
		refund := func(amount int64) {
			from := s.TakeBack(taken(), amount)
			require.Equal(t, amount, total(from))
			for _, d := range from {
				require.Positive(t, d.Amount)
			}
			refunds = append(refunds, from)
			for account, amount := range byAccount(taken()) {
				require.LessOrEqual(t, amount, given[account])
			}
		}
		for range rapid.IntRange(0, 12).Draw(t, "steps") {
			if len(refunds) > 0 && rapid.Bool().Draw(t, "fails") {
				at := rapid.IntRange(0, len(refunds)-1).Draw(t, "which")
				refunds = append(refunds[:at], refunds[at+1:]...)
			} else if left := whole - total(taken()); left > 0 {
				refund(rapid.Int64Range(1, left).Draw(t, "amount"))
			}
		}
		if left := whole - total(taken()); left > 0 {
			refund(left)
		}
		require.Equal(t, given, byAccount(taken()))
	})
}

// Two units are taken from the first and one from the second; the two come back. The next unit cannot be divided as a refund of two would be.
func TestRefundAfterOneThatFailedPaysNobody(t *testing.T) {
	t.Parallel()
	s := among(t, 3, 1)
	first := s.TakeBack(nil, 2)
	require.Equal(t, []payments.Destination{{Account: seller(0), Amount: 2}}, first)
	second := s.TakeBack(first, 1)
	require.Equal(t, []payments.Destination{{Account: seller(1), Amount: 1}}, second)
	third := s.TakeBack(second, 1)
	require.Equal(t, []payments.Destination{{Account: seller(0), Amount: 1}}, third)
}

// Without a failure between them, refunds divide as one refund of their sum would.
func TestPartialRefundsAddUp(t *testing.T) {
	t.Parallel()
	s := among(t, 3333, 3333, 3334)
	var taken []payments.Destination
	for range 143 {
		taken = append(taken, s.TakeBack(taken, 7)...)
		require.Equal(t, byAccount(s.Between(0, total(taken))), byAccount(taken))
	}
	require.Equal(t, byAccount(s.Between(0, 1001)), byAccount(taken))
}

func TestSharesThatCannotBeAreRefused(t *testing.T) {
	t.Parallel()
	many := make([]payments.Destination, payments.MaxDestinations+1)
	for i := range many {
		many[i] = payments.Destination{Account: seller(i), Amount: 1}
	}
	for name, named := range map[string][]payments.Destination{
		"nobody":    nil,
		"too many":  many,
		"no amount": {{Account: seller(1)}},
		"no name":   {{Amount: 1}},
		"negative":  {{Account: seller(1), Amount: -1}},
		"too much":  {{Account: seller(1), Amount: payments.MaxAmount}, {Account: seller(2), Amount: 1}},
		"wrapped":   {{Account: seller(1), Amount: 1 << 62}, {Account: seller(2), Amount: 1 << 62}},
		"twice":     {{Account: seller(1), Amount: 1}, {Account: seller(1), Amount: 1}},
	} {
		_, err := payments.NewShares(named...)
		require.ErrorIs(t, err, payments.ErrInvalidShares, name)
	}
	_, err := payments.NewShares(many[1:]...)
	require.NoError(t, err)
}

// As they are stored with a payment and with a refund.
func TestDestinationsAreStoredByTheirNames(t *testing.T) {
	t.Parallel()
	body, err := json.Marshal([]payments.Destination{{Account: seller(1), Amount: 334}})
	require.NoError(t, err)
	require.JSONEq(t, `[{"account":"wallet:seller-1:stripe","amount":334}]`, string(body))
}
