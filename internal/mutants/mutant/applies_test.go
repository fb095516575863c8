package mutant

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/internal/testkit/services"
)

// A patch that the code has grown away from proves nothing: the fast tests say so, before the mutants are run.
func TestEveryPatchOfTheRepositoryApplies(t *testing.T) {
	root, err := services.ModuleRoot()
	require.NoError(t, err)
	mutants, err := Load(filepath.Join(root, Dir), nil)
	require.NoError(t, err)
	for _, m := range mutants {
		_, err := m.overlay(t.Context(), root, t.TempDir())
		require.NoError(t, err, m.Name)
	}
}
