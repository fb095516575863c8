package stack

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// child is a running process, started by us or found running.
type child struct {
	pid  int
	done chan struct{} // closed when it has ended
	err  error         // how it ended; read after done
}

// startChild starts cmd in its own process group, so that a Ctrl-C in the
// terminal reaches only us and we decide the order. If we die without stopping
// it, the kernel (Linux only) sends it onParentDeath.
func startChild(cmd *exec.Cmd, onParentDeath syscall.Signal) (*child, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	endWithParent(cmd.SysProcAttr, onParentDeath)
	cmd.WaitDelay = 2 * time.Second // a grandchild that keeps the pipes open
	c := &child{done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The kernel counts the thread that forked as the parent: it must live as
		// long as the child does.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := cmd.Start(); err != nil {
			started <- err
			return
		}
		c.pid = cmd.Process.Pid
		started <- nil
		c.err = cmd.Wait()
		close(c.done)
	}()
	return c, <-started
}

// adoptChild watches a process that an earlier run of ours started.
func adoptChild(pid int, isAlive func() bool) *child {
	c := &child{pid: pid, done: make(chan struct{})}
	go func() {
		defer close(c.done)
		for isAlive() {
			time.Sleep(50 * time.Millisecond)
		}
	}()
	return c
}

// ended says whether the process is gone.
func (c *child) ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// signal sends to the process alone; that it is gone already is no error.
func (c *child) signal(sig syscall.Signal) error { return c.send(c.pid, sig) }

// signalGroup sends to the process and to what it started.
func (c *child) signalGroup(sig syscall.Signal) error { return c.send(-c.pid, sig) }

func (c *child) send(to int, sig syscall.Signal) error {
	if c.ended() {
		return nil
	}
	if err := syscall.Kill(to, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("signal %s: %w", sig, err)
	}
	return nil
}
