package devstack

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAMissingProgramNamesTheCommandThatBuildsIt(t *testing.T) {
	dir := t.TempDir()
	config := Config{Executable: filepath.Join(dir, "payonce")}
	_, err := config.program("stripesim")
	require.ErrorContains(t, err, "run `make build`")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "stripesim"), 0o755))
	_, err = config.program("stripesim")
	require.ErrorContains(t, err, "run `make build`", "a directory is no program")

	require.NoError(t, os.WriteFile(filepath.Join(dir, "temporal-dev"), nil, 0o755))
	require.ErrorContains(t, config.check(), "stripesim")
	found, err := config.program("temporal-dev")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "temporal-dev"), found)
}

func TestDifferencesNameWhatIsNotAsInProduction(t *testing.T) {
	names := func(s *Stack) (names []string) {
		for _, difference := range s.Differences() {
			names = append(names, difference.Name)
		}
		return names
	}
	require.NotContains(t, names(&Stack{config: Config{Timing: "production"}}), "durations")
	require.NotContains(t, names(&Stack{config: Config{Timing: "production"}}), "webhook retries")
	require.Contains(t, names(&Stack{config: Config{Timing: "quick"}}), "durations")
	require.Contains(t, names(&Stack{config: Config{Twin: Twin{RetryScale: 0.1}}}), "webhook retries")
}
