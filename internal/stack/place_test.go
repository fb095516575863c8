package stack

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// stranger is a user that owns nothing here.
func stranger() account { return account{uid: 54321, gid: 54321, switched: true} }

// closed is a directory that others cannot enter, as root's home is.
func closed(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	return dir
}

// temporary makes os.TempDir a directory of the test that others may enter.
func temporary(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o755))
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	t.Setenv("TMPDIR", dir)
	return dir
}

func TestADirectoryBelowAClosedOneCannotBeReached(t *testing.T) {
	inner := filepath.Join(closed(t), "inner")
	require.NoError(t, os.Mkdir(inner, 0o755))

	require.False(t, stranger().canTraverse(inner))
	require.True(t, stranger().canTraverse(filepath.Dir(os.TempDir())))
	require.True(t, account{}.canTraverse(inner), "who stays the same user is not asked")
}

func TestAStateDirectoryThatPostgresCannotReachIsElsewhereAndFoundAgain(t *testing.T) {
	clone := filepath.Join(closed(t), "clone")
	asked, temp := filepath.Join(clone, ".payonce", "dev"), temporary(t)

	elsewhere, err := reachable(asked, stranger())
	require.NoError(t, err)
	require.Equal(t, temp, filepath.Dir(elsewhere))
	require.True(t, stranger().canTraverse(elsewhere))
	require.NoDirExists(t, clone, "nothing is made where nothing is kept")
	again, err := reachable(asked, stranger())
	require.NoError(t, err)
	require.Equal(t, elsewhere, again)
	other, err := reachable(filepath.Join(clone, ".payonce", "demo"), stranger())
	require.NoError(t, err)
	require.NotEqual(t, elsewhere, other)

	same, err := reachable(asked, account{})
	require.NoError(t, err)
	require.Equal(t, asked, same, "who stays the same user reaches what is theirs")
	require.DirExists(t, asked)
}

func TestWithoutAnyDirectoryThatPostgresCanReachTheErrorSaysWhatToDo(t *testing.T) {
	t.Setenv("TMPDIR", closed(t))
	_, err := reachable(filepath.Join(closed(t), "dev"), stranger())
	require.ErrorContains(t, err, "choose a state directory")
}

func TestADirectoryThatOthersMayWriteToIsRefused(t *testing.T) {
	asked, _ := filepath.Join(closed(t), "dev"), temporary(t)
	elsewhere, err := reachable(asked, stranger())
	require.NoError(t, err)
	require.NoError(t, os.Chmod(elsewhere, 0o777))
	_, err = reachable(asked, stranger())
	require.ErrorContains(t, err, "not a directory of ours alone")

	require.NoError(t, os.Remove(elsewhere))
	require.NoError(t, os.Symlink(t.TempDir(), elsewhere))
	_, err = reachable(asked, stranger())
	require.ErrorContains(t, err, "not a directory of ours alone")
}
