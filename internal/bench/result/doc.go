// Package result holds what a benchmark run found: its rows with their bars, the arithmetic on them, and how they are written as JSON, as a table
// and as a plot.
//
// It imports libraries alone. It must not know how anything was measured.
package result
