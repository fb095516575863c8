package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jedib0t/go-pretty/v6/table"

	"payonce/payments"
	"payonce/recovery"
)

type eventsCommand struct {
	Waiting eventsWaitingCommand `cmd:"" help:"List the stored events of Stripe that are not settled, or were quarantined, the oldest first."`
	Replay  eventsReplayCommand  `cmd:"" help:"Apply stored events again: what is already applied is suppressed."`

	Backfill eventsBackfillCommand `cmd:"" help:"Store what Stripe lists of the last 30 days and never delivered. The worker does so by itself every five minutes."`
}

type eventsWaitingCommand struct {
	listFlags
}

// waitingEvent is one object of `events waiting --json`.
type waitingEvent struct {
	Event     string     `json:"event"` // evt_…
	Type      string     `json:"type"`
	Account   string     `json:"account"`
	Mode      string     `json:"mode"`
	Status    string     `json:"status"` // stored, parked or quarantined
	Reason    *string    `json:"reason"`
	Payment   *uuid.UUID `json:"payment"`
	Received  time.Time  `json:"received_at"`
	NextTryAt *time.Time `json:"next_try_at"`
	Tries     int        `json:"tries"`
}

// maxWaiting bounds the list; the oldest come first.
const maxWaiting = 1000

// Run lists the events.
func (c *eventsWaitingCommand) Run(ctx context.Context, out io.Writer) error {
	return list(ctx, out, c.listFlags, table.Row{"event", "type", "account", "mode", "status", "received", "next try", "tries", "why"},
		func(system *pgxpool.Pool) ([]waitingEvent, error) {
			rows, err := system.Query(ctx, `
				SELECT event_id, type, account, CASE WHEN livemode THEN 'live' ELSE 'test' END, status, reason, payment, received_at, next_try_at, tries
				FROM payonce.provider_events WHERE next_try_at IS NOT NULL OR status = 'quarantined' ORDER BY received_at, id LIMIT $1`, maxWaiting)
			if err != nil {
				return nil, err
			}
			return pgx.CollectRows(rows, pgx.RowToStructByPos[waitingEvent])
		},
		func(e waitingEvent) table.Row {
			why := ""
			if e.Reason != nil {
				why = *e.Reason
			}
			return table.Row{e.Event, e.Type, e.Account, e.Mode, e.Status, moment(&e.Received), moment(e.NextTryAt), e.Tries, why}
		})
}

type eventsReplayCommand struct {
	officeFlags
	Event     []string   `placeholder:"evt_…" help:"Ids of events at Stripe."`
	Payment   *uuid.UUID `help:"All events that were matched to this payment."`
	From      time.Time  `placeholder:"TIME" help:"All events received at this time or later (RFC 3339), with --to."`
	To        time.Time  `placeholder:"TIME" help:"And before this time."`
	PerSecond float64    `default:"50" help:"How many become due a second: what arrives meanwhile is not held up."`
	JSON      bool       `help:"Print the result as JSON."`
}

// Run asks for the replay; the worker's applier does it.
func (c *eventsReplayCommand) Run(ctx context.Context, out io.Writer) error {
	of := recovery.Selection{Events: c.Event, From: c.From, To: c.To}
	if c.Payment != nil {
		of.Payment = &payments.PaymentID{UUID: *c.Payment}
	}
	return c.with(ctx, func(system *pgxpool.Pool) error {
		asked, err := recovery.Replay(ctx, system, of, c.PerSecond, func(asked int) { fmt.Fprintf(os.Stderr, "payonce: %d events asked for\n", asked) })
		if err != nil {
			return err
		}
		if c.JSON {
			return json.NewEncoder(out).Encode(map[string]int{"events": asked})
		}
		if asked == 0 {
			_, err = fmt.Fprintln(out, "no stored event is meant; what was never stored is not replayed")
			return err
		}
		_, err = fmt.Fprintf(out, "%d events are applied again by the worker; `payonce events waiting` shows those that are left\n", asked)
		return err
	})
}
