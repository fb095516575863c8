package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"payonce/internal/bench/result"
)

// shares says which process used how much CPU for each thing done, by the median of the rounds.
func shares(rounds []throughput) string {
	if len(rounds) == 0 {
		return ""
	}
	var parts []string
	for _, process := range slices.Sorted(maps.Keys(rounds[0].used)) {
		var each []float64
		for _, round := range rounds {
			each = append(each, round.used[process]/float64(round.done)*1000)
		}
		parts = append(parts, fmt.Sprintf("%s %.1f ms", process, result.Median(each)))
	}
	return strings.Join(parts, ", ")
}
