package stack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"time"
)

// Program is a child process and how to see that it is ready.
type Program struct {
	// Name stands before its output and in Kill and StartAgain. Required.
	Name string
	// Command is the program and its arguments. Required.
	Command []string
	// Dir is the working directory; empty means ours.
	Dir string
	// Env is added to our environment, KEY=value.
	Env []string
	// Ready matches the line of stdout that says that the program is ready; its
	// last group, or without groups the whole match, is the address.
	Ready *regexp.Regexp
	// Probe is a URL that answers 2xx when the program is ready; used when Ready
	// is nil. With neither the program is ready when it runs.
	Probe string
	// ReadyWithin bounds the wait; 0 means one minute.
	ReadyWithin time.Duration
	// StopWithin bounds the time between SIGTERM and SIGKILL; 0 means 20 s.
	StopWithin time.Duration
	// Restart starts the program again, and says so, when it ends unasked.
	Restart bool
}

// running is a Program that runs.
type running struct {
	child *child
}

// run starts the program, tells its process id to note, and waits until it is ready.
func (p *Program) run(ctx context.Context, out *lines, note func(pid int) error) (*running, string, error) {
	if len(p.Command) == 0 {
		return nil, "", errors.New("it has no command")
	}
	matched := make(chan string, 1)
	cmd := exec.Command(p.Command[0], p.Command[1:]...)
	cmd.Dir = p.Dir
	cmd.Env = append(os.Environ(), p.Env...)
	cmd.Stdout = out.watch(p.Name, p.Ready, matched)
	cmd.Stderr = out.of(p.Name)
	started, err := startChild(cmd, syscall.SIGKILL)
	if err != nil {
		return nil, "", err
	}
	r := &running{child: started}
	var address string
	if err = note(started.pid); err == nil {
		address, err = p.awaitReady(ctx, r, matched)
	}
	if err != nil {
		_ = started.signalGroup(syscall.SIGKILL)
		<-r.Done()
		return nil, "", err
	}
	return r, address, nil
}

func (p *Program) awaitReady(ctx context.Context, r *running, matched <-chan string) (string, error) {
	within := p.ReadyWithin
	if within == 0 {
		within = time.Minute
	}
	ctx, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("not ready within %s", within))
	defer cancel()
	switch {
	case p.Ready != nil:
		select {
		case address := <-matched:
			return address, nil
		case <-r.Done():
			return "", fmt.Errorf("it %w before it was ready", r.end())
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	case p.Probe != "":
		return p.Probe, p.awaitProbe(ctx, r)
	default:
		return p.Command[0], nil
	}
}

// awaitProbe asks the URL until it answers 2xx.
func (p *Program) awaitProbe(ctx context.Context, r *running) error {
	client := &http.Client{Timeout: 2 * time.Second}
	defer client.CloseIdleConnections()
	for {
		if answers(ctx, client, p.Probe) {
			return nil
		}
		select {
		case <-r.Done():
			return fmt.Errorf("it %w before it was ready", r.end())
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func answers(ctx context.Context, client *http.Client, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode/100 == 2
}

// Done is closed when the program has ended.
func (r *running) Done() <-chan struct{} { return r.child.done }

// Stop asks with SIGTERM, and when ctx ends first kills.
func (r *running) Stop(ctx context.Context) error {
	if err := r.child.signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-r.Done():
		return nil
	case <-ctx.Done():
	}
	err := r.child.signalGroup(syscall.SIGKILL)
	<-r.Done()
	return errors.Join(errors.New("it did not stop in time and was killed"), err)
}

// end says how an ended program ended.
func (r *running) end() error {
	if r.child.err != nil {
		return fmt.Errorf("ended: %w", r.child.err)
	}
	return errors.New("ended with exit code 0")
}
