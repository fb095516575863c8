package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/internal/timing"
	"payonce/recovery/doctor"
)

// errUnsound says that the doctor found something; the table has said what.
var errUnsound = errors.New("the doctor found violations")

// examine lets the doctor look at the grown database, without Stripe's books: the twin knows nothing of what was loaded.
func (s *session) examine(ctx context.Context, out io.Writer) error {
	s.say("the doctor looks at everything")
	if _, err := s.grown.awaitQuiet(ctx); err != nil {
		return err
	}
	pool, err := pgxpool.New(ctx, s.grown.url("postgres"))
	if err != nil {
		return fmt.Errorf("open pool: %w", err)
	}
	defer pool.Close()
	report, err := doctor.Examine(ctx, doctor.Config{Owner: pool, Sealer: s.sealer, Timing: timing.Production(), Settled: true})
	if err != nil {
		return err
	}
	doctor.WriteTable(out, report)
	if !report.Healthy() {
		return errUnsound
	}
	return nil
}
