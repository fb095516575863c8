package stack_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/internal/stack"
)

func TestWhatAKilledSupervisorLeftIsEndedByTheNext(t *testing.T) {
	dir := t.TempDir()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	parent := startHelper(t, "keeper "+dir+" "+listener.Addr().String(), "ready at")
	left, err := listener.Accept() // it holds this connection while it lives
	require.NoError(t, err)
	defer left.Close()
	second := stack.NewSupervisor(io.Discard)
	require.ErrorIs(t, second.KeepIn(dir), stack.ErrInUse, "the first lives")

	require.NoError(t, parent.Process.Kill())
	require.Error(t, parent.Wait())
	_, err = left.Write([]byte{1})
	require.NoError(t, err)
	_, err = io.ReadFull(left, make([]byte, 1))
	require.NoError(t, err, "it outlives its parent, and answers")

	var out safeBuffer
	next := stack.NewSupervisor(&out)
	require.NoError(t, next.KeepIn(dir))
	require.Contains(t, out.String(), "still running from an earlier run")
	_, err = io.ReadAll(left)
	require.NoError(t, err, "the connection ends when it does")
	require.NoError(t, next.Stop())
	again := stack.NewSupervisor(&out)
	require.NoError(t, again.KeepIn(dir), "the directory is free after a stop")
	require.NoError(t, again.Stop())
	require.Equal(t, 1, strings.Count(out.String(), "still running"))
}

func TestAProcessThatHasTheNumberOfAnEndedOneIsNotTouched(t *testing.T) {
	dir := t.TempDir()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	stranger := startHelper(t, "linger "+listener.Addr().String(), "listening on")
	held, err := listener.Accept()
	require.NoError(t, err)
	defer held.Close()
	for name, identity := range map[string]string{"api": "a-boot-long-ago/12345", "worker": ""} {
		write(t, filepath.Join(dir, name+".pid"), fmt.Sprintf("%d %s\n", stranger.Process.Pid, identity))
	}
	write(t, filepath.Join(dir, "twin.pid"), "no number\n")

	var out safeBuffer
	supervisor := stack.NewSupervisor(&out)
	require.NoError(t, supervisor.KeepIn(dir))
	defer func() { require.NoError(t, supervisor.Stop()) }()

	require.Empty(t, out.String())
	_, err = held.Write([]byte{1})
	require.NoError(t, err)
	_, err = io.ReadFull(held, make([]byte, 1))
	require.NoError(t, err, "it lives")
}

// startHelper runs the test binary in a part until it has printed the words.
func startHelper(t *testing.T, play, words string) *exec.Cmd {
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), helperVariable+"="+play)
	output, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGKILL) // ended already: no matter
		_ = command.Wait()
	})
	for lines := bufio.NewScanner(output); lines.Scan(); {
		if strings.Contains(lines.Text(), words) {
			return command
		}
	}
	require.FailNow(t, "the helper ended before it was ready")
	return nil
}
