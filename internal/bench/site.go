package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/internal/postgres"
	"payonce/internal/stack"
	"payonce/internal/tenants"
	"payonce/notifications"
	"payonce/payments"
	"payonce/stripesim/control"
)

// The Stripe account of every site; the twin reads the account off the key.
const (
	accountID = "acct_bench"
	secretKey = "sk_test_bench" // of the twin: no secret
)

// callsPerSecond is what the token bucket towards Stripe is set to, so that it is on and does not limit.
const callsPerSecond = 1000

// site is one database with its Stripe twin, and payonce on it: as one process, or as API and workers apart.
type site struct {
	*place
	name      string
	database  string
	tenant    payments.TenantID
	endpoint  string // id of the registered receiver
	apiKey    string
	secret    string // signs events
	bucket    string // what was set of the token bucket, for people
	listen    string // host:port of the API, whichever process has it
	twinURL   string
	twin      *control.Client
	system    *pgxpool.Pool // of the system role, for provisioning
	shop      *shop
	processes []string // of payonce, that are running
}

// newSite makes the database and what payonce needs in it. Nothing runs yet.
func (p *place) newSite(ctx context.Context, name string) (*site, error) {
	port, err := stack.FreePort()
	if err != nil {
		return nil, err
	}
	s := &site{place: p, name: name, database: "bench_" + name, listen: "127.0.0.1:" + strconv.Itoa(port), secret: "whsec_" + rand.Text()}
	if err := p.exec(ctx, `CREATE DATABASE `+pgx.Identifier{s.database}.Sanitize()); err != nil {
		return nil, err
	}
	if err := postgres.Migrate(ctx, s.url("postgres")); err != nil {
		return nil, err
	}
	if s.system, err = s.openPool(ctx, postgres.RoleSystem, 4); err != nil {
		return nil, err
	}
	if err := s.provision(ctx); err != nil {
		return nil, fmt.Errorf("provision %s: %w", name, err)
	}
	s.shop = newShop("http://"+s.listen, s.apiKey, s.tenant, p.arrivals, "bench-")
	return s, nil
}

func (s *site) url(role string) string { return s.cluster.URL(role, s.database) }

// exec runs one statement in the site's database as the superuser.
func (s *site) exec(ctx context.Context, statement string) error {
	return s.execIn(ctx, s.database, statement)
}

// openPool opens a pool with the session settings of the product.
func (s *site) openPool(ctx context.Context, role string, connections int32) (*pgxpool.Pool, error) {
	return postgres.Open(ctx, postgres.PoolConfig{
		URL: s.url(role), MaxConns: connections, StatementTimeout: 10 * time.Second, LockTimeout: 5 * time.Second, IdleTransactionTimeout: 10 * time.Second,
	})
}

func (s *site) provision(ctx context.Context) error {
	account := payments.Account{ID: accountID}
	if err := tenants.CreateAccount(ctx, s.system, s.sealer, account, secretKey, []string{s.secret}); err != nil {
		return err
	}
	if err := s.setBucket(ctx); err != nil {
		return err
	}
	var err error
	if s.tenant, err = tenants.CreateTenant(ctx, s.system, "bench", account); err != nil {
		return err
	}
	if s.apiKey, err = tenants.CreateAPIKey(ctx, s.system, s.tenant, tenants.ScopeRead, tenants.ScopeWrite); err != nil {
		return err
	}
	addresses, err := notifications.NewAddresses([]string{s.receiverAddress()}, nil)
	if err != nil {
		return err
	}
	endpoint, secret, err := notifications.Create(ctx, s.system, s.sealer, addresses, s.tenant, s.receiver+"/messages")
	if err != nil {
		return err
	}
	s.endpoint = endpoint.String()
	return s.trust(ctx, secret)
}

// setBucket sets the token bucket of the account.
func (s *site) setBucket(ctx context.Context) error {
	s.bucket = fmt.Sprintf("%d/s for the account and for each endpoint", callsPerSecond)
	rate := float64(callsPerSecond)
	return tenants.LimitCalls(ctx, s.system, payments.Account{ID: accountID}, &rate, &rate)
}

func (s *site) receiverAddress() string { return strings.TrimPrefix(s.receiver, "http://") }

