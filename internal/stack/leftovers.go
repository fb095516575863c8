package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// KeepIn makes the supervisor note in dir which processes it starts, after it has
// ended those that an earlier one noted there and left running: only Linux ends
// children with their parent, and not those that ask it not to. A process counts
// as left only when it is the very one that was noted; another that has its
// number now is not touched. To be called before Start.
//
// The directory is taken until Stop. ErrInUse: a living supervisor has it.
func (s *Supervisor) KeepIn(dir string) error {
	lock, err := tryLock(filepath.Join(dir, "lock"))
	if err != nil {
		return err
	}
	s.notes = &notes{dir: dir, lock: lock}
	return s.endLeftovers()
}

// endLeftovers asks all at once, and kills what does not end.
func (s *Supervisor) endLeftovers() error {
	left, err := s.notes.left()
	if err != nil {
		return err
	}
	for _, l := range left {
		s.report(l.name, "still running from an earlier run (pid %d): ending it", l.pid)
		if err := l.signal(l.pid, syscall.SIGTERM); err != nil {
			return err
		}
	}
	patience, cancel := context.WithTimeout(context.Background(), stopWithin)
	defer cancel()
	for _, l := range left {
		if l.gone(patience) {
			continue
		}
		if err := l.kill(); err != nil {
			return err
		}
	}
	return s.notes.clear()
}

// notes are the processes of a supervisor, a file each.
type notes struct {
	dir  string
	lock *os.File
}

// leftover is a process of an earlier supervisor that still runs.
type leftover struct {
	name     string
	pid      int
	identity string
}

func (n *notes) file(name string) string { return filepath.Join(n.dir, name+".pid") }

// write notes a process that was just started.
func (n *notes) write(name string, pid int) error {
	if n == nil {
		return nil
	}
	return os.WriteFile(n.file(name), fmt.Appendf(nil, "%d %s\n", pid, identityOf(pid)), 0o644)
}

// left lists the noted processes that still run.
func (n *notes) left() ([]leftover, error) {
	files, err := filepath.Glob(n.file("*"))
	if err != nil {
		return nil, err
	}
	var left []leftover
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		number, identity, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
		pid, err := strconv.Atoi(number)
		if err == nil && pid > 1 && identity != "" && identityOf(pid) == identity {
			left = append(left, leftover{strings.TrimSuffix(filepath.Base(file), ".pid"), pid, identity})
		}
	}
	return left, nil
}

// clear forgets what has ended.
func (n *notes) clear() error {
	files, err := filepath.Glob(n.file("*"))
	for _, file := range files {
		err = errors.Join(err, os.Remove(file))
	}
	return err
}

// release gives the directory up. Releasing twice is harmless.
func (n *notes) release() error {
	if n == nil {
		return nil
	}
	if err := n.lock.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

func (l leftover) signal(to int, sig syscall.Signal) error {
	if err := syscall.Kill(to, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("end %s of an earlier run (pid %d): %w", l.name, l.pid, err)
	}
	return nil
}

// kill ends the process and what it started.
func (l leftover) kill() error {
	if err := l.signal(-l.pid, syscall.SIGKILL); err != nil {
		return err
	}
	dying, cancel := context.WithTimeout(context.Background(), stopWithin)
	defer cancel()
	if !l.gone(dying) {
		return fmt.Errorf("%s of an earlier run (pid %d) cannot be ended", l.name, l.pid)
	}
	return nil
}

// gone waits until the process has ended, false when ctx ends first.
func (l leftover) gone(ctx context.Context) bool {
	for identityOf(l.pid) == l.identity {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(20 * time.Millisecond):
		}
	}
	return true
}
