package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"payonce/internal/devstack"
	"payonce/internal/seal"
	"payonce/internal/stack"
)

const namespace = "payonce"

// Names of the processes that all sites share.
const (
	procTemporal = "temporal"
	procReceiver = "receiver"
	procBare     = "bare"
)

// place is what all sites share: the cluster, Temporal, the receiver and the bare workflow, each a process of its own.
type place struct {
	state      devstack.State
	bin        string
	cluster    *stack.Cluster
	supervisor *stack.Supervisor
	known      map[string]bool // programs that were started once
	log        *os.File
	temporal   string // host:port
	receiver   string // URL
	bare       string // URL
	arrivals   *arrivals
	keyset     []byte
	sealer     *seal.Sealer
}

// openPlace starts it. On an error, what was started is stopped.
func openPlace(ctx context.Context, o options, statements bool) (*place, error) {
	state, err := devstack.OpenState(o.state)
	if err != nil {
		return nil, err
	}
	log, err := os.Create(state.Path("bench.log"))
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	p := &place{state: state, bin: o.bin, log: log, known: map[string]bool{}, supervisor: stack.NewSupervisor(log)}
	if err := p.open(ctx, statements); err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

func (p *place) open(ctx context.Context, statements bool) error {
	if err := p.openKeyset(); err != nil {
		return err
	}
	if err := p.openCluster(ctx, statements); err != nil {
		return err
	}
	for _, start := range []func(context.Context) error{p.startTemporal, p.startReceiver, p.startBare} {
		if err := start(ctx); err != nil {
			return err
		}
	}
	var err error
	p.arrivals, err = listen(context.WithoutCancel(ctx), p.receiver)
	return err
}

func (p *place) openKeyset() (err error) {
	if p.keyset, err = seal.NewKeyset(); err != nil {
		return err
	}
	if err := os.WriteFile(p.keysetFile(), p.keyset, 0o600); err != nil {
		return fmt.Errorf("keyset: %w", err)
	}
	p.sealer, err = seal.New(p.keyset)
	return err
}

func (p *place) keysetFile() string { return p.state.Path("keyset.json") }

// openCluster runs a cluster as durable as in production. One that an earlier run left is emptied.
func (p *place) openCluster(ctx context.Context, statements bool) (err error) {
	config := stack.ClusterConfig{StateDir: p.state.Path("postgres"), Log: p.log}
	if p.cluster, err = stack.StartCluster(ctx, config); err != nil {
		return err
	}
	if err := p.empty(ctx); err != nil {
		return err
	}
	if !statements {
		return nil
	}
	if err := p.exec(ctx, `ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'`); err != nil {
		return err
	}
	if err := p.cluster.Stop(ctx); err != nil {
		return err
	}
	if p.cluster, err = stack.StartCluster(ctx, config); err != nil {
		return err
	}
	for _, statement := range []string{`LOAD 'pg_stat_statements'`, `ALTER SYSTEM SET pg_stat_statements.track_planning = on`, `SELECT pg_reload_conf()`} {
		if err := p.exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// empty drops what an earlier run left.
func (p *place) empty(ctx context.Context) error {
	conn, err := p.connect(ctx, "postgres")
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	rows, err := conn.Query(ctx, `SELECT datname FROM pg_database WHERE datname LIKE 'bench\_%'`)
	if err != nil {
		return fmt.Errorf("list databases: %w", err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("list databases: %w", err)
	}
	for _, name := range names {
		if _, err := conn.Exec(ctx, `DROP DATABASE `+pgx.Identifier{name}.Sanitize()+` WITH (FORCE)`); err != nil {
			return fmt.Errorf("drop database %s: %w", name, err)
		}
	}
	return nil
}

// connect opens a connection of the superuser.
func (p *place) connect(ctx context.Context, database string) (*pgx.Conn, error) {
	conn, err := pgx.Connect(ctx, p.cluster.URL("postgres", database))
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", database, err)
	}
	return conn, nil
}

// exec runs one statement as the superuser, outside of any site.
func (p *place) exec(ctx context.Context, statement string) error {
	return p.execIn(ctx, "postgres", statement)
}

func (p *place) execIn(ctx context.Context, database, statement string) error {
	conn, err := p.connect(ctx, database)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

// startTemporal starts it, later again on the same address.
func (p *place) startTemporal(ctx context.Context) (err error) {
	if p.temporal == "" {
		port, err := stack.FreePort()
		if err != nil {
			return err
		}
		p.temporal = "127.0.0.1:" + strconv.Itoa(port)
	}
	_, err = p.start(ctx, stack.TemporalProgram(stack.TemporalConfig{
		Binary: filepath.Join(p.bin, "temporal-dev"), PostgresURL: p.cluster.SuperuserURL(), Prefix: "bench_",
		Listen: p.temporal, Namespace: namespace,
	}))
	return err
}

func (p *place) startReceiver(ctx context.Context) (err error) {
	p.receiver, err = p.startSelf(ctx, procReceiver, `^receiver: listening on (\S+)`, childReceiver, "127.0.0.1:0")
	return err
}

func (p *place) startBare(ctx context.Context) (err error) {
	p.bare, err = p.startSelf(ctx, procBare, `^bare: listening on (\S+)`, childBare, "--temporal", p.temporal, "--namespace", namespace)
	return err
}

// startSelf starts this program as one of its children.
func (p *place) startSelf(ctx context.Context, name, ready string, arguments ...string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find our own program: %w", err)
	}
	return p.start(ctx, stack.Program{Name: name, Command: append([]string{self}, arguments...), Ready: regexp.MustCompile(ready)})
}

// start starts a program, for the first time or again.
func (p *place) start(ctx context.Context, program stack.Program) (string, error) {
	if p.known[program.Name] {
		return p.supervisor.StartAgain(ctx, program.Name)
	}
	address, err := p.supervisor.Start(ctx, program)
	if err == nil {
		p.known[program.Name] = true
	}
	return address, err
}

// stop asks a program to end, if it runs, and waits.
func (p *place) stop(name string) error { return p.kill(name, syscall.SIGTERM) }

func (p *place) kill(name string, signal syscall.Signal) error {
	if p.supervisor.PID(name) == 0 {
		return nil
	}
	return p.supervisor.Kill(name, signal)
}

// close stops everything and removes the cluster.
func (p *place) close() error {
	if p.arrivals != nil {
		p.arrivals.close()
	}
	err := p.supervisor.Stop()
	if p.cluster != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		err = errors.Join(err, p.cluster.Remove(ctx))
	}
	return errors.Join(err, p.log.Close())
}

// trust lets the receiver accept what the secret signs.
func (p *place) trust(ctx context.Context, secret string) error {
	_, err := post(ctx, p.receiver+pathTrust, strings.NewReader(secret))
	return err
}

// runBare runs a round of bare workflows.
func (p *place) runBare(ctx context.Context, inFlight int, during time.Duration) (bareRun, error) {
	var run bareRun
	asked, err := json.Marshal(bareOrder{InFlight: inFlight, Milliseconds: during.Milliseconds()})
	if err != nil {
		return run, err
	}
	answer, err := post(ctx, p.bare, bytes.NewReader(asked))
	if err != nil {
		return run, err
	}
	return run, json.Unmarshal(answer, &run)
}

// post sends a body and returns that of the answer, which must be a success.
func post(ctx context.Context, url string, body io.Reader) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, body)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode/100 != 2 {
		err = fmt.Errorf("POST %s: %d %s", url, response.StatusCode, answer)
	}
	return answer, err
}
