package docs_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each folder of the product, and each below internal/, has its place in architecture.md.
func TestEveryFolderHasItsPlaceInTheArchitecture(t *testing.T) {
	text := read(t, "architecture.md")
	for _, below := range []string{"", "internal"} {
		entries, err := os.ReadDir(filepath.Join("..", below))
		require.NoError(t, err)
		for _, entry := range entries {
			code, err := filepath.Glob(filepath.Join("..", below, entry.Name(), "*.go"))
			require.NoError(t, err)
			if len(code) > 0 || below != "" && entry.IsDir() {
				name := filepath.ToSlash(filepath.Join(below, entry.Name()))
				require.Regexp(t, "[`\"]"+name+"[`:]", text, "say in architecture.md what %s is", name)
			}
		}
	}
}
