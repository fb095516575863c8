package stack

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Reachable returns the state directory to use for dir, absolute, and made when it
// is missing: dir itself, or, where the user that runs Postgres cannot reach that
// (root's home is closed to others), one below os.TempDir() whose name follows from
// dir's, so that it is found again. Both are ours, and nobody else may write there.
func Reachable(dir string) (string, error) {
	who, err := postgresAccount()
	if err != nil {
		return "", err
	}
	return reachable(dir, who)
}

func reachable(dir string, who account) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if who.canTraverse(existing(dir)) {
		return dir, os.MkdirAll(dir, 0o755)
	}
	name := sha256.Sum256([]byte(dir))
	other := filepath.Join(os.TempDir(), "payonce-"+hex.EncodeToString(name[:6]))
	if !who.canTraverse(existing(other)) {
		return "", fmt.Errorf("the user that runs Postgres can reach neither %s nor %s: choose a state directory that others may enter", dir, other)
	}
	return other, makeOwn(other)
}

// existing is dir, or the nearest directory above it that is there.
func existing(dir string) string {
	for parent := filepath.Dir(dir); parent != dir; parent = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil {
			return dir
		}
		dir = parent
	}
	return dir
}

// makeOwn makes dir, and refuses one that somebody else made or may write to: below
// the temporary directory anyone may make a directory of that name.
func makeOwn(dir string) error {
	err := os.Mkdir(dir, 0o755)
	if err == nil {
		return nil
	}
	info, errStat := os.Lstat(dir)
	if errStat != nil {
		return err
	}
	status, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || !ok || int(status.Uid) != os.Geteuid() || info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s is not a directory of ours alone: look who made it and remove it, or choose another state directory", dir)
	}
	return nil
}
