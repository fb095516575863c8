package docs_test

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// The values that keys.md shows are those of the golden file.
func TestTheKeysShownAreTheDerivedOnes(t *testing.T) {
	var golden map[string]string
	require.NoError(t, json.Unmarshal([]byte(read(t, "../boundaries/testdata/keys.golden.json")), &golden))
	shown := regexp.MustCompile("(?m)\\| `([^`]+)` \\| ([^|`]+) \\|$").FindAllStringSubmatch(read(t, "keys.md"), -1)
	require.GreaterOrEqual(t, len(shown), 10)
	for _, row := range shown {
		require.Equal(t, golden[row[2]], row[1], "%s", row[2])
	}
}