// clone copies the database, with all that is in it, into another site that has the same tenant and keys. Nothing may be connected but our pool,
// which is closed.
func (s *site) clone(ctx context.Context, name string) (*site, error) {
	port, err := stack.FreePort()
	if err != nil {
		return nil, err
	}
	s.system.Close()
	copied := *s
	copied.name, copied.database, copied.listen, copied.processes = name, "bench_"+name, "127.0.0.1:"+strconv.Itoa(port), nil
	err = s.place.exec(ctx, `CREATE DATABASE `+pgx.Identifier{copied.database}.Sanitize()+` TEMPLATE `+pgx.Identifier{s.database}.Sanitize()+` STRATEGY file_copy`)
	if err != nil {
		return nil, err
	}
	if err := copied.exec(ctx, `SELECT payonce.accept_database()`); err != nil {
		return nil, err
	}
	copied.twinURL = "http://127.0.0.1:9" // nothing is sent from there
	copied.shop = newShop("http://"+copied.listen, s.apiKey, s.tenant, s.arrivals, "bench-")
	if copied.system, err = copied.openPool(ctx, postgres.RoleSystem, 4); err != nil {
		return nil, err
	}
	s.system, err = s.openPool(ctx, postgres.RoleSystem, 4)
	return &copied, err
}

// startTwin starts the site's Stripe twin on the site's clock, its books in memory, and lets its events go to the site's API.
func (s *site) startTwin(ctx context.Context) (err error) {
	port, err := stack.FreePort()
	if err != nil {
		return err
	}
	s.twinURL, err = s.start(ctx, stack.Program{
		Name:    s.procTwin(),
		Command: []string{filepath.Join(s.bin, "stripesim"), "--listen", "127.0.0.1:" + strconv.Itoa(port)},
		Env: []string{
			"STRIPESIM_CLOCK_URL=" + s.url(postgres.RoleTwin), "STRIPESIM_STATE=", "STRIPESIM_LOG_LEVEL=WARN",
		},
		Ready: regexp.MustCompile(`^stripesim: listening on (\S+)`),
	})
	if err != nil {
		return err
	}
	s.twin = control.NewClient(s.twinURL, &http.Client{Timeout: 30 * time.Second})
	_, err = s.twin.AddEndpoint(ctx, control.Endpoint{URL: "http://" + s.listen + "/webhooks/stripe", Secret: s.secret, Account: accountID})
	return err
}

func (s *site) procTwin() string { return "twin-" + s.name }

// together is payonce in one process; apart is API and worker, each one.
func (s *site) together() []payonce {
	return []payonce{{name: "payonce-" + s.name, command: []string{"serve", "--worker"}}}
}

func (s *site) apart() []payonce {
	return []payonce{{name: "api-" + s.name, command: []string{"serve"}}, s.worker(1)}
}

func (s *site) worker(n int) payonce {
	return payonce{name: fmt.Sprintf("worker%d-%s", n, s.name), command: []string{"worker"}}
}

// payonce is a process of the product.
type payonce struct {
	name    string
	command []string // arguments
	program string   // empty: payonce
}

// run lets exactly these processes of payonce run.
func (s *site) run(ctx context.Context, wanted ...payonce) error {
	names := map[string]bool{}
	for _, process := range wanted {
		names[process.name] = true
	}
	for _, name := range s.processes {
		if !names[name] {
			if err := s.stop(name); err != nil {
				return err
			}
		}
	}
	s.processes = nil
	for _, process := range wanted {
		s.processes = append(s.processes, process.name)
		if s.supervisor.PID(process.name) != 0 {
			continue
		}
		if err := s.startPayonce(ctx, process); err != nil {
			return err
		}
	}
	return nil
}

func (s *site) startPayonce(ctx context.Context, process payonce) error {
	program := process.program
	if program == "" {
		program = filepath.Join(s.bin, "payonce")
	}
	_, err := s.start(ctx, stack.Program{
		Name: process.name, Command: append([]string{program}, process.command...), Env: s.environment(),
		Ready: regexp.MustCompile(`^payonce: (serving|worker) on`),
	})
	return err
}

// environment configures payonce as it runs in production, but for the addresses.
func (s *site) environment() []string {
	return []string{
		"PAYONCE_DATABASE_URL=" + s.url(postgres.RoleOwner), "PAYONCE_TENANT_DATABASE_URL=", "PAYONCE_SYSTEM_DATABASE_URL=",
		"PAYONCE_TEMPORAL=" + s.temporal, "PAYONCE_NAMESPACE=" + namespace, "PAYONCE_TASK_QUEUE=" + s.taskQueue(),
		"PAYONCE_STRIPE_URL=" + s.twinURL, "PAYONCE_KEYSET_FILE=" + s.keysetFile(), "PAYONCE_LISTEN=" + s.listen,
		"PAYONCE_ALLOW_LOOPBACK=" + s.receiverAddress(), "PAYONCE_TIMING=production", "PAYONCE_MAX_CONNS=20", "PAYONCE_LOG_LEVEL=info",
		"PAYONCE_SERVE_WORKER=false",
	}
}

func (s *site) taskQueue() string { return "bench-" + s.name }

// close ends what the site runs beside its processes.
func (s *site) close() {
	s.system.Close()
	s.shop.http.CloseIdleConnections()
}
