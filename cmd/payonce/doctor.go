package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/internal/app"
	"payonce/internal/seal"
	"payonce/internal/timing"
	"payonce/recovery/doctor"
	"payonce/stripesim/control"
)

type doctorCommand struct {
	DatabaseURL string   `required:"" env:"PAYONCE_DATABASE_URL" help:"Postgres, as a role that may read everything; pg_read_all_stats lets it see idle sessions."`
	KeysetFile  string   `required:"" env:"PAYONCE_KEYSET_FILE" help:"File with the sealing keyset: frozen bytes are compared, and not shown."`
	Twin        string   `env:"PAYONCE_TWIN" placeholder:"URL" help:"Stripe twin whose books are compared; default: none, and those checks look at nothing."`
	Timing      string   `env:"PAYONCE_TIMING" enum:"production,quick" default:"production" help:"Durations that the system runs with."`
	Settled     bool     `help:"The system is quiet: everything must be over or visibly waiting, and every message told."`
	Outsider    []string `placeholder:"PREFIX" help:"Idempotency-Keys that begin so are another's on the same account."`
	JSON        bool     `help:"Print the report as JSON."`
}

// Run examines and prints. It exits with 1 when an invariant is violated.
func (c *doctorCommand) Run(ctx context.Context) error {
	report, err := c.examine(ctx)
	if err != nil {
		return err
	}
	if err := c.print(os.Stdout, report); err != nil {
		return err
	}
	if !report.Healthy() {
		return exitError{1}
	}
	return nil
}

func (c *doctorCommand) examine(ctx context.Context) (doctor.Report, error) {
	keyset, err := app.ReadKeyset(c.KeysetFile)
	if err != nil {
		return doctor.Report{}, err
	}
	sealer, err := seal.New(keyset)
	if err != nil {
		return doctor.Report{}, err
	}
	pool, err := pgxpool.New(ctx, c.DatabaseURL)
	if err != nil {
		return doctor.Report{}, fmt.Errorf("open database: %w", err)
	}
	defer pool.Close()
	config := doctor.Config{Owner: pool, Sealer: sealer, Timing: timing.Production(), Settled: c.Settled, Outsiders: c.Outsider}
	if c.Timing == "quick" {
		config.Timing = timing.Quick()
	}
	if c.Twin != "" {
		config.Twin = control.NewClient(c.Twin, nil)
	}
	return doctor.Examine(ctx, config)
}

func (c *doctorCommand) print(w io.Writer, report doctor.Report) error {
	if !c.JSON {
		doctor.WriteTable(w, report)
		return nil
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(report); err != nil {
		return fmt.Errorf("print report: %w", err)
	}
	return nil
}
