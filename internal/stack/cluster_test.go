package stack_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"payonce/internal/stack"
)

func TestClusterKeepsDataAndPortBetweenRuns(t *testing.T) {
	state := t.TempDir()
	first := startCluster(t, stack.ClusterConfig{StateDir: state, Throwaway: true})
	exec(t, first.SuperuserURL(), "CREATE TABLE kept AS SELECT 42 AS answer")
	require.NoError(t, first.Stop(t.Context()))
	require.NoError(t, first.Stop(t.Context()), "stopping twice is harmless")

	second := startCluster(t, stack.ClusterConfig{StateDir: state, Throwaway: true})

	require.Equal(t, "42", ask(t, second.SuperuserURL(), "SELECT answer::text FROM kept"))
	require.Equal(t, first.Address(), second.Address())
	require.NotEqual(t, first.PID(), second.PID())
}

func TestClusterIsDurableUnlessThrowaway(t *testing.T) {
	durable := startCluster(t, stack.ClusterConfig{StateDir: t.TempDir(), MaxConnections: 30})
	require.Equal(t, "on on on 30", ask(t, durable.SuperuserURL(), settings))

	throwaway := startCluster(t, stack.ClusterConfig{StateDir: t.TempDir(), Throwaway: true, MaxConnections: 40})
	require.Equal(t, "off off on 40", ask(t, throwaway.SuperuserURL(), settings))
}

const settings = `SELECT concat_ws(' ', current_setting('fsync'), current_setting('full_page_writes'),
	current_setting('synchronous_commit'), current_setting('max_connections'))`

func TestClusterListensOnLoopbackOnly(t *testing.T) {
	cluster := startCluster(t, stack.ClusterConfig{StateDir: t.TempDir(), Throwaway: true})
	require.Equal(t, "127.0.0.1", ask(t, cluster.SuperuserURL(), "SELECT current_setting('listen_addresses')"))
	require.Empty(t, ask(t, cluster.SuperuserURL(), "SELECT current_setting('unix_socket_directories')"))
}

func TestClusterRefusesADirectoryThatALivingProcessUses(t *testing.T) {
	state := t.TempDir()
	startCluster(t, stack.ClusterConfig{StateDir: state, Throwaway: true})

	_, err := stack.StartCluster(t.Context(), stack.ClusterConfig{StateDir: state, Throwaway: true})

	require.ErrorIs(t, err, stack.ErrInUse)
}

func TestClusterStartsAgainAfterPostgresWasKilled(t *testing.T) {
	state := t.TempDir()
	killed := startCluster(t, stack.ClusterConfig{StateDir: state, Throwaway: true})
	exec(t, killed.SuperuserURL(), "CREATE TABLE kept AS SELECT 42 AS answer")
	require.NoError(t, syscall.Kill(killed.PID(), syscall.SIGKILL))
	<-killed.Done()
	require.NoError(t, killed.Stop(t.Context()))

	again := startCluster(t, stack.ClusterConfig{StateDir: state, Throwaway: true})

	require.Equal(t, "42", ask(t, again.SuperuserURL(), "SELECT answer::text FROM kept"))
}

func TestClusterIgnoresAPidFileWhoseNumberBelongsToAnotherProgram(t *testing.T) {
	state := t.TempDir()
	first := startCluster(t, stack.ClusterConfig{StateDir: state, Throwaway: true})
	require.NoError(t, first.Stop(t.Context()))
	file := filepath.Join(first.Dir(), "data", "postmaster.pid")
	ours := strconv.Itoa(os.Getpid()) // alive, and no Postgres
	require.NoError(t, os.WriteFile(file, []byte(ours+"\n/data\n1\n5432\n\n127.0.0.1\n1 1\nready   \n"), 0o644))

	second := startCluster(t, stack.ClusterConfig{StateDir: state, Throwaway: true})

	require.Equal(t, "1", ask(t, second.SuperuserURL(), "SELECT '1'"))
}

func TestClusterAdoptsAPostgresThatOutlivedItsParent(t *testing.T) {
	state := t.TempDir()
	orphan := orphanCluster(t, state)
	var log bytes.Buffer

	adopted := startCluster(t, stack.ClusterConfig{StateDir: state, Throwaway: true, Log: &log})

	require.Contains(t, log.String(), "adopted")
	require.Equal(t, orphan, adopted.PID())
	require.Equal(t, "1", ask(t, adopted.SuperuserURL(), "SELECT '1'"))
	require.NoError(t, adopted.Stop(t.Context()))
	_, err := pgx.Connect(t.Context(), adopted.SuperuserURL())
	require.Error(t, err, "an adopted cluster is stopped like our own")
}

// startCluster starts a cluster and removes it with its data after the test.
func startCluster(t *testing.T, config stack.ClusterConfig) *stack.Cluster {
	t.Helper()
	cluster, err := stack.StartCluster(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cluster.Remove(context.Background())) })
	return cluster
}

func exec(t *testing.T, url, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	_, err = conn.Exec(t.Context(), sql)
	require.NoError(t, err)
}

func ask(t *testing.T, url, sql string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	var answer string
	require.NoError(t, conn.QueryRow(t.Context(), sql).Scan(&answer))
	return answer
}
