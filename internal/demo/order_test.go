package demo

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMixHasItsHonestRepeatsRightBehindWhatTheyEqual(t *testing.T) {
	mixed := Mix(1, 7)
	require.Len(t, mixed, orders)
	again, refused := 0, 0
	for i, order := range mixed {
		require.Equal(t, i+1, order.Number)
		if order.Declined() {
			refused++
		}
		if order.RepeatOf == 0 {
			continue
		}
		again++
		original := mixed[i-1]
		require.Equal(t, original.Number, order.RepeatOf)
		require.True(t, order.MustPay())
		require.NotEqual(t, original.Reference, order.Reference)
		original.Reference = order.Reference
		require.Equal(t, string(original.Body()), string(order.Body()), "equal in all but reference")
	}
	require.Equal(t, repeats, again)
	require.Equal(t, declined, refused)
}

func TestMixReachesTheFloorsOfEveryStyle(t *testing.T) {
	for seed := range int64(20) {
		styles := map[Style]int{}
		for _, order := range Mix(seed, 1) {
			styles[order.Style]++
		}
		require.GreaterOrEqual(t, styles[StyleDuplicate], leastDuplicates)
		require.GreaterOrEqual(t, styles[StyleConcurrent], leastAtOnce)
		require.GreaterOrEqual(t, styles[StyleFreshKeys], leastFreshKeys)
		require.NotZero(t, styles[StyleImpatient])
		require.NotZero(t, styles[StyleNoWait])
	}
}

func TestMixIsThatOfItsSeedAndNeverNamesAnOrderOfAnotherRun(t *testing.T) {
	first, second, other := Mix(1, 1), Mix(1, 2), Mix(2, 1)
	references := map[string]bool{}
	differing := false
	for i := range first {
		references[first[i].Reference] = true
		require.False(t, references[second[i].Reference])
		differing = differing || first[i].Amount != other[i].Amount
		same := second[i]
		same.Reference = first[i].Reference
		require.Equal(t, first[i], same)
	}
	require.Len(t, references, orders)
	require.True(t, differing)
}

func TestMixHasEveryPlanInTwoNoneAndThreeDecimals(t *testing.T) {
	for seed := range int64(5) {
		orders, currencies := map[Plan]int{}, map[Plan]map[string]bool{}
		for _, order := range Mix(seed, 1) {
			if currencies[order.Plan] == nil {
				currencies[order.Plan] = map[string]bool{}
			}
			orders[order.Plan]++
			currencies[order.Plan][order.Currency] = true
			if order.Plan != "" {
				require.Zero(t, order.Amount%300)
			}
			require.False(t, order.Currency == "kwd" && order.Amount%10 != 0)
		}
		for _, planned := range Plans() {
			require.Equal(t, planned.Orders, orders[planned.Plan], planned.Plan)
			if planned.Plan == PlanDebit || planned.Plan == PlanDebitRefund {
				require.Equal(t, map[string]bool{"usd": true, "eur": true, "aud": true}, currencies[planned.Plan])
				continue
			}
			require.Equal(t, map[string]bool{"usd": true, "jpy": true, "kwd": true}, currencies[planned.Plan], planned.Plan)
		}
	}
}

func TestWhatAPlanTakesAndGivesBack(t *testing.T) {
	for plan, want := range map[Plan]struct {
		captured, refunded int64
		journals           int
	}{
		"": {900, 0, 1}, PlanCapture: {900, 0, 3}, PlanPart: {600, 0, 4}, PlanParts: {600, 0, 6}, PlanVoid: {0, 0, 2},
		PlanPolicyCapture: {900, 0, 3}, PlanPolicyVoid: {0, 0, 2}, PlanRefund: {900, 900, 2}, PlanRefundPart: {900, 300, 2},
		PlanRefundTwice: {900, 600, 3}, PlanRefundFails: {900, 0, 3}, PlanRefundElsewhere: {900, 300, 2}, PlanDebit: {900, 0, 1},
		PlanDebitRefund: {900, 900, 2}, PlanDisputeWon: {900, 0, 3}, PlanDisputeLost: {900, 0, 3}, PlanInquiry: {900, 0, 1},
		PlanShared: {900, 0, 1}, PlanSharedRefund: {900, 300, 2},
	} {
		order := Order{Amount: 900, Plan: plan}
		require.Equal(t, want.captured, order.Captured(), plan)
		require.Equal(t, want.refunded, order.Refunded(), plan)
		require.Equal(t, want.journals, order.Journals(), plan)
	}
	require.Zero(t, Order{Amount: 900, DeclineCode: "lost_card"}.Journals())
}

// A shared order is divided by thirds, and so is what of it is given back, to the last unit: of 100 the first seller gives 34.
func TestWhatSellersAreOwed(t *testing.T) {
	require.EqualValues(t, 600, Order{Amount: 900, Plan: PlanShared}.ToSellers())
	require.EqualValues(t, 200-67, Order{Amount: 300, Plan: PlanSharedRefund}.ToSellers())
	require.Zero(t, Order{Amount: 900, Plan: PlanRefundPart}.ToSellers())
	require.Contains(t, string(Order{Amount: 300, Plan: PlanShared}.Body()), `"destinations":[{"account":"wallet:seller-1:stripe","amount":100},`)
}
