package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"payonce/activities"
	"payonce/boundaries"
	"payonce/internal/budget"
	"payonce/internal/postgres"
	"payonce/internal/seal"
	"payonce/internal/stripeapi"
	"payonce/notifications"
	"payonce/recovery"
	"payonce/workflows"
)

// App is the built system; nothing runs before Serve or Work.
type App struct {
	Config     Config
	Log        *slog.Logger
	Tenant     *pgxpool.Pool // the API's role
	System     *pgxpool.Pool // the worker's, the webhooks' and the recovery loops' role
	Sealer     *seal.Sealer
	Temporal   client.Client
	Commands   *boundaries.Commands
	Activities *activities.Activities
	Dispatcher *notifications.Dispatcher

	waker   *workflows.Waker
	settled *boundaries.Settled
	unwoken atomic.Bool // a request's wake-up failed a moment ago
	repeats *boundaries.Repeats
	stored  recovery.Nudge // an event was stored in this process
}

// Open builds the system. The Temporal client connects when it is first used, so that commands are accepted while Temporal is down.
func Open(ctx context.Context, config Config, log *slog.Logger) (*App, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	a := &App{Config: config, Log: log, settled: boundaries.NewSettled(), repeats: boundaries.NewRepeats(), stored: recovery.NewNudge()}
	if err := a.open(ctx); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

func (a *App) open(ctx context.Context) (err error) {
	if a.Sealer, err = seal.New(a.Config.Keyset); err != nil {
		return err
	}
	if a.Tenant, err = a.pool(ctx, a.Config.TenantDatabaseURL, postgres.RoleTenant); err != nil {
		return err
	}
	if a.System, err = a.pool(ctx, a.Config.SystemDatabaseURL, postgres.RoleSystem); err != nil {
		return err
	}
	a.Temporal, err = client.NewLazyClient(client.Options{
		HostPort: a.Config.TemporalAddress, Namespace: a.Config.TemporalNamespace, Logger: sdklog.NewStructuredLogger(a.Log),
		// Back within a second or two of Temporal: gRPC's own back-off grows to minutes.
		ConnectionOptions: client.ConnectionOptions{DialOptions: []grpc.DialOption{grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second}, MinConnectTimeout: 2 * time.Second,
		})}},
	})
	if err != nil {
		return fmt.Errorf("temporal client: %w", err)
	}
	stripe, err := stripeapi.New(a.Config.StripeURL, nil)
	if err != nil {
		return err
	}
	a.waker = &workflows.Waker{Client: a.Temporal, TaskQueue: a.Config.TaskQueue, Timing: a.Config.Timing}
	a.Commands = boundaries.NewCommands(a.Tenant, a.Sealer, a.Config.Timing, a.settled, a.repeats)
	if a.Dispatcher, err = a.dispatcher(); err != nil {
		return err
	}
	a.Activities = &activities.Activities{
		Pool: a.System, Sealer: a.Sealer, Stripe: stripe, Calls: boundaries.NewCalls(a.System, a.Sealer, a.Config.Timing),
		Budget: budget.New(a.System), Timing: a.Config.Timing, Settled: a.settled, Nudge: a.Dispatcher.Nudge, Waker: a.waker, Log: a.Log,
	}
	return nil
}

func (a *App) pool(ctx context.Context, given, role string) (*pgxpool.Pool, error) {
	url, err := a.Config.roleURL(given, role)
	if err != nil {
		return nil, err
	}
	return postgres.Open(ctx, postgres.PoolConfig{
		URL: url, MaxConns: a.Config.MaxConns, StatementTimeout: a.Config.Timing.Statement, LockTimeout: a.Config.Timing.Lock,
		IdleTransactionTimeout: a.Config.Timing.IdleTransaction,
	})
}

func (a *App) dispatcher() (*notifications.Dispatcher, error) {
	addresses, err := notifications.NewAddresses(a.Config.AllowedLoopback, nil)
	if err != nil {
		return nil, err
	}
	durations := a.Config.Timing
	config := notifications.DefaultConfig()
	config.PollInterval, config.SendTimeout = durations.LoopEvery, durations.Deliver
	config.BackoffFirst, config.BackoffMax, config.MaxAge = durations.DeliverRetry, durations.DeliverMaximum, durations.DeliverGiveUp
	config.MarkTimeout = durations.Statement
	config.Lease = config.SendTimeout + config.MarkTimeout + durations.Deliver
	return notifications.NewDispatcher(a.System, a.Sealer, addresses, config, a.Log)
}

// Ready tells whether requests can be served: the database answers and has every migration that this binary knows.
func (a *App) Ready(ctx context.Context) error {
	var newest int64
	err := a.System.QueryRow(ctx, `SELECT max(version_id) FROM payonce.schema_version WHERE is_applied`).Scan(&newest)
	if err != nil {
		return fmt.Errorf("read schema version: %w", err)
	}
	if want := postgres.NewestMigration(); newest < want {
		return fmt.Errorf("the schema is at migration %d and this binary needs %d: run `payonce migrate`", newest, want)
	}
	return nil
}

// Close releases what Open took.
func (a *App) Close() {
	if a.Temporal != nil {
		a.Temporal.Close()
	}
	for _, pool := range []*pgxpool.Pool{a.Tenant, a.System} {
		if pool != nil {
			pool.Close()
		}
	}
}

// CheckClock refuses a database whose clock has an offset, where production times apply: an offset is for tests.
func (a *App) CheckClock(ctx context.Context, production bool) error {
	var zero bool
	if err := a.System.QueryRow(ctx, `SELECT offset_interval = interval '0' FROM payonce.clock_offset`).Scan(&zero); err != nil {
		return fmt.Errorf("read clock offset: %w", err)
	}
	if production && !zero {
		return errors.New("payonce.clock_offset is not zero: production runs on the real time")
	}
	return nil
}
