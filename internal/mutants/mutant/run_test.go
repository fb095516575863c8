package mutant_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/internal/mutants/mutant"
)

// tinyModule is a module with one protection, one file embedded in it, and the tests that hold them.
var tinyModule = map[string]string{
	"go.mod": "module example\n\ngo 1.24\n",
	"guard.go": `package example

import _ "embed"

//go:embed limit.txt
var limit string

// Allowed holds a floor and nothing else.
func Allowed(amount int) bool {
	if amount < 0 {
		return false
	}
	return true
}
`,
	"limit.txt": "floor\n",
	"guard_test.go": `package example

import "testing"

func TestFloor(t *testing.T) {
	if Allowed(-1) {
		t.Fatal("below the floor")
	}
}

func TestZero(t *testing.T) {
	if !Allowed(0) {
		t.Fatal("zero is allowed")
	}
}

func TestLimit(t *testing.T) {
	if limit != "floor\n" {
		t.Fatal(limit)
	}
}
`,
	"failing/failing.go":      "package failing\n",
	"failing/failing_test.go": "package failing\n\nimport \"testing\"\n\nfunc TestNever(t *testing.T) { t.Fatal() }\n",
}

// patchOf is a patch of guard.go that puts one line in place of another; the line numbers in its head are wrong on purpose.
func patchOf(head, before, after string) string {
	return head + "--- a/guard.go\n+++ b/guard.go\n@@ -3,9 +3,9 @@\n func Allowed(amount int) bool {\n" +
		"-" + before + "\n+" + after + "\n 		return false\n"
}

func TestRunGivesTheVerdictThatTheTestsDeserve(t *testing.T) {
	const all = "# protection: the floor\n# package: ./\n"
	for name, tc := range map[string]struct {
		patch   string
		verdict mutant.Verdict
		reason  string
	}{
		"a test fails": {
			patchOf(all, "	if amount < 0 {", "	if false {"),
			mutant.Caught, "by TestFloor",
		},
		"the selected tests look elsewhere": {
			patchOf(all+"# run: TestZero\n", "	if amount < 0 {", "	if false {"),
			mutant.Survived, "pass without this protection",
		},
		"the code panics": {
			patchOf(all+"# run: TestFloor\n", "	if amount < 0 {", "	go panic(amount); select {}; if true {"),
			mutant.Caught, "panicked",
		},
		"the mutated code does not compile": {
			patchOf(all, "	if amount < 0 {", "	if undefined {"),
			mutant.Broken, "does not build",
		},
		"the code that the patch means is gone": {
			patchOf(all, "	if amount < 1 {", "	if false {"),
			mutant.Broken, "does not apply",
		},
		"the patch changes nothing": {
			patchOf(all, "	if amount < 0 {", "	if amount < 0 {"),
			mutant.Broken, "as it is",
		},
		"no test is selected": {
			patchOf(all+"# run: TestOfAnotherDay\n", "	if amount < 0 {", "	if false {"),
			mutant.Broken, "no test passes",
		},
		"the tests fail without a mutant": {
			patchOf("# protection: the floor\n# package: ./failing\n", "	if amount < 0 {", "	if false {"),
			mutant.Broken, "fail as the code is",
		},
		"there is no such package": {
			patchOf("# protection: the floor\n# package: ./missing\n", "	if amount < 0 {", "	if false {"),
			mutant.Broken, "do not build as the code is",
		},
		"an embedded file is mutated": {
			all + "--- a/limit.txt\n+++ b/limit.txt\n@@ -1 +1 @@\n-floor\n+no floor\n",
			mutant.Caught, "by TestLimit",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := writeModule(t)
			parsed, err := mutant.Parse("m", tc.patch)
			require.NoError(t, err)
			var progress bytes.Buffer
			runner := mutant.Runner{Root: root, Progress: &progress}

			results, err := runner.Run(t.Context(), []mutant.Mutant{parsed})
			require.NoError(t, err)
			require.Len(t, results, 1)
			require.Equal(t, tc.verdict, results[0].Verdict, "%s\n%s", results[0].Reason, progress.String())
			require.Contains(t, results[0].Reason, tc.reason)
			require.True(t, strings.HasPrefix(progress.String(), "[1/1] "+string(tc.verdict)), progress.String())
			requireUntouched(t, root)
		})
	}
}

func TestReportEndsWithTheCountsAndFailsUnlessAllAreCaught(t *testing.T) {
	caught := mutant.Result{Mutant: mutant.Mutant{Name: "one"}, Verdict: mutant.Caught}
	survived := mutant.Result{Mutant: mutant.Mutant{Name: "two"}, Verdict: mutant.Survived}
	broken := mutant.Result{Mutant: mutant.Mutant{Name: "three"}, Verdict: mutant.Broken}
	for _, tc := range []struct {
		results []mutant.Result
		last    string
		wantErr error
	}{
		{nil, "mutants: total=0 caught=0", mutant.ErrNotAllCaught},
		{[]mutant.Result{caught}, "mutants: total=1 caught=1", nil},
		{[]mutant.Result{caught, survived}, "mutants: total=2 caught=1", mutant.ErrNotAllCaught},
		{[]mutant.Result{caught, broken}, "mutants: total=2 caught=1", mutant.ErrNotAllCaught},
	} {
		var printed bytes.Buffer
		require.ErrorIs(t, mutant.Report(&printed, tc.results), tc.wantErr)
		lines := strings.Split(strings.TrimSpace(printed.String()), "\n")
		require.Equal(t, tc.last, lines[len(lines)-1])
	}
}

// writeModule writes the tiny module into a folder of its own.
func writeModule(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for path, text := range tinyModule {
		require.NoError(t, os.MkdirAll(filepath.Join(root, filepath.Dir(path)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(root, path), []byte(text), 0o600))
	}
	return root
}

// requireUntouched requires that no file of the module was written.
func requireUntouched(t *testing.T, root string) {
	t.Helper()
	for path, want := range tinyModule {
		got, err := os.ReadFile(filepath.Join(root, path))
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
}
