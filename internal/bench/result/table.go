package result

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
)

// Print prints the rows as a table, and each note below it.
func (r Report) Print(out io.Writer) {
	m := r.Machine
	fmt.Fprintf(out, "commit %s · %s, %d cores, %.0f GB · Linux %s · Postgres %s · %s · load before: %.2f\n",
		r.Commit, m.CPU, m.Cores, m.MemoryGB, m.Kernel, m.Postgres, m.Go, m.Load)
	fmt.Fprintf(out, "%d rounds, medians · %d finished payments loaded before · token bucket: %s\n",
		r.Settings.Rounds, r.Settings.Growth, r.Settings.CallsPerSecond)
	rows := table.NewWriter()
	rows.AppendHeader(table.Row{"name", "value", "unit", "baseline", "ratio", "bar", "", "s"})
	for _, row := range r.Rows {
		ratio, seconds := fmt.Sprintf("%.3g", row.Ratio), fmt.Sprintf("%.0f", row.Seconds)
		rows.AppendRow(table.Row{row.Name, row.Value, row.Unit, row.Baseline, ratio, row.Bar, row.verdict(), seconds})
	}
	fmt.Fprintln(out, rows.Render())
	for _, row := range r.Rows {
		fmt.Fprintf(out, "%s: against %s", row.Name, row.Against)
		if row.Note != "" {
			fmt.Fprintf(out, "; %s", row.Note)
		}
		fmt.Fprintln(out)
	}
}

func (r Row) verdict() string {
	switch {
	case r.Met == nil:
		return ""
	case *r.Met:
		return "met"
	default:
		return "MISSED"
	}
}
