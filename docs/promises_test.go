package docs_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each promise has code that keeps it and a test that holds it; references_test.go checks that both exist.
func TestEveryPromiseHasItsCodeAndItsTest(t *testing.T) {
	promises := map[string]string{} // by the promise, the heading that it stands under
	heading := ""
	for line := range strings.Lines(read(t, "promises.md")) {
		if title, isHeading := strings.CutPrefix(line, "## "); isHeading {
			heading = strings.TrimSpace(title)
		}
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| promise") || strings.HasPrefix(line, "| ---") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		require.Len(t, cells, 3, "%s", line)
		require.Regexp(t, symbol, cells[1])
		require.Regexp(t, named, cells[2])
		require.NotContains(t, promises, cells[0], "it stands twice")
		promises[cells[0]] = heading
	}
	require.Greater(t, len(promises), 80)
	under := map[string]int{}
	for _, heading := range promises {
		under[heading]++
	}
	require.Len(t, under, 10)
}

// Every invariant of the doctor is promised.
func TestEveryInvariantOfTheDoctorIsPromised(t *testing.T) {
	text := read(t, "promises.md")
	checked := regexp.MustCompile(`(?m)^\| (\d) [A-Za-z ]+ \|`).FindAllStringSubmatch(read(t, "../recovery/doctor/README.md"), -1)
	require.Len(t, checked, 7)
	for _, invariant := range checked {
		require.Contains(t, text, "\n| "+invariant[1]+". ", "invariant %s", invariant[1])
	}
}
