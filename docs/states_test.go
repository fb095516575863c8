package docs_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/payments"
)

//go:generate go test -run ^TestTheStatesAreThoseOfTheTransitionTable$ -update .

var update = flag.Bool("update", false, "write the generated part of architecture.md anew")

// diagram is a transition table of payments as the documents show it.
type diagram struct {
	name string // of the marks around it
	from string // the function that it is written from
	text func() string
}

func diagrams() []diagram {
	return []diagram{
		{"states", "payments.Transitions()", func() string {
			return states(paymentEdges(), []string{string(payments.StatusSubmitted)}, ends(payments.Statuses()))
		}},
		{"refund states", "payments.RefundTransitions()", func() string {
			return states(refundEdges(), []string{string(payments.RefundSubmitted)}, ends(payments.RefundStatuses()))
		}},
		{"payout states", "payments.PayoutTransitions()", func() string {
			return states(payoutEdges(), []string{string(payments.PayoutSubmitted)}, ends(payments.PayoutStatuses()))
		}},
		{"dispute states", "payments.DisputeTransitions()", func() string {
			begins := []string{string(payments.DisputeWarningNeedsResponse), string(payments.DisputeNeedsResponse), string(payments.DisputeLost)}
			return states(disputeEdges(), begins, ends(payments.DisputeStatuses()))
		}},
	}
}

func (d diagram) begin() string {
	return "<!-- " + d.name + ": written by go generate ./docs from " + d.from + " -->\n"
}

func (d diagram) end() string { return "<!-- " + d.name + " end -->\n" }

func TestTheStatesAreThoseOfTheTransitionTable(t *testing.T) {
	const document = "architecture.md"
	for _, d := range diagrams() {
		text := read(t, document)
		before, rest, begins := strings.Cut(text, d.begin())
		require.True(t, begins, "%s has no place for the %s", document, d.name)
		held, after, ends := strings.Cut(rest, d.end())
		require.True(t, ends)
		if *update {
			require.NoError(t, os.WriteFile(document, []byte(before+d.begin()+d.text()+d.end()+after), 0o644))
			continue
		}
		require.Equal(t, d.text(), held, "run `go generate ./docs`")
	}
}

// edge is one permitted change, as a table shows it.
type edge struct{ from, to, why, stage string }

func paymentEdges() (edges []edge) {
	for _, e := range payments.Transitions() {
		edges = append(edges, edge{string(e.From), string(e.To), e.Why, string(e.To.StageOf())})
	}
	return edges
}

func refundEdges() (edges []edge) {
	for _, e := range payments.RefundTransitions() {
		edges = append(edges, edge{string(e.From), string(e.To), e.Why, string(e.To.StageOf())})
	}
	return edges
}

func payoutEdges() (edges []edge) {
	for _, e := range payments.PayoutTransitions() {
		edges = append(edges, edge{string(e.From), string(e.To), e.Why, string(e.To.StageOf())})
	}
	return edges
}

func disputeEdges() (edges []edge) {
	for _, e := range payments.DisputeTransitions() {
		edges = append(edges, edge{string(e.From), string(e.To), e.Why, string(e.To.StageOf())})
	}
	return edges
}

// ends are the statuses in which it may stay for ever.
func ends[S interface {
	~string
	Terminal() bool
}](statuses []S) (terminal []string) {
	for _, status := range statuses {
		if status.Terminal() {
			terminal = append(terminal, string(status))
		}
	}
	return terminal
}

// states are the diagram and the table of every permitted change.
func states(edges []edge, begins, ends []string) string {
	var out strings.Builder
	out.WriteString("```mermaid\nstateDiagram-v2\n")
	for _, status := range begins {
		fmt.Fprintf(&out, "    [*] --> %s\n", status)
	}
	for _, e := range edges {
		fmt.Fprintf(&out, "    %s --> %s\n", e.from, e.to)
	}
	for _, status := range ends {
		fmt.Fprintf(&out, "    %s --> [*]\n", status)
	}
	out.WriteString("```\n\n| from | to | when | least stage |\n| --- | --- | --- | --- |\n")
	for _, e := range edges {
		fmt.Fprintf(&out, "| `%s` | `%s` | %s | `%s` |\n", e.from, e.to, e.why, e.stage)
	}
	return out.String()
}
