package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jedib0t/go-pretty/v6/table"

	"payonce/recovery"
)

type stuckCommand struct {
	officeFlags
	OlderThan time.Duration `default:"15m" help:"List what is in its stage for so long or longer."`
	Limit     int           `default:"100" help:"At most so many, the oldest first; 1 to 1000."`
	JSON      bool          `help:"Print the result as JSON."`
}

// stageAge and stuckThing are what `stuck --json` prints.
type stageAge struct {
	Kind          string  `json:"kind"`
	Stage         string  `json:"stage"`
	Count         int64   `json:"count"`
	OldestSeconds float64 `json:"oldest_seconds"`
}

type stuckThing struct {
	Kind       string    `json:"kind"`
	ID         uuid.UUID `json:"id"`
	Tenant     string    `json:"tenant"`
	Stage      string    `json:"stage"`
	Status     string    `json:"status"`
	Since      time.Time `json:"since"`
	AgeSeconds float64   `json:"age_seconds"`
	WaitsFor   string    `json:"waits_for"`
	Next       string    `json:"next"`
}

// Run shows how long things are in their stages, and what settles those that are there for long.
func (c *stuckCommand) Run(ctx context.Context, out io.Writer) error {
	if c.Limit < 1 || c.Limit > 1000 {
		return fmt.Errorf("--limit %d: must be 1 to 1000", c.Limit)
	}
	return c.with(ctx, func(system *pgxpool.Pool) error {
		stages, err := recovery.Stages(ctx, system)
		if err != nil {
			return err
		}
		found, err := recovery.Stuck(ctx, system, c.OlderThan, c.Limit)
		if err != nil {
			return err
		}
		if c.JSON {
			return c.print(out, stages, found)
		}
		c.draw(out, stages, found)
		return nil
	})
}

func (c *stuckCommand) print(out io.Writer, stages []recovery.StageAges, found []recovery.Waiting) error {
	said := struct {
		Stages []stageAge   `json:"stages"`
		Stuck  []stuckThing `json:"stuck"`
	}{Stages: make([]stageAge, len(stages)), Stuck: make([]stuckThing, len(found))}
	for i, s := range stages {
		said.Stages[i] = stageAge{s.Kind, string(s.Stage), s.Count, s.Oldest.Seconds()}
	}
	for i, w := range found {
		said.Stuck[i] = stuckThing{w.Kind, w.ID, w.Tenant, string(w.Stage), w.Status, w.Since, w.Age.Seconds(), w.For, w.Next}
	}
	return json.NewEncoder(out).Encode(said)
}

func (c *stuckCommand) draw(out io.Writer, stages []recovery.StageAges, found []recovery.Waiting) {
	if len(stages) == 0 {
		fmt.Fprintln(out, "nothing is under way")
		return
	}
	summary := table.NewWriter()
	summary.SetOutputMirror(out)
	summary.AppendHeader(table.Row{"kind", "stage", "how many", "oldest"})
	for _, s := range stages {
		summary.AppendRow(table.Row{s.Kind, s.Stage, s.Count, s.Oldest.Round(time.Second)})
	}
	summary.Render()
	if len(found) == 0 {
		fmt.Fprintf(out, "nothing is in its stage for %s or longer\n", c.OlderThan)
		return
	}
	things := table.NewWriter()
	things.SetOutputMirror(out)
	things.AppendHeader(table.Row{"kind", "id", "tenant", "stage", "status", "for", "waits for", "what settles it"})
	for _, w := range found {
		things.AppendRow(table.Row{w.Kind, w.ID, w.Tenant, w.Stage, w.Status, w.Age.Round(time.Second), w.For, w.Next})
	}
	things.Render()
}
