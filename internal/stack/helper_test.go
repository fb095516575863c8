package stack_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"payonce/internal/stack"
)

// helperVariable makes the test binary play a child instead of running tests.
const helperVariable = "PAYONCE_STACK_TEST_HELPER"

func TestMain(m *testing.M) {
	if play := os.Getenv(helperVariable); play != "" {
		helper(strings.Fields(play))
		return
	}
	goleak.VerifyTestMain(m)
}

// helper plays the named part.
func helper(play []string) {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	switch play[0] {
	case "serve": // is ready, and ends when asked
		fmt.Println("listening on 127.0.0.1:1234")
		<-stop
		fmt.Println("bye")
	case "stubborn": // is ready, and does not end
		fmt.Println("listening on 127.0.0.1:1234")
		for range stop {
		}
	case "exit": // ends at once
		code, _ := strconv.Atoi(play[1])
		os.Exit(code)
	case "http": // is ready when it answers
		listener, err := net.Listen("tcp", play[1])
		must(err)
		must(http.Serve(listener, http.NotFoundHandler()))
	case "hold": // keeps a connection open as long as it lives
		conn, err := net.Dial("tcp", play[1])
		must(err)
		fmt.Println("listening on 127.0.0.1:1234")
		_, _ = conn.Read(make([]byte, 1))
	case "linger": // answers on a connection until it is asked to end, whatever becomes of its parent
		must(outliveParent())
		conn, err := net.Dial("tcp", play[1])
		must(err)
		go func() { _, _ = io.Copy(conn, conn) }()
		fmt.Println("listening on 127.0.0.1:1234")
		<-stop
	case "keeper": // keeps its processes in a directory, starts one that lingers, and is killed
		supervisor := stack.NewSupervisor(os.Stdout)
		must(supervisor.KeepIn(play[1]))
		_, err := supervisor.Start(context.Background(), program("child", "linger "+play[2]))
		must(err)
		<-stop
	case "parent": // starts a child that holds a connection, and is killed
		supervisor := stack.NewSupervisor(os.Stdout)
		_, err := supervisor.Start(context.Background(), program("child", "hold "+play[1]))
		must(err)
		<-stop
	}
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// startOrphan runs a stopped cluster as an earlier run of ours left it: no living
// process watches it. It returns the process id.
func startOrphan(t *testing.T, stopped *stack.Cluster) int {
	t.Helper()
	binaries, err := stack.FindPostgres(0)
	require.NoError(t, err)
	data := filepath.Join(stopped.Dir(), "data")
	owner, err := os.Stat(data)
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(stopped.Address())
	require.NoError(t, err)
	start := exec.Command(filepath.Join(binaries.Dir, "pg_ctl"), "-D", data, "-w", "-l", os.DevNull,
		"-o", "-c listen_addresses=127.0.0.1 -c unix_socket_directories= -c port="+port, "start")
	start.Dir = stopped.Dir()
	if user := owner.Sys().(*syscall.Stat_t); os.Geteuid() == 0 {
		start.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user.Uid, Gid: user.Gid}}
	}
	require.NoError(t, start.Run())
	file, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.Split(string(file), "\n")[0])
	require.NoError(t, err)
	return pid
}
