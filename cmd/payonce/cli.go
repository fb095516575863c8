package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"payonce/internal/app"
	"payonce/internal/timing"
)

// cli are the subcommands, in the order in which one meets them.
type cli struct {
	Dev       devCommand       `cmd:"" help:"Run everything on this machine: Postgres, Temporal, the Stripe twin, API and worker."`
	Demo      demoCommand      `cmd:"" help:"Drive 200 orders through the whole system under faults, and prove the outcome."`
	Serve     serveCommand     `cmd:"" help:"Run the API and the webhook endpoint."`
	Worker    workerCommand    `cmd:"" help:"Run the Temporal worker, the recovery loops and the dispatcher."`
	Migrate   migrateCommand   `cmd:"" help:"Bring the database to this binary's schema."`
	Doctor    doctorCommand    `cmd:"" help:"Check the invariants from outside."`
	Stuck     stuckCommand     `cmd:"" help:"Show how long things are in their stages, and what settles those that are there for long."`
	Payments  paymentsCommand  `cmd:"" help:"Payments that wait for a person: reviews, resolve."`
	Events    eventsCommand    `cmd:"" help:"Stored events of Stripe: waiting, replay, backfill."`
	Claims    claimsCommand    `cmd:"" help:"Claims: release one that nothing was done for."`
	Freeze    freezeCommand    `cmd:"" help:"Let no call of a tenant, an account or an operation go to Stripe, or none at all; commands are taken and wait."`
	Freezes   freezesCommand   `cmd:"" help:"List what is frozen."`
	Thaw      thawCommand      `cmd:"" help:"Lift a freeze."`
	Restored  restoredCommand  `cmd:"" help:"After the database was restored to an older time: close it, read Stripe since then, open it again."`
	Accounts  accountsCommand  `cmd:"" help:"Stripe accounts: list, create, replace, resume."`
	Tenants   tenantsCommand   `cmd:"" help:"Tenants: list, create."`
	Keys      keysCommand      `cmd:"" help:"API keys: list, create, revoke."`
	Endpoints endpointsCommand `cmd:"" help:"Receivers of messages: list, create, disable."`
	Keyset    keysetCommand    `cmd:"" help:"Print a fresh sealing keyset: a secret, for --keyset-file."`
}

// systemFlags say where the system is and how it is timed.
type systemFlags struct {
	DatabaseURL       string   `required:"" env:"PAYONCE_DATABASE_URL" help:"Postgres, as payonce_owner or as any role where local roles are trusted."`
	TenantDatabaseURL string   `env:"PAYONCE_TENANT_DATABASE_URL" help:"Postgres as payonce_tenant; default: the database url with that user."`
	SystemDatabaseURL string   `env:"PAYONCE_SYSTEM_DATABASE_URL" help:"Postgres as payonce_system; default: the database url with that user."`
	Temporal          string   `env:"PAYONCE_TEMPORAL" default:"127.0.0.1:7233" help:"Temporal frontend, host:port."`
	Namespace         string   `env:"PAYONCE_NAMESPACE" default:"payonce" help:"Temporal namespace."`
	TaskQueue         string   `env:"PAYONCE_TASK_QUEUE" default:"payonce" help:"Temporal task queue."`
	StripeURL         string   `env:"PAYONCE_STRIPE_URL" default:"https://api.stripe.com" help:"Stripe, or a twin of it."`
	KeysetFile        string   `required:"" env:"PAYONCE_KEYSET_FILE" help:"File with the sealing keyset (payonce keyset)."`
	AllowLoopback     []string `env:"PAYONCE_ALLOW_LOOPBACK" placeholder:"HOST:PORT" help:"Receivers of messages on this machine, named one by one; for development."`
	Timing            string   `env:"PAYONCE_TIMING" enum:"production,quick" default:"production" help:"Durations: production, or quick (all shrunk together, for tests and the demo)."`
	MaxConns          int32    `env:"PAYONCE_MAX_CONNS" default:"20" help:"Connections of each pool."`
	LogLevel          string   `env:"PAYONCE_LOG_LEVEL" enum:"debug,info,warn,error" default:"info" help:"Least level that is logged, to stderr."`
}

func (f systemFlags) config() (app.Config, error) {
	keyset, err := app.ReadKeyset(f.KeysetFile)
	if err != nil {
		return app.Config{}, err
	}
	durations := timing.Production()
	if f.Timing == "quick" {
		durations = timing.Quick()
	}
	return app.Config{
		DatabaseURL: f.DatabaseURL, TenantDatabaseURL: f.TenantDatabaseURL, SystemDatabaseURL: f.SystemDatabaseURL,
		TemporalAddress: f.Temporal, TemporalNamespace: f.Namespace, TaskQueue: f.TaskQueue, StripeURL: f.StripeURL,
		Keyset: keyset, AllowedLoopback: f.AllowLoopback, Timing: durations, MaxConns: f.MaxConns,
	}, nil
}

func (f systemFlags) log() *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.LogLevel)); err != nil {
		level = slog.LevelInfo
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
}

// open builds the system and checks that the database is ready for it.
func (f systemFlags) open(ctx context.Context) (*app.App, error) {
	config, err := f.config()
	if err != nil {
		return nil, err
	}
	system, err := app.Open(ctx, config, f.log())
	if err != nil {
		return nil, err
	}
	if err := system.Ready(ctx); err != nil {
		system.Close()
		return nil, err
	}
	if err := system.CheckClock(ctx, f.Timing == "production"); err != nil {
		system.Close()
		return nil, fmt.Errorf("clock: %w", err)
	}
	return system, nil
}
