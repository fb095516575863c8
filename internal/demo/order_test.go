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
		if !order.MustPay() {
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
