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

	"payonce/internal/tenants"
	"payonce/payments"
)

type freezeCommand struct {
	officeFlags
	Tenant    string `help:"Of this tenant alone, by its name."`
	Account   string `placeholder:"acct_…" help:"Of this Stripe account alone."`
	Live      bool   `help:"Of the account's live mode; default is test mode."`
	Operation string `placeholder:"create_refund" help:"Of this operation alone: create_payment, confirm_payment, capture_payment, cancel_payment, create_refund, create_payout, create_customer or create_connected_account."`
	Reason    string `required:"" help:"Why: kept with it."`
	By        string `env:"USER" required:"" help:"Who says so: kept with it."`
	JSON      bool   `help:"Print the result as JSON."`
}

// Run freezes what is named together, or everything.
func (c *freezeCommand) Run(ctx context.Context, out io.Writer) error {
	return c.with(ctx, func(system *pgxpool.Pool) error {
		freeze := tenants.Freeze{Reason: c.Reason, By: c.By}
		if c.Tenant != "" {
			tenant, err := tenants.ByName(ctx, system, c.Tenant)
			if err != nil {
				return err
			}
			freeze.Tenant = &tenant.ID
		}
		if c.Account != "" {
			freeze.Account = &payments.Account{ID: c.Account, Livemode: c.Live}
		}
		if operation := payments.Operation(c.Operation); operation != "" {
			freeze.Operation = &operation
		}
		id, err := tenants.SetFreeze(ctx, system, freeze)
		if err != nil {
			return err
		}
		if c.JSON {
			return json.NewEncoder(out).Encode(map[string]uuid.UUID{"freeze": id})
		}
		_, err = fmt.Fprintf(out, "frozen: %s\nCommands are taken and wait; calls under way end within half a minute. `payonce thaw %s` lets them go\n", id, id)
		return err
	})
}

type thawCommand struct {
	officeFlags
	ID uuid.UUID `arg:"" help:"The freeze, as payonce freezes shows it."`
	By string    `env:"USER" required:"" help:"Who says so: kept with it."`
}

// Run lifts the freeze.
func (c *thawCommand) Run(ctx context.Context, out io.Writer) error {
	return c.with(ctx, func(system *pgxpool.Pool) error {
		if err := tenants.LiftFreeze(ctx, system, c.ID, c.By); err != nil {
			return err
		}
		_, err := fmt.Fprintf(out, "freeze %s is lifted: what waited goes on within a minute\n", c.ID)
		return err
	})
}

type freezesCommand struct {
	listFlags
	All bool `help:"Those that were lifted too."`
}

// listedFreeze is one object of `freezes --json`.
type listedFreeze struct {
	Freeze    uuid.UUID  `json:"freeze"`
	Tenant    *string    `json:"tenant"`
	Account   *string    `json:"account"`
	Mode      *string    `json:"mode"`
	Operation *string    `json:"operation"`
	Reason    string     `json:"reason"`
	By        string     `json:"by"`
	FrozenAt  time.Time  `json:"frozen_at"`
	LiftedBy  *string    `json:"lifted_by"`
	LiftedAt  *time.Time `json:"lifted_at"`
	Waiting   int64      `json:"waiting"` // open commands that it holds
}

// Run lists the freezes.
func (c *freezesCommand) Run(ctx context.Context, out io.Writer) error {
	return list(ctx, out, c.listFlags, table.Row{"freeze", "tenant", "account", "operation", "since", "by", "why", "waiting", "lifted"},
		func(system *pgxpool.Pool) ([]listedFreeze, error) {
			found, err := tenants.ListFreezes(ctx, system, c.All)
			all := make([]listedFreeze, len(found))
			for i, f := range found {
				all[i] = listedFreeze{f.ID, f.Tenant, f.Account, nil, f.Operation, f.Reason, f.By, f.At, f.LiftedBy, f.LiftedAt, f.Waiting}
				if f.Livemode != nil {
					of := mode(*f.Livemode)
					all[i].Mode = &of
				}
			}
			return all, err
		},
		func(f listedFreeze) table.Row {
			account := "every"
			if f.Account != nil {
				account = *f.Account + " (" + *f.Mode + ")"
			}
			return table.Row{f.Freeze, orEvery(f.Tenant), account, orEvery(f.Operation), moment(&f.FrozenAt), f.By, f.Reason, f.Waiting, moment(f.LiftedAt)}
		})
}

func orEvery(name *string) string {
	if name == nil {
		return "every"
	}
	return *name
}
