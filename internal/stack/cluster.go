package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// superuser owns a cluster made by StartCluster.
const superuser = "postgres"

// ClusterConfig says how to run a cluster.
type ClusterConfig struct {
	// StateDir holds the cluster's data, port, log and lock; it is created when
	// missing, and what it holds is kept between runs. Required.
	StateDir string
	// Throwaway trades durability for speed (fsync=off, full_page_writes=off): a
	// crash of the machine loses the cluster, a crash of Postgres does not.
	Throwaway bool
	// MaxConnections is Postgres's max_connections; 0 means 200.
	MaxConnections int
	// Log is told where the data went and whether a cluster was adopted; nil
	// tells nobody.
	Log io.Writer
}

// Cluster is a running Postgres cluster that listens on 127.0.0.1 alone and
// trusts every connection from there. It has no Unix socket.
type Cluster struct {
	config ClusterConfig
	place  *place
	who    account
	port   int
	server *child
}

// StartCluster makes the cluster if StateDir has none, and runs it; a cluster of
// this directory that is still running is adopted. It returns when Postgres
// accepts connections. ErrNoPostgres: nothing is installed. ErrInUse: another
// living process runs this directory.
func StartCluster(ctx context.Context, config ClusterConfig) (*Cluster, error) {
	if config.StateDir == "" {
		return nil, errors.New("stack: ClusterConfig.StateDir is required")
	}
	if config.MaxConnections == 0 {
		config.MaxConnections = 200
	}
	if config.Log == nil {
		config.Log = io.Discard
	}
	who, err := postgresAccount()
	if err != nil {
		return nil, err
	}
	place, err := takePlace(config.StateDir, who)
	if err != nil {
		return nil, err
	}
	c := &Cluster{config: config, place: place, who: who}
	if err := c.start(ctx); err != nil {
		return nil, errors.Join(err, place.release())
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context) error {
	if abs, _ := filepath.Abs(c.config.StateDir); abs != c.place.dir {
		fmt.Fprintf(c.config.Log, "postgres: %s cannot be reached by the user that runs Postgres; its data is in %s\n", abs, c.place.dir)
	}
	if adopted, err := c.adopt(ctx); adopted || err != nil {
		return err
	}
	binaries, err := FindPostgres(c.dataVersion())
	if err != nil {
		return err
	}
	if c.dataVersion() == 0 {
		if err := c.initialise(ctx, binaries); err != nil {
			return err
		}
	}
	return c.launch(ctx, binaries)
}

// dataVersion is the major version that made the data, 0 when there is none.
func (c *Cluster) dataVersion() int {
	text, err := os.ReadFile(filepath.Join(c.place.data(), "PG_VERSION"))
	if err != nil {
		return 0
	}
	major, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return major
}

// initialise runs initdb beside the final place and renames, so that a data
// directory is either whole or not there.
func (c *Cluster) initialise(ctx context.Context, binaries Postgres) error {
	fresh := c.place.data() + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return err
	}
	if err := os.Mkdir(fresh, 0o700); err != nil {
		return err
	}
	if err := c.who.own(fresh); err != nil {
		return err
	}
	args := []string{"-D", fresh, "--username=" + superuser, "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-instructions"}
	if c.config.Throwaway {
		args = append(args, "--no-sync")
	}
	initdb := exec.CommandContext(ctx, filepath.Join(binaries.Dir, "initdb"), args...)
	c.prepare(initdb)
	if said, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, said)
	}
	return os.Rename(fresh, c.place.data())
}

// Of a Postgres that was killed the processes of its sessions end a moment later, and until then another may not begin.
const (
	stillInUse  = "pre-existing shared memory block"
	launchAgain = 100 * time.Millisecond
	launches    = 100
)

// launch runs postgres and waits until it answers; what is left of one that was killed is waited for.
func (c *Cluster) launch(ctx context.Context, binaries Postgres) error {
	for n := 1; ; n++ {
		err := c.launchOnce(ctx, binaries)
		if err == nil || n == launches || !strings.Contains(err.Error(), stillInUse) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-time.After(launchAgain):
		}
	}
}

