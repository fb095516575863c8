package stack

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// place is a directory that holds a cluster: data, the port file, the log and
// the lock that says that a living process uses it.
type place struct {
	dir  string
	lock *os.File
}

// ErrInUse says that another living process uses the directory.
var ErrInUse = errors.New("another process uses this state directory")

// takePlace makes the directory usable for the account and locks it. Where the
// account cannot reach stateDir (root's home is closed to others) it takes a
// directory below os.TempDir instead, whose name follows from stateDir's.
func takePlace(stateDir string, who account) (*place, error) {
	stateDir, err := filepath.Abs(stateDir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(stateDir, 0o755); err != nil {
		return nil, err
	}
	dir := stateDir
	if !who.canTraverse(stateDir) {
		name := sha256.Sum256([]byte(stateDir))
		dir = filepath.Join(os.TempDir(), "payonce-postgres-"+hex.EncodeToString(name[:6]))
		if err := makeOwn(dir, who); err != nil {
			return nil, err
		}
	}
	lock, err := tryLock(filepath.Join(dir, "lock"))
	if err != nil {
		return nil, err
	}
	return &place{dir: dir, lock: lock}, nil
}

// tryLock locks a file of a state directory as long as it stays open and we live.
func tryLock(path string) (*os.File, error) {
	lock, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: stop it, or use another state directory: %s", ErrInUse, filepath.Dir(path)), lock.Close())
	}
	return lock, nil
}

// makeOwn creates dir for the account, and refuses one that somebody else made:
// below the temporary directory anyone may create a directory of that name.
func makeOwn(dir string, who account) error {
	err := os.Mkdir(dir, 0o700)
	if err == nil {
		return who.own(dir)
	}
	info, errStat := os.Lstat(dir)
	if errStat != nil {
		return err
	}
	if !info.IsDir() || !who.owns(info) {
		return fmt.Errorf("%s exists and does not belong to the user that runs Postgres", dir)
	}
	return nil
}

func (p *place) data() string     { return filepath.Join(p.dir, "data") }
func (p *place) portFile() string { return filepath.Join(p.dir, "port") }
func (p *place) logFile() string  { return filepath.Join(p.dir, "postgres.log") }

// release gives the lock up; the directory stays. Releasing twice is harmless.
func (p *place) release() error {
	if err := p.lock.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}
