package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"payonce/internal/app"
	"payonce/internal/postgres"
	"payonce/recovery"
	"payonce/workflows"
)

type restoredCommand struct {
	systemFlags
	To         time.Time `required:"" placeholder:"TIME" help:"To when the database was restored (RFC 3339): from a little before, Stripe is read again."`
	By         string    `env:"USER" required:"" help:"Who says so: kept with the freeze."`
	KeepFrozen bool      `help:"Do not open it: payonce thaw does."`
	JSON       bool      `help:"Print the result as JSON."`
}

// lookAgain is how often it is asked whether the worker has read everything.
const lookAgain = time.Second

// Run closes the database, reads Stripe since then, and opens it again once everything is read.
func (c *restoredCommand) Run(ctx context.Context, out io.Writer) error {
	system, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer system.Close()
	if err := c.close(ctx); err != nil {
		return advised(err)
	}
	fmt.Fprintln(os.Stderr, "payonce: closed; reading Stripe")
	found := 0
	for more := true; more; {
		step, err := system.Activities.Backfill(ctx, workflows.BackfillAct{Version: 1})
		if err != nil {
			return advised(err)
		}
		found, more = found+step.Found, step.More
	}
	left, err := c.await(ctx, system)
	if err != nil {
		return err
	}
	if !c.KeepFrozen {
		if _, err := recovery.OpenRestored(ctx, system.System, c.By); err != nil {
			return advised(err)
		}
	}
	if c.JSON {
		return json.NewEncoder(out).Encode(map[string]any{"open": !c.KeepFrozen, "events_found": found, "payments_lost": left.Lost})
	}
	_, err = fmt.Fprintf(out, "%d events were found; %d payments at Stripe are not here: their callers' repeats bring them back, uncharged\n", found, left.Lost)
	if err == nil && c.KeepFrozen {
		_, err = fmt.Fprintln(out, "everything is read; `payonce freezes` shows what keeps it closed, `payonce thaw` opens it")
	}
	return err
}

// close closes the database as its owner.
func (c *restoredCommand) close(ctx context.Context) error {
	url, err := postgres.WithRole(c.DatabaseURL, postgres.RoleOwner)
	if err != nil {
		return err
	}
	owner, err := postgres.Open(ctx, postgres.PoolConfig{
		URL: url, MaxConns: 2, StatementTimeout: officeStatement, LockTimeout: officeStatement, IdleTransactionTimeout: officeStatement,
	})
	if err != nil {
		return err
	}
	defer owner.Close()
	return recovery.CloseRestored(ctx, owner, c.To, c.By)
}

// await waits until the worker has judged the events and read what is open.
func (c *restoredCommand) await(ctx context.Context, system *app.App) (recovery.Unread, error) {
	tick := time.NewTicker(lookAgain)
	defer tick.Stop()
	for {
		left, err := recovery.UnreadOf(ctx, system.System)
		if err != nil || left.Events+left.Open == 0 {
			return left, err
		}
		fmt.Fprintf(os.Stderr, "payonce: %d events and %d open objects are still to be read (is a worker running?)\n", left.Events, left.Open)
		select {
		case <-ctx.Done():
			return left, ctx.Err()
		case <-tick.C:
		}
	}
}
