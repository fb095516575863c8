package system

import (
	"net"
	"strings"
	"syscall"

	"github.com/stretchr/testify/require"
)

// Terminate asks the process to end, as a supervisor does. It does not wait: see Ended.
func (p *Process) Terminate() {
	p.system.t.Helper()
	require.NoError(p.system.t, p.command.Process.Signal(syscall.SIGTERM))
}

// Ended waits until the process has ended by itself and gives its exit code; -1 when a signal ended it.
func (p *Process) Ended() int {
	p.system.t.Helper()
	p.ended.Do(func() { _ = p.command.Wait() })
	return p.command.ProcessState.ExitCode()
}

// Listening tells whether the API takes connections.
func (s *System) Listening() bool {
	s.t.Helper()
	dialed, err := (&net.Dialer{}).DialContext(s.t.Context(), "tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		return false
	}
	return dialed.Close() == nil
}
