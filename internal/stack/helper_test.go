package stack_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	osexec "os/exec"
	"os/signal"
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
	case "parent": // starts a child that holds a connection, and is killed
		supervisor := stack.NewSupervisor(os.Stdout)
		_, err := supervisor.Start(context.Background(), program("child", "hold "+play[1]))
		must(err)
		<-stop
	case "orphan": // starts a Postgres as pg_ctl does: it outlives us
		cluster, err := stack.StartCluster(context.Background(), stack.ClusterConfig{StateDir: play[1], Throwaway: true})
		must(err)
		fmt.Println(cluster.Dir())
		must(cluster.Stop(context.Background()))
	}
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// orphanCluster leaves a cluster running in the state directory that no living
// process of ours watches, and returns its process id.
func orphanCluster(t *testing.T, state string) int {
	t.Helper()
	maker := osexec.Command(os.Args[0])
	maker.Env = append(os.Environ(), helperVariable+"=orphan "+state)
	said, err := maker.Output()
	require.NoError(t, err)
	dir := strings.TrimSpace(string(said))
	binaries, err := stack.FindPostgres(0)
	require.NoError(t, err)
	info, err := os.Stat(dir + "/data")
	require.NoError(t, err)
	port, err := os.ReadFile(dir + "/port")
	require.NoError(t, err)
	pgctl := osexec.Command(binaries.Dir+"/pg_ctl", "-D", dir+"/data", "-w", "-l", "/dev/null",
		"-o", "-c listen_addresses=127.0.0.1 -c unix_socket_directories= -c port="+strings.TrimSpace(string(port)), "start")
	pgctl.Dir = dir
	if owner := info.Sys().(*syscall.Stat_t); os.Geteuid() == 0 {
		pgctl.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}}
	}
	require.NoError(t, pgctl.Run())
	file, err := os.ReadFile(dir + "/data/postmaster.pid")
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.Split(string(file), "\n")[0])
	require.NoError(t, err)
	return pid
}
