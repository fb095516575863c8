package mutant_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/internal/mutants/mutant"
)

func TestParseReadsTheHeadAndTheFilesOfAPatch(t *testing.T) {
	parsed, err := mutant.Parse("no-fence", `# protection: a fenced-out owner cannot complete
# package: ./boundaries/... ./activities
# run: TestFence
diff --git a/boundaries/complete.go b/boundaries/complete.go
--- a/boundaries/complete.go
+++ b/boundaries/complete.go
@@ -1,2 +1,1 @@
 UPDATE records
--- a comment of SQL that goes
diff --git a/ledger/post.go b/ledger/post.go
--- a/ledger/post.go
+++ b/ledger/post.go
@@ -1 +1 @@
-a
+b
`)
	require.NoError(t, err)
	require.Equal(t, "no-fence", parsed.Name)
	require.Equal(t, "a fenced-out owner cannot complete", parsed.Protection)
	require.Equal(t, []string{"./boundaries/...", "./activities"}, parsed.Packages)
	require.Equal(t, "TestFence", parsed.Run)
	require.Equal(t, []string{"boundaries/complete.go", "ledger/post.go"}, parsed.Files)
}

func TestParseRefusesWhatCouldNotProveAnything(t *testing.T) {
	const diff = "--- a/guard.go\n+++ b/guard.go\n@@ -1 +1 @@\n-a\n+b\n"
	for name, tc := range map[string]struct{ text, want string }{
		"no protection":     {"# package: ./...\n" + diff, "# protection"},
		"no package":        {"# protection: p\n" + diff, "# package"},
		"no diff":           {"# protection: p\n# package: ./...\n", "no diff"},
		"a file added":      {"# protection: p\n# package: ./...\n--- /dev/null\n+++ b/new.go\n", "adds and removes none"},
		"a file removed":    {"# protection: p\n# package: ./...\n--- a/old.go\n+++ /dev/null\n", "adds and removes none"},
		"outside the tree":  {"# protection: p\n# package: ./...\n--- a/../x.go\n+++ b/../x.go\n", "outside the module"},
		"a test is changed": {"# protection: p\n# package: ./...\n--- a/x_test.go\n+++ b/x_test.go\n", "is a test"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := mutant.Parse("m", tc.text)
			require.ErrorContains(t, err, tc.want)
		})
	}
}

func TestLoadTakesTheNamedMutantsAndRefusesUnknownNamesAndEmptyFolders(t *testing.T) {
	dir := t.TempDir()
	_, err := mutant.Load(dir, nil)
	require.ErrorContains(t, err, "no mutant in")

	text := "# protection: p\n# package: ./...\n--- a/guard.go\n+++ b/guard.go\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "one.patch"), []byte(text), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "two.patch"), []byte(text), 0o600))

	all, err := mutant.Load(dir, nil)
	require.NoError(t, err)
	require.Len(t, all, 2)
	named, err := mutant.Load(dir, []string{"two"})
	require.NoError(t, err)
	require.Len(t, named, 1)
	require.Equal(t, "two", named[0].Name)
	_, err = mutant.Load(dir, []string{"three"})
	require.ErrorContains(t, err, `no mutant "three"`)
}
