package stack_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/internal/stack"
)

func TestSupervisorReturnsTheAddressThatTheProgramPrints(t *testing.T) {
	var out safeBuffer
	supervisor := stack.NewSupervisor(&out)

	address, err := supervisor.Start(t.Context(), program("api", "serve"))

	require.NoError(t, err)
	require.Equal(t, "127.0.0.1:1234", address)
	require.NotZero(t, supervisor.PID("api"))
	require.NoError(t, supervisor.Stop())
	require.Contains(t, out.String(), "api          | listening on 127.0.0.1:1234\n")
	require.Contains(t, out.String(), "api          | ready at 127.0.0.1:1234")
	require.Contains(t, out.String(), "api          | bye\n")
}

func TestSupervisorWaitsForTheProbe(t *testing.T) {
	port, err := stack.FreePort()
	require.NoError(t, err)
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	supervisor := stack.NewSupervisor(io.Discard)
	defer func() { require.NoError(t, supervisor.Stop()) }()
	probed := program("api", "http "+address)
	probed.Ready, probed.Probe = nil, "http://"+address+"/"
	probed.ReadyWithin = 300 * time.Millisecond

	_, err = supervisor.Start(t.Context(), probed)

	require.ErrorContains(t, err, "not ready within 300ms", "it answers, but not 2xx")
}

func TestSupervisorStopsInReverseOrder(t *testing.T) {
	var out safeBuffer
	supervisor := stack.NewSupervisor(&out)
	for _, name := range []string{"first", "second", "third"} {
		_, err := supervisor.Start(t.Context(), program(name, "serve"))
		require.NoError(t, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	require.NoError(t, supervisor.Wait(ctx))

	byes := regexp.MustCompile(`(\w+) +\| bye`).FindAllStringSubmatch(out.String(), -1)
	require.Len(t, byes, 3)
	require.Equal(t, []string{"third", "second", "first"}, []string{byes[0][1], byes[1][1], byes[2][1]})
}

func TestSupervisorReportsAnUnaskedExitAndStopsTheRest(t *testing.T) {
	var out safeBuffer
	supervisor := stack.NewSupervisor(&out)
	_, err := supervisor.Start(t.Context(), program("stays", "serve"))
	require.NoError(t, err)
	_, err = supervisor.Start(t.Context(), program("leaves", "serve"))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(supervisor.PID("leaves"), syscall.SIGKILL))

	err = supervisor.Wait(t.Context())

	require.ErrorContains(t, err, "leaves ended: signal: killed, unasked")
	require.Zero(t, supervisor.PID("stays"))
	require.Contains(t, out.String(), "stays        | bye\n")
}

func TestSupervisorRestartsOnlyWhatSaysSoAndSaysIt(t *testing.T) {
	var out safeBuffer
	supervisor := stack.NewSupervisor(&out)
	restarting := program("worker", "serve")
	restarting.Restart = true
	_, err := supervisor.Start(t.Context(), restarting)
	require.NoError(t, err)
	before := supervisor.PID("worker")

	require.NoError(t, syscall.Kill(before, syscall.SIGKILL))

	out.await(t, "worker       | starting again", "worker       | ready at", "worker       | ready at")
	require.NotEqual(t, before, supervisor.PID("worker"))
	require.NoError(t, supervisor.Stop())
}

func TestSupervisorKillsAndStartsAgainOnDemand(t *testing.T) {
	supervisor := stack.NewSupervisor(io.Discard)
	_, err := supervisor.Start(t.Context(), program("worker", "stubborn"))
	require.NoError(t, err)
	_, err = supervisor.Start(t.Context(), program("other", "serve"))
	require.NoError(t, err)
	before := supervisor.PID("worker")
	_, err = supervisor.StartAgain(t.Context(), "worker")
	require.ErrorContains(t, err, "still running")

	require.NoError(t, supervisor.Kill("worker", syscall.SIGKILL))

	require.Zero(t, supervisor.PID("worker"))
	require.NotZero(t, supervisor.PID("other"), "the others go on")
	_, err = supervisor.StartAgain(t.Context(), "worker")
	require.NoError(t, err)
	require.NotZero(t, supervisor.PID("worker"))
	require.NotEqual(t, before, supervisor.PID("worker"))
	require.NoError(t, supervisor.Kill("worker", syscall.SIGKILL))
	require.NoError(t, supervisor.Stop())
}

func TestSupervisorKillsWhatDoesNotStop(t *testing.T) {
	supervisor := stack.NewSupervisor(io.Discard)
	stubborn := program("stubborn", "stubborn")
	stubborn.StopWithin = 50 * time.Millisecond
	_, err := supervisor.Start(t.Context(), stubborn)
	require.NoError(t, err)

	require.ErrorContains(t, supervisor.Stop(), "did not stop in time and was killed")
	require.Zero(t, supervisor.PID("stubborn"))
}

func TestSupervisorRefusesWhatEndsBeforeItIsReadyAndFreesTheName(t *testing.T) {
	supervisor := stack.NewSupervisor(io.Discard)
	_, err := supervisor.Start(t.Context(), program("api", "exit 3"))
	require.ErrorContains(t, err, "start api: it ended: exit status 3 before it was ready")

	_, err = supervisor.Start(t.Context(), program("api", "serve"))
	require.NoError(t, err)
	_, err = supervisor.Start(t.Context(), program("api", "serve"))
	require.ErrorContains(t, err, "started already")
	require.NoError(t, supervisor.Stop())
	_, err = supervisor.Start(t.Context(), program("late", "serve"))
	require.ErrorContains(t, err, "stopping")
}

func TestSupervisorWatchesAMemberHandedToIt(t *testing.T) {
	supervisor := stack.NewSupervisor(io.Discard)
	member := member{ended: make(chan struct{})}
	require.NoError(t, supervisor.Add("postgres", "127.0.0.1:1", member))
	require.ErrorContains(t, supervisor.Kill("postgres", syscall.SIGKILL), "no program of this supervisor")

	other := stack.NewSupervisor(io.Discard)
	require.NoError(t, other.Add("postgres", "127.0.0.1:1", member))
	close(member.ended)

	require.ErrorContains(t, other.Wait(t.Context()), "postgres ended, unasked")
	require.NoError(t, supervisor.Stop())
}

// member ends when its channel is closed.
type member struct{ ended chan struct{} }

func (m member) Done() <-chan struct{}      { return m.ended }
func (m member) Stop(context.Context) error { return nil }

// program is this test binary playing a part (see helper).
func program(name, play string) stack.Program {
	return stack.Program{
		Name:    name,
		Command: []string{os.Args[0]},
		Env:     []string{helperVariable + "=" + play},
		Ready:   regexp.MustCompile(`listening on (\S+)`),
	}
}

// safeBuffer collects output from several goroutines and can be waited on.
type safeBuffer struct {
	mu      sync.Mutex
	buffer  bytes.Buffer
	written chan struct{}
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.written != nil {
		close(b.written)
		b.written = nil
	}
	return b.buffer.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

// await returns when every wanted text was written, each as often as it is named.
func (b *safeBuffer) await(t *testing.T, wanted ...string) {
	t.Helper()
	count := map[string]int{}
	for _, text := range wanted {
		count[text]++
	}
	for {
		b.mu.Lock()
		missing := false
		for text, times := range count {
			missing = missing || strings.Count(b.buffer.String(), text) < times
		}
		if b.written == nil {
			b.written = make(chan struct{})
		}
		written := b.written
		b.mu.Unlock()
		if !missing {
			return
		}
		select {
		case <-written:
		case <-t.Context().Done():
			t.Fatal("the output never came")
		}
	}
}
