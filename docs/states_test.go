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

// Marks of the generated part of architecture.md.
const (
	statesBegin = "<!-- states: written by go generate ./docs from payments.Transitions() -->\n"
	statesEnd   = "<!-- states end -->\n"
)

func TestTheStatesAreThoseOfTheTransitionTable(t *testing.T) {
	const document = "architecture.md"
	text := read(t, document)
	before, rest, begins := strings.Cut(text, statesBegin)
	require.True(t, begins, "%s has no place for the states", document)
	held, after, ends := strings.Cut(rest, statesEnd)
	require.True(t, ends)
	if *update {
		require.NoError(t, os.WriteFile(document, []byte(before+statesBegin+states()+statesEnd+after), 0o644))
		return
	}
	require.Equal(t, states(), held, "run `go generate ./docs`")
}

// states are the diagram and the table of every permitted change.
func states() string {
	var out strings.Builder
	out.WriteString("```mermaid\nstateDiagram-v2\n    [*] --> " + string(payments.StatusSubmitted) + "\n")
	for _, edge := range payments.Transitions() {
		fmt.Fprintf(&out, "    %s --> %s\n", edge.From, edge.To)
	}
	for _, status := range payments.Statuses() {
		if status.Terminal() {
			fmt.Fprintf(&out, "    %s --> [*]\n", status)
		}
	}
	out.WriteString("```\n\n| from | to | when | least stage |\n| --- | --- | --- | --- |\n")
	for _, edge := range payments.Transitions() {
		fmt.Fprintf(&out, "| `%s` | `%s` | %s | `%s` |\n", edge.From, edge.To, edge.Why, edge.To.StageOf())
	}
	return out.String()
}
