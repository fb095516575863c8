package mutant

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Dir is where the patches are, from the root of the module.
const Dir = "testdata/mutants"

// Mutant is one protection taken out.
type Mutant struct {
	// Name is the patch's file name without its ending.
	Name string
	// Protection is what the patch takes out, in a sentence.
	Protection string
	// Packages are the patterns, as go test takes them, of the packages whose tests must notice.
	Packages []string
	// Run is a regular expression that selects the tests, as go test -run takes it; empty for all.
	Run string
	// Files are the files that the patch changes, from the root of the module, with slashes.
	Files []string

	patch []byte
}

// Load reads the patches of a folder in the order of their names: those named, or all when no name is given. It is an error if
// one cannot be parsed, if a name has no patch, and if there is none at all.
func Load(dir string, names []string) ([]Mutant, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.patch"))
	if err != nil {
		return nil, err
	}
	var mutants []Mutant
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".patch")
		if len(names) > 0 && !slices.Contains(names, name) {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		mutant, err := Parse(name, string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		mutants = append(mutants, mutant)
	}
	for _, name := range names {
		if !slices.ContainsFunc(mutants, func(m Mutant) bool { return m.Name == name }) {
			return nil, fmt.Errorf("no mutant %q in %s", name, dir)
		}
	}
	if len(mutants) == 0 {
		return nil, fmt.Errorf("no mutant in %s", dir)
	}
	return mutants, nil
}

// Parse reads a patch: lines `# protection:`, `# package:` (patterns with blanks between them) and, optionally, `# run:`, then a
// unified diff with a/ and b/ before the paths. It changes files and neither adds nor removes any.
func Parse(name, text string) (Mutant, error) {
	mutant := Mutant{Name: name, patch: []byte(strings.TrimRight(text, " \t\n") + "\n")}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		key, value, _ := strings.Cut(line, ": ")
		value = strings.TrimSpace(value)
		switch key {
		case "# protection":
			mutant.Protection = value
		case "# package":
			mutant.Packages = append(mutant.Packages, strings.Fields(value)...)
		case "# run":
			mutant.Run = value
		}
		before, isBefore := strings.CutPrefix(line, "--- ")
		after, isAfter := strings.CutPrefix(line, "+++ ")
		if before == "/dev/null" || after == "/dev/null" {
			return Mutant{}, errors.New("a mutant changes files, it adds and removes none")
		}
		if isBefore && !strings.HasPrefix(before, "a/") || isAfter && !strings.HasPrefix(after, "b/") {
			continue // a line of SQL or of a comment that was taken out or put in
		}
		if isAfter {
			path, _, _ := strings.Cut(strings.TrimPrefix(after, "b/"), "\t")
			mutant.Files = append(mutant.Files, path)
		}
	}
	return mutant, mutant.check()
}

// check says what a mutant lacks.
func (m Mutant) check() error {
	switch {
	case m.Protection == "":
		return errors.New("no line `# protection: …`: say what is taken out")
	case len(m.Packages) == 0:
		return errors.New("no line `# package: ./…`: say whose tests must notice")
	case len(m.Files) == 0:
		return errors.New("no diff with `--- a/…` and `+++ b/…`")
	}
	for _, file := range m.Files {
		if !filepath.IsLocal(filepath.FromSlash(file)) {
			return fmt.Errorf("%s is outside the module", file)
		}
		if strings.HasSuffix(file, "_test.go") {
			return fmt.Errorf("%s is a test: a mutant breaks what the tests protect", file)
		}
	}
	return nil
}
