package system

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/stretchr/testify/require"

	"payonce/internal/testkit/services"
	"payonce/internal/timing"
	"payonce/stripesim/control"
)

// Process is a payonce process of its own, for what only a SIGKILL shows.
type Process struct {
	Line string // what it printed when it was ready

	command *exec.Cmd
	ended   sync.Once
	system  *System
}

// built is the binary of this test run, built once.
var built = sync.OnceValues(func() (string, error) { //nolint:gochecknoglobals // written once, by itself
	root, err := services.ModuleRoot()
	if err != nil {
		return "", err
	}
	directory, err := os.MkdirTemp("", "payonce-test")
	if err != nil {
		return "", err
	}
	binary := filepath.Join(directory, "payonce")
	build := exec.CommandContext(context.Background(), "go", "build", "-o", binary, "./cmd/payonce")
	build.Dir, build.Stderr = root, os.Stderr
	return binary, build.Run()
})

// ServeProcess runs `payonce serve` as a process, and lets the twin's events go there.
func (s *System) ServeProcess() *Process {
	s.t.Helper()
	process := s.process("serve", "--listen", s.listen())
	_, address, found := strings.Cut(process.Line, "http://")
	require.True(s.t, found, process.Line)
	s.URL = "http://" + address
	s.Door = s.doorOf(s.URL)
	_, err := s.Twin.AddEndpoint(s.t.Context(), control.Endpoint{
		ID: "we_payonce", URL: s.Door, Secret: WebhookSecret, Account: AccountID,
	})
	require.NoError(s.t, err)
	return process
}

// listen keeps the address of an API that was served before, so that a restarted one is found.
func (s *System) listen() string {
	if s.URL == "" {
		return "127.0.0.1:0"
	}
	return strings.TrimPrefix(s.URL, "http://")
}

// WorkerProcess runs `payonce worker` as a process.
func (s *System) WorkerProcess() *Process {
	s.t.Helper()
	return s.process("worker")
}

func (s *System) process(arguments ...string) *Process {
	s.t.Helper()
	binary, err := built()
	require.NoError(s.t, err)
	keyset := filepath.Join(s.t.TempDir(), "keyset.json")
	require.NoError(s.t, os.WriteFile(keyset, s.Config.Keyset, 0o600))
	durations := "quick"
	if s.Config.Timing == timing.Production() {
		durations = "production"
	}
	command := exec.CommandContext(context.Background(), binary, append(arguments,
		"--database-url", s.Config.DatabaseURL, "--temporal", s.Config.TemporalAddress, "--namespace", s.Config.TemporalNamespace,
		"--task-queue", s.Config.TaskQueue, "--stripe-url", s.Config.StripeURL, "--keyset-file", keyset, "--timing", durations,
		"--allow-loopback", strings.Join(s.Config.AllowedLoopback, ","), "--log-level", "error")...)
	command.Stderr = os.Stderr
	output, err := command.StdoutPipe()
	require.NoError(s.t, err)
	require.NoError(s.t, command.Start())
	process := &Process{command: command, system: s}
	s.t.Cleanup(process.Kill)
	line, err := bufio.NewReader(output).ReadString('\n')
	require.NoError(s.t, err, "the process ended before it was ready")
	process.Line = strings.TrimSpace(line)
	return process
}

// Kill ends the process at once, as a kill -9 does, and waits until it is gone.
func (p *Process) Kill() {
	p.ended.Do(func() {
		_ = p.command.Process.Signal(syscall.SIGKILL)
		_ = p.command.Wait()
	})
}
