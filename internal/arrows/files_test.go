package arrows_test

import (
	"fmt"
	"go/ast"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/internal/mutants/mutant"
)

// maxLines is how long a file may be that is no test: one noun a file. About 300 is the aim.
const maxLines = 400

// longFiles are files that may be longer, each with its own ceiling and the reason.
var longFiles = map[string]struct {
	lines  int
	reason string
}{}

func TestFilesStaySmall(t *testing.T) {
	var long []string
	for _, file := range readTree(t) {
		if file.test || ast.IsGenerated(file.syntax) {
			continue
		}
		ceiling := maxLines
		if exception, listed := longFiles[file.path]; listed {
			require.NotEmpty(t, exception.reason, file.path)
			ceiling = exception.lines
		}
		if file.lines > ceiling {
			long = append(long, fmt.Sprintf("%s: %d lines, at most %d", file.path, file.lines, ceiling))
		}
	}
	require.Empty(t, long, "give each noun its own file, or list it in longFiles with a reason:\n%s", strings.Join(long, "\n"))
}

func TestEveryLongFileIsStillThereAndStillLong(t *testing.T) {
	lines := map[string]int{}
	for _, file := range readTree(t) {
		lines[file.path] = file.lines
	}
	for path := range longFiles {
		require.Greater(t, lines[path], maxLines, "%s needs no exception any more", path)
	}
}

func TestEveryPackageHasOneComment(t *testing.T) {
	wrong := commentFaults(readTree(t))
	require.Empty(t, wrong, "a package says once what it is, what it may import and what it must not know:\n%s", strings.Join(wrong, "\n"))
}

func TestAMissingADoubleAndAMisnamedCommentAreSeen(t *testing.T) {
	parse := func(place, text string) file {
		parsed, err := parseFile(place, []byte(text))
		require.NoError(t, err)
		return parsed
	}
	for want, files := range map[string][]file{
		"": {
			parse("good/doc.go", "// Package good is good.\npackage good\n"), parse("good/more.go", "package good\n"),
			parse("cmd/good/main.go", "// Command good is good.\npackage main\n"), parse("good/good_test.go", "package good_test\n"),
		},
		"payonce/none: 0 package comments":                                                                 {parse("none/none.go", "package none\n")},
		"payonce/two: 2 package comments (two/a.go, two/b.go)":                                             {parse("two/a.go", "// Package two.\npackage two\n"), parse("two/b.go", "// Package two.\npackage two\n")},
		`payonce/other: other/a.go begins neither with "Package other" nor, for a program, with "Command"`: {parse("other/a.go", "// Something.\npackage other\n")},
	} {
		require.Equal(t, want, strings.Join(commentFaults(files), "\n"))
	}
}

// commentFaults lists the packages whose comments are not exactly one, or do not begin as Go's tools expect.
func commentFaults(files []file) []string {
	comments := map[string][]string{}
	var faults []string
	for _, file := range files {
		if file.test || file.pkg == module {
			continue // the root holds no package of the product
		}
		commented := comments[file.pkg]
		if doc := file.syntax.Doc.Text(); doc != "" {
			commented = append(commented, file.path)
			command := file.name == "main" && strings.HasPrefix(doc, "Command ")
			if !command && !strings.HasPrefix(doc, "Package "+file.name) {
				faults = append(faults, fmt.Sprintf(`%s: %s begins neither with "Package %s" nor, for a program, with "Command"`, file.pkg, file.path, file.name))
			}
		}
		comments[file.pkg] = commented
	}
	for _, pkg := range slices.Sorted(maps.Keys(comments)) {
		switch len(comments[pkg]) {
		case 0:
			faults = append(faults, pkg+": 0 package comments")
		case 1:
		default:
			faults = append(faults, fmt.Sprintf("%s: %d package comments (%s)", pkg, len(comments[pkg]), strings.Join(comments[pkg], ", ")))
		}
	}
	return faults
}

func TestEveryMutantBreaksAFileThatIsThere(t *testing.T) {
	root := rootDir(t)
	mutants, err := mutant.Load(filepath.Join(root, mutant.Dir), nil)
	require.NoError(t, err)
	for _, m := range mutants {
		for _, file := range m.Files {
			_, err := os.Stat(filepath.Join(root, file))
			require.NoError(t, err, "mutant %s", m.Name)
		}
		for _, pattern := range m.Packages {
			_, err := os.Stat(filepath.Join(root, strings.TrimSuffix(pattern, "...")))
			require.NoError(t, err, "mutant %s", m.Name)
		}
	}
}
