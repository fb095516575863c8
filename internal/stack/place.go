package stack

import (
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

// takePlace makes the directory usable for the account, or another in its place,
// and locks it: see Reachable.
func takePlace(stateDir string, who account) (*place, error) {
	dir, err := reachable(stateDir, who)
	if err != nil {
		return nil, err
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
