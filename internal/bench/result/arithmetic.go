package result

import (
	"math"
	"slices"
)

// Median is the middle value, the mean of the two middle ones for an even number, and NaN for none.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// Percentile is the smallest value that at least p per cent of the values do not exceed (nearest rank), and NaN for none. p is above 0 and at most 100.
func Percentile(values []float64, p float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[max(rank, 1)-1]
}

// Ratio is value over baseline, and NaN without a baseline.
func Ratio(value, baseline float64) float64 {
	if baseline == 0 {
		return math.NaN()
	}
	return value / baseline
}
