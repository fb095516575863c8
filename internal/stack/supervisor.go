package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Supervisor runs named members: programs that it starts, and clusters handed to
// it. A member that ends without being asked to is reported and ends Wait, which
// stops the rest, unless its Program says Restart. Safe for concurrent use.
type Supervisor struct {
	out    *lines
	failed chan error // the first unasked exit

	notes *notes // nil without KeepIn

	mu      sync.Mutex
	members []*entry // in the order they were added
	closing bool
}

// Member is something that runs until stopped; *Cluster is one.
type Member interface {
	// Done is closed when the member has ended.
	Done() <-chan struct{}
	// Stop ends the member and returns when it has ended, or had to be aborted
	// because ctx ended first.
	Stop(ctx context.Context) error
}

// entry is a member under its name.
type entry struct {
	name    string
	program *Program // nil when the member was handed to us
	member  Member
	asked   bool // its end is wanted
}

var errStopping = errors.New("the supervisor is stopping")

// NewSupervisor writes what happens, and the members' output, to out.
func NewSupervisor(out io.Writer) *Supervisor {
	return &Supervisor{out: &lines{to: out}, failed: make(chan error, 1)}
}

// Add hands over a running member, and prints where it listens.
func (s *Supervisor) Add(name, address string, member Member) error {
	added, err := s.reserve(name)
	if err != nil {
		return err
	}
	if !s.attach(added, member) {
		return errStopping
	}
	s.report(name, "ready at %s", address)
	return nil
}

// Start runs a program and returns its address when it is ready: what Ready
// matched, or the Probe. A program that ends or is not ready in
// time is an error, and is stopped.
func (s *Supervisor) Start(ctx context.Context, program Program) (string, error) {
	added, err := s.reserve(program.Name)
	if err != nil {
		return "", err
	}
	added.program = &program
	address, err := s.launch(ctx, added)
	if err != nil {
		s.forget(added)
	}
	return address, err
}

// Kill ends a member with the signal, for example syscall.SIGKILL, and returns
// when it has ended. The end is wanted: the others go on, also if the program
// says Restart. StartAgain starts it anew.
func (s *Supervisor) Kill(name string, sig syscall.Signal) error {
	member, err := s.ask(name)
	if err != nil {
		return err
	}
	running, ok := member.(*running)
	if !ok {
		return fmt.Errorf("%s is no program of this supervisor: stop it where it was started", name)
	}
	if err := running.child.signalGroup(sig); err != nil {
		return err
	}
	<-running.Done()
	s.report(name, "ended by %s, as asked", sig)
	return nil
}

// StartAgain starts a program that has ended, as Start did.
func (s *Supervisor) StartAgain(ctx context.Context, name string) (string, error) {
	s.mu.Lock()
	found := s.find(name)
	var before Member
	if found != nil {
		before = found.member
	}
	s.mu.Unlock()
	if before == nil || found.program == nil {
		return "", fmt.Errorf("no program named %q was started", name)
	}
	select {
	case <-before.Done():
		return s.launch(ctx, found)
	default:
		return "", fmt.Errorf("%s is still running", name)
	}
}

// PID is the process id of a running program, 0 when it has ended.
func (s *Supervisor) PID(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found := s.find(name); found != nil {
		if running, ok := found.member.(*running); ok && !running.child.ended() {
			return running.child.pid
		}
	}
	return 0
}

// Wait blocks until ctx ends or a member ends unasked, then stops all. It
// returns nil when ctx ended and everything stopped cleanly.
func (s *Supervisor) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return s.Stop()
	case err := <-s.failed:
		return errors.Join(err, s.Stop())
	}
}

// stopWithin bounds the stop of one member that says nothing else.
const stopWithin = 20 * time.Second

// Stop stops all members, the last added first. Stopping twice is harmless.
func (s *Supervisor) Stop() error {
	s.mu.Lock()
	s.closing = true
	var ready []entry // copies: what is not ready yet stops itself
	for _, e := range s.members {
		e.asked = true
		if e.member != nil {
			ready = append(ready, *e)
		}
	}
	s.mu.Unlock()
	var failures error
	for _, e := range slices.Backward(ready) {
		failures = errors.Join(failures, e.stop(e.member))
	}
	return errors.Join(failures, s.notes.release())
}

func (e *entry) stop(member Member) error {
	ctx, cancel := context.WithTimeout(context.Background(), e.patience())
	defer cancel()
	if err := member.Stop(ctx); err != nil {
		return fmt.Errorf("stop %s: %w", e.name, err)
	}
	return nil
}

func (e *entry) patience() time.Duration {
	if e.program != nil && e.program.StopWithin > 0 {
		return e.program.StopWithin
	}
	return stopWithin
}

// launch starts the entry's program and watches it once it is ready.
func (s *Supervisor) launch(ctx context.Context, e *entry) (string, error) {
	started, address, err := e.program.run(ctx, s.out, func(pid int) error { return s.notes.write(e.name, pid) })
	if err != nil {
		s.report(e.name, "did not start")
		return "", fmt.Errorf("start %s: %w", e.name, err)
	}
	if !s.attach(e, started) {
		return "", errors.Join(errStopping, e.stop(started))
	}
	s.report(e.name, "ready at %s (pid %d)", address, started.child.pid)
	return address, nil
}

// reserve takes the name before the member runs, which fixes the order.
func (s *Supervisor) reserve(name string) (*entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case name == "":
		return nil, errors.New("a member needs a name")
	case s.closing:
		return nil, errStopping
	case s.find(name) != nil:
		return nil, fmt.Errorf("%s was started already", name)
	}
	e := &entry{name: name}
	s.members = append(s.members, e)
	return e, nil
}

// forget frees the name of a program that did not start.
func (s *Supervisor) forget(e *entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.members = slices.DeleteFunc(s.members, func(other *entry) bool { return other == e })
}

// attach watches a member that has become ready; false when all are being
// stopped and the caller must stop this one.
func (s *Supervisor) attach(e *entry, member Member) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return false
	}
	e.member, e.asked = member, false
	go s.watch(e, member)
	return true
}

// watch reports the member's end and does what is said for an unasked one.
func (s *Supervisor) watch(e *entry, member Member) {
	<-member.Done()
	s.mu.Lock()
	asked := e.asked
	s.mu.Unlock()
	if asked {
		return
	}
	end := errors.New("ended")
	if running, ok := member.(*running); ok {
		end = running.end()
	}
	s.report(e.name, "%v, unasked", end)
	if e.program != nil && e.program.Restart {
		s.report(e.name, "starting again")
		if _, err := s.launch(context.Background(), e); err == nil {
			return
		}
	}
	select {
	case s.failed <- fmt.Errorf("%s %w, unasked", e.name, end):
	default: // not the first
	}
}

// ask marks a member's end as wanted, and returns it.
func (s *Supervisor) ask(name string) (Member, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.find(name)
	if found == nil || found.member == nil {
		return nil, fmt.Errorf("nothing named %q is running", name)
	}
	found.asked = true
	return found.member, nil
}

func (s *Supervisor) find(name string) *entry {
	for _, e := range s.members {
		if e.name == name {
			return e
		}
	}
	return nil
}

func (s *Supervisor) report(name, format string, args ...any) {
	s.out.line(name, fmt.Sprintf(format, args...))
}
