package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// named finds a test as cases.md names it: the package's folder and the test, in one code span.
var named = regexp.MustCompile("`([a-z][a-z/]*) (Test[A-Za-z0-9]+)`")

// Every test that cases.md promises is there, in the package that it names.
func TestEveryTestOfTheCasesExists(t *testing.T) {
	text, err := os.ReadFile("cases.md")
	require.NoError(t, err)
	tests := named.FindAllStringSubmatch(string(text), -1)
	require.Greater(t, len(tests), 21, "at least one test a case")
	sources := map[string]string{}
	for _, test := range tests {
		folder, name := test[1], test[2]
		if sources[folder] == "" {
			sources[folder] = testsOf(t, folder)
		}
		require.Contains(t, sources[folder], "\nfunc "+name+"(t *testing.T) {", "%s is not in %s", name, folder)
	}
}

// Every row of the table names a test.
func TestEveryCaseHasATest(t *testing.T) {
	text, err := os.ReadFile("cases.md")
	require.NoError(t, err)
	rows := 0
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| case") || strings.HasPrefix(line, "| ---") {
			continue
		}
		rows++
		require.Regexp(t, named, line)
		require.Equal(t, 5, strings.Count(line, "|"), "four cells: %s", line)
	}
	require.GreaterOrEqual(t, rows, 21)
}

// testsOf is the text of every test file of a folder, given from the root.
func testsOf(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(folder), "*_test.go"))
	require.NoError(t, err)
	require.NotEmpty(t, files, folder)
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		all.WriteString("\n")
		all.Write(text)
	}
	return all.String()
}
