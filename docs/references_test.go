package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	// symbol finds a declaration as the documents name it: a file from the root and a name, `file.go Name` or `file.go Type.Method`, in one code span.
	symbol = regexp.MustCompile("`([a-z][a-z0-9_/-]*\\.(?:go|sql)) ([A-Za-z_][A-Za-z0-9_.]*)`")

	// link finds a relative link.
	link = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
)

// documents are the paths, from here, of what people read: this folder, its decisions and each folder's README.
func documents(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"*.md", "decisions/*.md", "../*.md", "../*/README.md", "../*/*/README.md"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		all = append(all, found...)
	}
	require.Greater(t, len(all), 20)
	return all
}

// Whatever a document names in the code is there: a renamed function is a document to be changed.
func TestEverySymbolAndTestThatADocumentNamesExists(t *testing.T) {
	source := newSource()
	for _, document := range documents(t) {
		text := read(t, document)
		for _, at := range symbol.FindAllStringSubmatch(text, -1) {
			require.True(t, source.declares(t, at[1], at[2]), "%s names %s in %s, which does not declare it", document, at[2], at[1])
		}
		for _, at := range named.FindAllStringSubmatch(text, -1) {
			require.Contains(t, source.tests(t, at[1]), "\nfunc "+at[2]+"(t *testing.T) {", "%s names %s, which is not in %s", document, at[2], at[1])
		}
	}
}

func TestEveryRelativeLinkLeadsSomewhere(t *testing.T) {
	for _, document := range documents(t) {
		for _, at := range link.FindAllStringSubmatch(read(t, document), -1) {
			if strings.HasPrefix(at[1], "../bench/") {
				continue // written by make bench
			}
			_, err := os.Stat(filepath.Join(filepath.Dir(document), filepath.FromSlash(at[1])))
			require.NoError(t, err, "%s links to %s", document, at[1])
		}
	}
}

// The check itself sees what is missing.
func TestADeclarationIsFoundByItsFileAndName(t *testing.T) {
	source := newSource()
	require.True(t, source.declares(t, "payments/transitions.go", "Transitions"))
	require.True(t, source.declares(t, "payments/transitions.go", "Status.CanBecome"))
	require.True(t, source.declares(t, "payments/status.go", "StatusSucceeded"))
	require.True(t, source.declares(t, "boundaries/command.go", "Commands.attend"))
	require.True(t, source.declares(t, "internal/postgres/migrations/00004_commands.sql", "idempotency_records"))
	require.False(t, source.declares(t, "payments/transitions.go", "CanBecome"), "a method is named with its type")
	require.False(t, source.declares(t, "payments/status.go", "Transitions"), "another file declares it")
	require.False(t, source.declares(t, "payments/none.go", "Transitions"))
}

// source is what the documents are held against, read once.
type source struct {
	declared map[string]map[string]bool // by file
	tested   map[string]string          // by folder
}

func newSource() *source {
	return &source{declared: map[string]map[string]bool{}, tested: map[string]string{}}
}

// declares tells whether the file, given from the root, declares the name. Of SQL any word of the file counts.
func (s *source) declares(t *testing.T, file, name string) bool {
	t.Helper()
	if s.declared[file] == nil {
		s.declared[file] = declarations(t, file)
	}
	return s.declared[file][name]
}

func (s *source) tests(t *testing.T, folder string) string {
	t.Helper()
	if s.tested[folder] == "" {
		s.tested[folder] = testsOf(t, folder)
	}
	return s.tested[folder]
}

func declarations(t *testing.T, file string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	path := filepath.Join("..", filepath.FromSlash(file))
	if _, err := os.Stat(path); err != nil {
		return names
	}
	if strings.HasSuffix(file, ".sql") {
		for _, word := range regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`).FindAllString(read(t, path), -1) {
			names[word] = true
		}
		return names
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	for _, declaration := range parsed.Decls {
		switch declared := declaration.(type) {
		case *ast.FuncDecl:
			names[functionName(declared)] = true
		case *ast.GenDecl:
			for _, spec := range declared.Specs {
				for _, name := range specNames(spec) {
					names[name] = true
				}
			}
		}
	}
	return names
}

// functionName is `Name`, or `Type.Name` of a method.
func functionName(declared *ast.FuncDecl) string {
	if declared.Recv == nil {
		return declared.Name.Name
	}
	receiver := declared.Recv.List[0].Type
	if pointer, isPointer := receiver.(*ast.StarExpr); isPointer {
		receiver = pointer.X
	}
	if of, isName := receiver.(*ast.Ident); isName {
		return of.Name + "." + declared.Name.Name
	}
	return declared.Name.Name
}

// specNames are the names that a type, constant or variable declares, the fields and methods of a type as `Type.Name`.
func specNames(spec ast.Spec) []string {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		var names []string
		for _, name := range spec.Names {
			names = append(names, name.Name)
		}
		return names
	case *ast.TypeSpec:
		names := []string{spec.Name.Name}
		if fields, isStruct := spec.Type.(*ast.StructType); isStruct {
			for _, field := range fields.Fields.List {
				for _, name := range field.Names {
					names = append(names, spec.Name.Name+"."+name.Name)
				}
			}
		}
		return names
	default:
		return nil
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}
