package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"payonce/internal/stack"
	"payonce/internal/testkit/services"
)

// maxConnections leaves room for the pools of many test packages at once, each
// with its own databases, beside Temporal's.
const maxConnections = 400

// testStack is a running Postgres cluster with Temporal on it.
type testStack struct {
	where      services.Where
	dir        string
	cluster    *stack.Cluster
	supervisor *stack.Supervisor
}

// start builds what is stale and starts both. Output goes to stderr, so that the
// command's stdout stays its own.
func start(ctx context.Context, root string) (_ *testStack, err error) {
	binary, err := stack.BuildTemporal(ctx, root, os.Stderr)
	if err != nil {
		return nil, err
	}
	base := cmp.Or(memory(), os.TempDir())
	if err := removeAbandoned(base); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(base, fmt.Sprintf("%s%d-", dirPrefix, os.Getpid()))
	if err != nil {
		return nil, err
	}
	s := &testStack{dir: dir, supervisor: stack.NewSupervisor(os.Stderr)}
	if err := s.startServices(ctx, binary); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

// dirPrefix begins the name of a stack's directory; the process id follows.
const dirPrefix = "payonce-test-"

// removeAbandoned removes the directories of stacks that were killed: in memory
// they would take room until the next boot.
func removeAbandoned(base string) error {
	dirs, err := filepath.Glob(filepath.Join(base, dirPrefix+"*-*"))
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		name, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), dirPrefix), "-")
		pid, err := strconv.Atoi(name)
		if err != nil || !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			continue
		}
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

// memory is a file system in memory with room for test databases, or empty for
// the usual temporary directory. Cloning a database there takes half the time.
func memory() string {
	const shared, room = "/dev/shm", 4 << 30
	var there syscall.Statfs_t
	if err := syscall.Statfs(shared, &there); err != nil || there.Bavail*uint64(there.Bsize) < room {
		return ""
	}
	return shared
}

func (s *testStack) startServices(ctx context.Context, binary string) error {
	if err := os.Chmod(s.dir, 0o755); err != nil { // Postgres may run as another user
		return err
	}
	var err error
	s.cluster, err = stack.StartCluster(ctx, stack.ClusterConfig{
		StateDir:       filepath.Join(s.dir, "postgres"),
		Throwaway:      true,
		MaxConnections: maxConnections,
		Log:            os.Stderr,
	})
	if err != nil {
		return err
	}
	if err := s.supervisor.Add("postgres", s.cluster.SuperuserURL(), s.cluster); err != nil {
		return err
	}
	address, err := s.supervisor.Start(ctx, stack.TemporalProgram(stack.TemporalConfig{
		Binary:      binary,
		PostgresURL: s.cluster.SuperuserURL(),
		Listen:      "127.0.0.1:0",
		Namespace:   services.Namespace,
	}))
	s.where = services.Where{PostgresURL: s.cluster.SuperuserURL(), Temporal: address}
	return err
}

// wait returns when ctx ends, or with an error when a service does.
func (s *testStack) wait(ctx context.Context) error { return s.supervisor.Wait(ctx) }

// context ends with its parent, or, with the reason as its cause, when a service
// ends on its own. The services themselves go on until stop, or the cancel.
func (s *testStack) context(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	watching, stopWatching := context.WithCancel(context.WithoutCancel(parent))
	go func() {
		if err := s.supervisor.Wait(watching); err != nil {
			cancel(err)
		}
	}()
	return ctx, func() { cancel(nil); stopWatching() }
}

// stop stops both and deletes their data.
func (s *testStack) stop() error {
	err := s.supervisor.Stop()
	if s.cluster != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		err = errors.Join(err, s.cluster.Remove(ctx))
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}

// running returns the stack that the environment or the file of `teststack up`
// names, when both services answer.
func running(ctx context.Context) (services.Where, bool) {
	postgres, errPostgres := services.Postgres()
	temporal, errTemporal := services.Temporal()
	if errPostgres != nil || errTemporal != nil {
		return services.Where{}, false
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, postgres)
	if err != nil {
		return services.Where{}, false
	}
	_ = conn.Close(ctx)
	var dialer net.Dialer
	var closer io.Closer
	if closer, err = dialer.DialContext(ctx, "tcp", temporal); err != nil {
		return services.Where{}, false
	}
	_ = closer.Close()
	return services.Where{PostgresURL: postgres, Temporal: temporal}, true
}
