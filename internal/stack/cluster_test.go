package stack_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"payonce/internal/stack"
)

func TestClusterIsDurableLocalAndAlone(t *testing.T) {
	state := t.TempDir()
	cluster := startCluster(t, stack.ClusterConfig{StateDir: state, MaxConnections: 30})
	require.Equal(t, "on on on 30", ask(t, cluster, settings))
	require.Equal(t, "127.0.0.1", ask(t, cluster, "SELECT current_setting('listen_addresses')"))
	require.Empty(t, ask(t, cluster, "SELECT current_setting('unix_socket_directories')"))

	_, err := stack.StartCluster(t.Context(), stack.ClusterConfig{StateDir: state})
	require.ErrorIs(t, err, stack.ErrInUse)
}

const settings = `SELECT concat_ws(' ', current_setting('fsync'), current_setting('full_page_writes'),
	current_setting('synchronous_commit'), current_setting('max_connections'))`

// One cluster for all, because making one is the slow part.
func TestClusterKeepsItsData(t *testing.T) {
	var log bytes.Buffer
	config := stack.ClusterConfig{StateDir: t.TempDir(), Throwaway: true, MaxConnections: 40, Log: &log}
	cluster := startCluster(t, config)
	require.Equal(t, "off off on 40", ask(t, cluster, settings))
	execute(t, cluster, "CREATE TABLE kept AS SELECT 42 AS answer")
	const kept = "SELECT answer::text FROM kept"
	pidFile := filepath.Join(cluster.Dir(), "data", "postmaster.pid")
	address := cluster.Address()

	t.Run("and its port when stopped and started", func(t *testing.T) {
		require.NoError(t, cluster.Stop(t.Context()))
		require.NoError(t, cluster.Stop(t.Context()), "stopping twice is harmless")
		cluster = startAgain(t, config)
		require.Equal(t, "42", ask(t, cluster, kept))
		require.Equal(t, address, cluster.Address())
	})
	t.Run("when Postgres is killed", func(t *testing.T) {
		require.NoError(t, syscall.Kill(cluster.PID(), syscall.SIGKILL))
		<-cluster.Done()
		require.NoError(t, cluster.Stop(t.Context()))
		require.FileExists(t, pidFile)
		cluster = startAgain(t, config)
		require.Equal(t, "42", ask(t, cluster, kept))
	})
	t.Run("when the number in a stale pid file is another program's", func(t *testing.T) {
		require.NoError(t, cluster.Stop(t.Context()))
		ours := strconv.Itoa(os.Getpid()) // alive, and no Postgres
		require.NoError(t, os.WriteFile(pidFile, []byte(ours+"\n/data\n1\n5432\n\n127.0.0.1\n1 1\nready   \n"), 0o644))
		cluster = startAgain(t, config)
		require.Equal(t, "42", ask(t, cluster, kept))
	})
	t.Run("when Postgres outlived its parent and is adopted", func(t *testing.T) {
		require.NoError(t, cluster.Stop(t.Context()))
		orphan := startOrphan(t, cluster)
		log.Reset()
		cluster = startAgain(t, config)
		require.Contains(t, log.String(), "adopted")
		require.Equal(t, orphan, cluster.PID())
		require.Equal(t, "42", ask(t, cluster, kept))
		require.NoError(t, cluster.Stop(t.Context()))
		_, err := pgx.Connect(t.Context(), cluster.SuperuserURL())
		require.Error(t, err, "an adopted cluster is stopped like our own")
	})
	require.NoError(t, cluster.Remove(t.Context()))
	require.NoDirExists(t, cluster.Dir())
}

// As root in a clone below root's home; any other user runs Postgres as themselves, and in the place that was asked for.
func TestAClusterBelowAClosedDirectoryKeepsItsData(t *testing.T) {
	closed, temp := t.TempDir(), t.TempDir()
	require.NoError(t, os.Chmod(closed, 0o700))
	require.NoError(t, os.Chmod(filepath.Dir(temp), 0o755))
	t.Setenv("TMPDIR", temp)
	var log bytes.Buffer
	config := stack.ClusterConfig{StateDir: filepath.Join(closed, "postgres"), Throwaway: true, Log: &log}
	cluster := startCluster(t, config)
	require.Equal(t, os.Geteuid() == 0, filepath.Dir(cluster.Dir()) == temp)
	require.Equal(t, os.Geteuid() == 0, strings.Contains(log.String(), cluster.Dir()), "the place is told")
	execute(t, cluster, "CREATE TABLE kept AS SELECT 42 AS answer")
	require.NoError(t, cluster.Stop(t.Context()))

	again := startCluster(t, config)
	require.Equal(t, cluster.Dir(), again.Dir())
	require.Equal(t, "42", ask(t, again, "SELECT answer::text FROM kept"))
}

// startCluster starts a cluster and removes it with its data after the test.
func startCluster(t *testing.T, config stack.ClusterConfig) *stack.Cluster {
	t.Helper()
	cluster, err := stack.StartCluster(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cluster.Remove(context.Background())) })
	return cluster
}

// startAgain starts the cluster of a test that removes it in the end.
func startAgain(t *testing.T, config stack.ClusterConfig) *stack.Cluster {
	t.Helper()
	cluster, err := stack.StartCluster(context.Background(), config)
	require.NoError(t, err)
	return cluster
}

func execute(t *testing.T, cluster *stack.Cluster, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), cluster.SuperuserURL())
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	_, err = conn.Exec(t.Context(), sql)
	require.NoError(t, err)
}

func ask(t *testing.T, cluster *stack.Cluster, sql string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), cluster.SuperuserURL())
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	var answer string
	require.NoError(t, conn.QueryRow(t.Context(), sql).Scan(&answer))
	return answer
}
