package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/internal/app"
	"payonce/internal/postgres"
	"payonce/internal/seal"
	"payonce/internal/tenants"
	"payonce/notifications"
)

// officeFlags are what a command needs that looks after accounts, tenants, keys and endpoints: these are rows of the database, and nothing else of the
// system need run.
type officeFlags struct {
	DatabaseURL       string `required:"" env:"PAYONCE_DATABASE_URL" help:"Postgres, as payonce_owner or as any role where local roles are trusted."`
	SystemDatabaseURL string `env:"PAYONCE_SYSTEM_DATABASE_URL" help:"Postgres as payonce_system; default: the database url with that user."`
}

// sealFlags are for a command that stores a secret.
type sealFlags struct {
	KeysetFile string `required:"" env:"PAYONCE_KEYSET_FILE" help:"File with the sealing keyset (payonce keyset)."`
}

func (f sealFlags) sealer() (*seal.Sealer, error) {
	keyset, err := app.ReadKeyset(f.KeysetFile)
	if err != nil {
		return nil, err
	}
	return seal.New(keyset)
}

// officeStatement bounds one statement of an operator's command.
const officeStatement = 10 * time.Second

// with opens the database as the system role for one piece of work. Its errors say what to do next.
func (f officeFlags) with(ctx context.Context, work func(*pgxpool.Pool) error) error {
	url := f.SystemDatabaseURL
	if url == "" {
		var err error
		if url, err = postgres.WithRole(f.DatabaseURL, postgres.RoleSystem); err != nil {
			return err
		}
	}
	system, err := postgres.Open(ctx, postgres.PoolConfig{
		URL: url, MaxConns: 2, StatementTimeout: officeStatement, LockTimeout: officeStatement, IdleTransactionTimeout: officeStatement,
	})
	if err != nil {
		return err
	}
	defer system.Close()
	if err := (&app.App{System: system}).Ready(ctx); err != nil {
		return advised(err)
	}
	return advised(work(system))
}

// advised adds what to do next to an error that has a known way out.
func advised(err error) error {
	if next := nextStep(err); next != "" {
		return fmt.Errorf("%w\nnext: %s", err, next)
	}
	return err
}

func nextStep(err error) string {
	var (
		refused *pgconn.PgError
		connect *pgconn.ConnectError
	)
	switch {
	case errors.Is(err, tenants.ErrExists):
		return "see `payonce accounts list` and `payonce tenants list`; `payonce accounts replace` gives a stored account new secrets"
	case errors.Is(err, tenants.ErrNotFound):
		return "`payonce accounts list`, `payonce tenants list` and `payonce keys list` name what is there; --live names an account in live mode"
	case errors.Is(err, notifications.ErrNoEndpoint):
		return "`payonce endpoints list` names the endpoints of each tenant"
	case errors.As(err, &refused):
		return nextStepAtPostgres(refused.Code)
	case errors.As(err, &connect):
		return "does Postgres run, and is --database-url (PAYONCE_DATABASE_URL) right?"
	default:
		return ""
	}
}

// nextStepAtPostgres goes by SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html).
func nextStepAtPostgres(state string) string {
	switch state {
	case "3D000":
		return "create the database, then run `payonce migrate`"
	case "42P01", "3F000":
		return "run `payonce migrate`"
	case "28000", "28P01":
		return "run `payonce migrate` if it never ran; else give --system-database-url (PAYONCE_SYSTEM_DATABASE_URL) with the password of payonce_system"
	default:
		return ""
	}
}
