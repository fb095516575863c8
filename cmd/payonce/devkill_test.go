package main_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/internal/stack"
	"payonce/internal/testkit/services"
)

// A kill -9 of `payonce dev` leaves what it leaves. The next one on the same state ends or takes over what is its own and goes on with the data.
func TestDevGoesOnWhereAKilledOneEnded(t *testing.T) {
	t.Parallel()
	program := buildPrograms(t)
	state := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(state), 0o755)) // so that Postgres can reach it
	port, err := stack.FreePort()
	require.NoError(t, err)
	dev := func() *devProcess {
		return startDev(t, program, "--state", state, "--listen", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), "--log-level", "warn")
	}

	first := dev()
	require.Equal(t, http.StatusCreated, first.pay(t))
	second := startDevExpecting(t, program, "another process uses this state directory", "--state", state, "--listen", "127.0.0.1:1")
	require.NotZero(t, second, "a living one is left alone")
	require.NoError(t, first.command.Process.Signal(syscall.SIGKILL))
	_ = first.command.Wait() // it was killed

	next := dev()
	require.Equal(t, http.StatusCreated, next.pay(t))
	require.Equal(t, "true", next.header.Get("Idempotent-Replayed"), "it is the payment of before the kill")
	require.NoError(t, next.command.Process.Signal(syscall.SIGTERM))
	require.NoError(t, next.command.Wait())
}

// buildPrograms builds payonce with what it runs beside it.
func buildPrograms(t *testing.T) (payonce string) {
	t.Helper()
	root, err := services.ModuleRoot()
	require.NoError(t, err)
	dir := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", dir, "./cmd/payonce", "./cmd/stripesim")
	build.Dir, build.Stderr = root, os.Stderr
	require.NoError(t, build.Run())
	temporal, err := stack.BuildTemporal(t.Context(), root, os.Stderr)
	require.NoError(t, err)
	require.NoError(t, os.Symlink(temporal, filepath.Join(dir, "temporal-dev")))
	return filepath.Join(dir, "payonce")
}

// devProcess is a `payonce dev` that runs.
type devProcess struct {
	command *exec.Cmd
	url     string
	keyFile string
	header  http.Header // of the last answer
}

// startDev runs dev until it has said where everything is.
func startDev(t *testing.T, program string, arguments ...string) *devProcess {
	t.Helper()
	command, said := command(t, program, arguments...)
	dev := &devProcess{command: command}
	for said.Scan() {
		for _, word := range strings.Fields(said.Text()) {
			switch {
			case strings.HasSuffix(word, "/v1/payments"):
				dev.url = word
			case strings.HasSuffix(word, "api_key"):
				dev.keyFile = word
			}
		}
		if strings.Contains(said.Text(), "doctor --database-url") {
			go func() { // it must not wait for a reader
				for said.Scan() {
				}
			}()
			return dev
		}
		t.Log(said.Text())
	}
	require.FailNow(t, "payonce dev ended before it was ready")
	return nil
}

// startDevExpecting runs a dev that ends at once with the words, and returns its exit code.
func startDevExpecting(t *testing.T, program, words string, arguments ...string) int {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, append([]string{"dev"}, arguments...)...)
	said, err := command.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(said), words)
	return command.ProcessState.ExitCode()
}

func command(t *testing.T, program string, arguments ...string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	command := exec.CommandContext(context.Background(), program, append([]string{"dev"}, arguments...)...)
	output, err := command.StdoutPipe()
	require.NoError(t, err)
	command.Stderr = command.Stdout
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		if command.ProcessState == nil { // the test failed on the way
			_ = command.Process.Signal(syscall.SIGTERM)
			_ = command.Wait()
		}
	})
	return command, bufio.NewScanner(output)
}

// pay sends one and the same order.
func (d *devProcess) pay(t *testing.T) int {
	t.Helper()
	key, err := os.ReadFile(d.keyFile)
	require.NoError(t, err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.url,
		strings.NewReader(`{"reference":"order-1","amount":1999,"currency":"eur","payment_method":"pm_card_visa"}`))
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(key)))
	request.Header.Set("Idempotency-Key", "my-first-order")
	request.Header.Set("Prefer", "wait=30")
	request.Header.Set("Content-Type", "application/json")
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	require.NoError(t, err)
	defer func() { require.NoError(t, answer.Body.Close()) }()
	_, err = io.Copy(io.Discard, answer.Body)
	require.NoError(t, err)
	d.header = answer.Header
	return answer.StatusCode
}