func (c *Cluster) launchOnce(ctx context.Context, binaries Postgres) error {
	port, err := keptPort(c.place.portFile())
	if err != nil {
		return err
	}
	c.port = port
	log, err := os.Create(c.place.logFile())
	if err != nil {
		return err
	}
	defer log.Close() // the child has its own copy
	server := exec.Command(filepath.Join(binaries.Dir, "postgres"), c.arguments()...)
	server.Stdout, server.Stderr = log, log
	c.prepare(server)
	// SIGINT is Postgres's fast shutdown: the data is clean even if we are killed.
	c.server, err = startChild(server, syscall.SIGINT)
	if err != nil {
		return fmt.Errorf("start postgres: %w", err)
	}
	if err := c.awaitAnswer(ctx); err != nil {
		tail, _ := os.ReadFile(c.place.logFile())
		return errors.Join(fmt.Errorf("postgres did not start: %w\n%s", err, lastBytes(tail, 2000)), c.shutdown(context.WithoutCancel(ctx)))
	}
	return nil
}

func (c *Cluster) arguments() []string {
	settings := []string{
		"listen_addresses=127.0.0.1",
		"port=" + strconv.Itoa(c.port),
		"unix_socket_directories=",
		"max_connections=" + strconv.Itoa(c.config.MaxConnections),
		"shared_buffers=256MB",
		"timezone=UTC",
		"log_timezone=UTC",
	}
	if c.config.Throwaway {
		settings = append(settings, "fsync=off", "full_page_writes=off")
	}
	args := []string{"-D", c.place.data()}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	return args
}

// prepare makes a Postgres program run as the account, in a directory that the
// account can be in, and without the PG* variables of our own environment.
func (c *Cluster) prepare(cmd *exec.Cmd) {
	cmd.Dir = c.place.dir
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "PG") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.who.credential()}
}

// awaitAnswer returns when Postgres accepts a connection, or has ended.
func (c *Cluster) awaitAnswer(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, c.SuperuserURL())
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-c.server.done:
			return fmt.Errorf("it ended: %w", errors.Join(c.server.err, err))
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// SuperuserURL is the URL of the superuser in the database postgres.
func (c *Cluster) SuperuserURL() string { return c.URL(superuser, "postgres") }

// URL is the URL of a database for a role; neither need exist yet.
func (c *Cluster) URL(role, database string) string {
	u := url.URL{Scheme: "postgres", User: url.User(role), Host: c.Address(), Path: "/" + database, RawQuery: "sslmode=disable"}
	return u.String()
}

// Address is where Postgres listens, 127.0.0.1:port.
func (c *Cluster) Address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port)) }

// Dir holds the data and postgres.log; it differs from StateDir when the user
// that runs Postgres cannot reach that.
func (c *Cluster) Dir() string { return c.place.dir }

// PID is the process id of the postmaster.
func (c *Cluster) PID() int { return c.server.pid }

// Done is closed when Postgres has ended, asked to or not.
func (c *Cluster) Done() <-chan struct{} { return c.server.done }

// Stop shuts Postgres down without waiting for its clients, and returns when it
// has ended. When ctx ends first it aborts Postgres, which then recovers at the
// next start. Stopping twice is harmless.
func (c *Cluster) Stop(ctx context.Context) error {
	return errors.Join(c.shutdown(ctx), c.place.release())
}

// Remove stops the cluster and deletes its directory with all data.
func (c *Cluster) Remove(ctx context.Context) error {
	return errors.Join(c.Stop(ctx), os.RemoveAll(c.place.dir))
}

func (c *Cluster) shutdown(ctx context.Context) error {
	if err := c.server.signal(syscall.SIGINT); err != nil {
		return err
	}
	select {
	case <-c.server.done:
		return nil
	case <-ctx.Done():
	}
	if err := c.server.signal(syscall.SIGQUIT); err != nil {
		return err
	}
	<-c.server.done
	return fmt.Errorf("postgres had to be aborted: %w", ctx.Err())
}

func lastBytes(text []byte, n int) []byte {
	if len(text) > n {
		return text[len(text)-n:]
	}
	return text
}
