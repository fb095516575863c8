package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"payonce/workflows"
)

type eventsBackfillCommand struct {
	systemFlags
	Since time.Time `placeholder:"TIME" help:"Go back to this time (RFC 3339) for every account; else on from where the last round ended."`
	JSON  bool      `help:"Print the result as JSON."`
}

// Run goes through Stripe's list of events until now, as the schedule does by itself.
func (c *eventsBackfillCommand) Run(ctx context.Context, out io.Writer) error {
	system, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer system.Close()
	if !c.Since.IsZero() {
		if err := system.Activities.BackfillSince(ctx, c.Since); err != nil {
			return advised(err)
		}
	}
	found := 0
	for more := true; more; {
		step, err := system.Activities.Backfill(ctx, workflows.BackfillAct{Version: 1})
		if err != nil {
			return advised(err)
		}
		found, more = found+step.Found, step.More
		if more {
			fmt.Fprintf(os.Stderr, "payonce: %d events found so far\n", found)
		}
	}
	if c.JSON {
		return json.NewEncoder(out).Encode(map[string]int{"events": found})
	}
	_, err = fmt.Fprintf(out, "%d events that no delivery had brought are stored; the worker applies them\n", found)
	return err
}
