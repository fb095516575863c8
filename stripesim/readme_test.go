package stripesim_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReadmeNamesOnlyTestsThatExist(t *testing.T) {
	sources, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	exists := map[string]bool{}
	for _, source := range sources {
		text, err := os.ReadFile(source)
		require.NoError(t, err)
		for _, match := range regexp.MustCompile(`(?m)^func (Test\w+)`).FindAllStringSubmatch(string(text), -1) {
			exists[match[1]] = true
		}
	}
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	named := regexp.MustCompile(`\bTest[A-Z]\w+`).FindAllString(string(readme), -1)
	require.NotEmpty(t, named)
	for _, name := range named {
		require.True(t, exists[name], name)
	}
}
