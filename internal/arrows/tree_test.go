package arrows_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// module is the module path of the product.
const module = "payonce"

// file is one Go file of the repository, of whatever operating system and build tag.
type file struct {
	path    string // from the root, with slashes
	pkg     string // import path of its folder
	name    string // of its package clause
	test    bool
	product bool // false in the modules that live beside the product's
	lines   int
	imports []string
	syntax  *ast.File
}

// readTree parses every Go file of the repository.
func readTree(t *testing.T) []file {
	t.Helper()
	root := rootDir(t)
	var files []file
	product := map[string]bool{}
	err := filepath.WalkDir(root, func(place string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			if place != root && (name == "testdata" || name == "bin" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
				return filepath.SkipDir
			}
			_, nested := os.Stat(filepath.Join(place, "go.mod"))
			product[place] = place == root || (nested != nil && product[filepath.Dir(place)])
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := os.ReadFile(place)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, place)
		if err != nil {
			return err
		}
		parsed, err := parseFile(filepath.ToSlash(relative), text)
		if err != nil {
			return err
		}
		parsed.product = product[filepath.Dir(place)]
		files = append(files, parsed)
		return nil
	})
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

// parseFile parses one file, given by its path from the root.
func parseFile(place string, text []byte) (file, error) {
	syntax, err := parser.ParseFile(token.NewFileSet(), place, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return file{}, err
	}
	parsed := file{
		path:    place,
		pkg:     path.Join(module, path.Dir(place)),
		name:    syntax.Name.Name,
		test:    strings.HasSuffix(place, "_test.go"),
		product: true,
		lines:   strings.Count(string(text), "\n"),
		syntax:  syntax,
	}
	for _, spec := range syntax.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return file{}, err
		}
		parsed.imports = append(parsed.imports, imported)
	}
	return parsed, nil
}

// rootDir is the root of the repository: this package is two folders below it.
func rootDir(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	require.NoError(t, err)
	_, err = os.Stat(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	return root
}
