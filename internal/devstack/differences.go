package devstack

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
)

// Difference is a piece of configuration that is otherwise in production.
type Difference struct {
	Name       string
	Here       string
	Production string
}

// Differences lists what is configured otherwise than in production; the code is the same.
func (s *Stack) Differences() []Difference {
	differences := []Difference{
		{"Stripe", s.TwinURL + " (our twin, test mode)", "https://api.stripe.com"},
		{"Postgres", s.address(s.config.DatabaseURL == "", "a cluster of our own on loopback, trusting every local role"), "a server with a password for each role"},
		{"Temporal", s.address(s.config.Temporal == "", "temporal-dev: one process, no TLS"), "a Temporal service"},
		{"sealing keyset", s.config.State.Path(fileKeyset), "from a secret store"},
		{"receivers on this machine", s.config.Receiver, "none: https on public addresses only"},
		{"connections of a pool", fmt.Sprint(maxConns), "20"},
	}
	if s.config.Timing != "production" {
		differences = append(differences, Difference{"durations", s.config.Timing + " (all shrunk together)", "production"})
	}
	if scale := s.config.Twin.RetryScale; scale != 0 && scale != 1 {
		differences = append(differences, Difference{"webhook retries", fmt.Sprintf("after Stripe's gaps times %g", scale), "after Stripe's gaps"})
	}
	return differences
}

func (*Stack) address(own bool, what string) string {
	if own {
		return what
	}
	return "as given"
}

// PrintDifferences prints them as a table.
func (s *Stack) PrintDifferences(out io.Writer) {
	rows := table.NewWriter()
	rows.SetTitle("Configured otherwise than in production; the code is the same")
	rows.AppendHeader(table.Row{"", "here", "production"})
	for _, difference := range s.Differences() {
		rows.AppendRow(table.Row{difference.Name, difference.Here, difference.Production})
	}
	fmt.Fprintln(out, rows.Render())
}
