package arrows_test

import (
	"go/ast"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// clocks are the only files that may ask this machine for the time: every age, lease and deadline comes from payonce.clock(), so
// that all processes agree and a test can move a day. The twin has a clock of its own, because it imports nothing of ours.
var clocks = []string{"internal/clock/clock.go", "stripesim/clock.go"}

func TestOnlyTheClocksAskForTheTime(t *testing.T) {
	asking := map[string]bool{}
	for _, file := range readTree(t) {
		if file.product && !file.test && asksForTheTime(file.syntax) {
			asking[file.path] = true
		}
	}
	for _, clock := range clocks {
		require.True(t, asking[clock], "%s does not ask for the time: does this test still see who does?", clock)
		delete(asking, clock)
	}
	require.Empty(t, asking, "take the time from internal/clock")
}

func TestAnyWayOfNamingTimeNowIsSeen(t *testing.T) {
	for source, want := range map[string]bool{
		`import "time"; var t = time.Now()`:                       true,
		`import "time"; var now = time.Now`:                       true,
		`import clock "time"; func f() { g(clock.Now().Unix()) }`: true,
		`import . "time"; var t = Now()`:                          true,
		`import "time"; var t = time.Unix(0, 0)`:                  false,
		`import "payonce/internal/clock"; var t = clock.Now()`:    false,
		`import "time"; type c struct{ time.Time }; var d = c{}`:  false,
	} {
		parsed, err := parseFile("x/x.go", []byte("package x\n"+strings.ReplaceAll(source, "; ", "\n")))
		require.NoError(t, err)
		require.Equal(t, want, asksForTheTime(parsed.syntax), source)
	}
}

// asksForTheTime tells whether a file names time.Now; a dot import of time counts, because it hides who does.
func asksForTheTime(syntax *ast.File) bool {
	name := ""
	for _, spec := range syntax.Imports {
		if imported, err := strconv.Unquote(spec.Path.Value); err != nil || imported != "time" {
			continue
		}
		name = "time"
		if spec.Name != nil {
			name = spec.Name.Name
		}
	}
	if name == "." {
		return true
	}
	found := false
	ast.Inspect(syntax, func(node ast.Node) bool {
		if selector, ok := node.(*ast.SelectorExpr); ok && name != "" && selector.Sel.Name == "Now" {
			if of, ok := selector.X.(*ast.Ident); ok && of.Name == name {
				found = true
			}
		}
		return !found
	})
	return found
}
