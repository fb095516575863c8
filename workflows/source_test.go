package workflows_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// forbidden is what no workflow may call, with the reason.
var forbidden = map[string]string{
	"AddDefault":                  "a selector with a default branch loses the signal that arrives while the branch blocks",
	"NewSelector":                 "one channel is received from; what wakes has no content, so there is nothing to select",
	"ExecuteChildWorkflow":        "a child may never start, or die with its parent: what follows a payment is a row of its commit",
	"SetUpdateHandler":            "an update's outcome dies with its run: callers wait on the record",
	"SetUpdateHandlerWithOptions": "an update's outcome dies with its run: callers wait on the record",
	"SideEffect":                  "what is not derived differs between two runs of one payment",
	"NewTimer":                    "deadlines are read from Postgres, and polling is the poller's",
	"Now":                         "deadlines are read from Postgres",
	"Go":                          "one coroutine decides: nothing overlaps within a payment",
}

// Workflow code holds to the few calls that replay alike and lose nothing: no branch by default, no child, no clock, no map order.
func TestWorkflowsUseOnlyWhatReplaysAlikeAndLosesNothing(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	inspected := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		inspected++
		positions := token.NewFileSet()
		tree, err := parser.ParseFile(positions, file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(tree, func(node ast.Node) bool {
			where := ""
			if node != nil {
				where = positions.Position(node.Pos()).String()
			}
			switch node := node.(type) {
			case *ast.SelectorExpr:
				require.Empty(t, forbidden[node.Sel.Name], "%s: %s", where, node.Sel.Name)
			case *ast.GoStmt, *ast.SelectStmt:
				require.Fail(t, "goroutines and channels of Go do not replay", where)
			case *ast.MapType:
				require.Fail(t, "a map has no order that replays", where)
			}
			return true
		})
	}
	require.Positive(t, inspected)
}
