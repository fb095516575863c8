package result

import (
	"fmt"
	"math"
)

// Bar is what a ratio must reach.
type Bar struct {
	Limit   float64
	AtLeast bool // else at most
}

// AtLeast is a bar from below.
func AtLeast(limit float64) *Bar { return &Bar{Limit: limit, AtLeast: true} }

// AtMost is a bar from above.
func AtMost(limit float64) *Bar { return &Bar{Limit: limit} }

// Met tells whether the ratio reaches the bar. A ratio that is no number does not.
func (b Bar) Met(ratio float64) bool {
	if math.IsNaN(ratio) {
		return false
	}
	if b.AtLeast {
		return ratio >= b.Limit
	}
	return ratio <= b.Limit
}

func (b Bar) String() string {
	if b.AtLeast {
		return fmt.Sprintf(">= %g", b.Limit)
	}
	return fmt.Sprintf("<= %g", b.Limit)
}

// Row is one figure beside what it is compared with. Value and Baseline are the medians of the rounds.
type Row struct {
	Name      string    `json:"name"`
	Value     float64   `json:"value"`
	Unit      string    `json:"unit"`
	Baseline  float64   `json:"baseline"`
	Ratio     float64   `json:"ratio"`
	Bar       string    `json:"bar,omitempty"` // ">= 0.33", "<= 3"; empty: none
	Met       *bool     `json:"met,omitempty"` // absent without a bar
	Against   string    `json:"against"`       // what the baseline is
	Values    []float64 `json:"values"`        // by round
	Baselines []float64 `json:"baselines"`     // by round
	Note      string    `json:"note,omitempty"`
	Seconds   float64   `json:"seconds"` // that the row took, baseline included

	bar *Bar
}

// NewRow takes the medians of the rounds and judges their ratio. bar may be nil.
func NewRow(name, unit string, values []float64, against string, baselines []float64, bar *Bar) Row {
	row := Row{Name: name, Unit: unit, Against: against, bar: bar}
	row.Value, row.Baseline = round(Median(values)), round(Median(baselines))
	row.Ratio = round(Ratio(Median(values), Median(baselines)))
	for _, value := range values {
		row.Values = append(row.Values, round(value))
	}
	for _, value := range baselines {
		row.Baselines = append(row.Baselines, round(value))
	}
	if bar != nil {
		met := bar.Met(row.Ratio)
		row.Bar, row.Met = bar.String(), &met
	}
	return row
}

// Missed tells whether the row has a bar and is short of it.
func (r Row) Missed() bool { return r.Met != nil && !*r.Met }

// round keeps four significant digits, which is more than a run repeats.
func round(value float64) float64 {
	if value == 0 || math.IsNaN(value) || math.IsInf(value, 0) {
		return value
	}
	scale := math.Pow(10, 3-math.Floor(math.Log10(math.Abs(value))))
	return math.Round(value*scale) / scale
}
