package stack

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// stranger is a user that owns nothing here.
func stranger() account { return account{uid: 54321, gid: 54321, switched: true} }

func TestADirectoryBelowAClosedOneCannotBeReached(t *testing.T) {
	closed := t.TempDir() // 0700 above it
	inner := filepath.Join(closed, "inner")
	require.NoError(t, os.Mkdir(inner, 0o755))
	require.NoError(t, os.Chmod(closed, 0o700))

	require.False(t, stranger().canTraverse(inner))
	require.True(t, stranger().canTraverse(filepath.Dir(os.TempDir())))
	require.True(t, account{}.canTraverse(inner), "who stays the same user is not asked")
}

func TestTheTemporaryDirectoryOfAnotherUserIsRefused(t *testing.T) {
	taken := filepath.Join(t.TempDir(), "taken")
	require.NoError(t, os.Mkdir(taken, 0o777)) // ours, not the stranger's

	require.ErrorContains(t, makeOwn(taken, stranger()), "does not belong to")
}
