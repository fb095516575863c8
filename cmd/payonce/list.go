package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jedib0t/go-pretty/v6/table"

	"payonce/internal/tenants"
	"payonce/notifications"
	"payonce/payments"
)

// listFlags are those of every list.
type listFlags struct {
	officeFlags
	JSON bool `name:"json" help:"Print an array of objects, for programs."`
}

type accountListCommand struct{ listFlags }

// listedAccount is one object of `accounts list --json`.
type listedAccount struct {
	Account       string     `json:"account"`
	Mode          string     `json:"mode"`
	Platform      *string    `json:"platform"`
	Tenants       []string   `json:"tenants"`
	StoppedReason *string    `json:"stopped_reason"`
	StoppedAt     *time.Time `json:"stopped_at"`
	CreatedAt     time.Time  `json:"created_at"`

	CallsPerSecond            float64 `json:"calls_per_second"`
	CallsPerSecondPerEndpoint float64 `json:"calls_per_second_per_endpoint"`
}

// Run lists the accounts.
func (c *accountListCommand) Run(ctx context.Context, out io.Writer) error {
	return list(ctx, out, c.listFlags, table.Row{"account", "mode", "tenants", "calls to Stripe", "created"},
		func(system *pgxpool.Pool) ([]listedAccount, error) {
			found, err := tenants.ListAccounts(ctx, system)
			all := make([]listedAccount, len(found))
			for i, a := range found {
				all[i] = listedAccount{
					a.ID, mode(a.Livemode), a.Platform, a.Tenants, a.StoppedReason, a.StoppedAt, a.CreatedAt, a.Limits.PerSecond, a.Limits.PerSecondPerEndpoint,
				}
			}
			return all, err
		},
		func(a listedAccount) table.Row {
			calls := fmt.Sprintf("at most %g/s, %g/s to one endpoint", a.CallsPerSecond, a.CallsPerSecondPerEndpoint)
			if a.StoppedReason != nil {
				calls = fmt.Sprintf("stopped %s: %s (payonce accounts resume)", moment(a.StoppedAt), *a.StoppedReason)
			}
			account := a.Account
			if a.Platform != nil {
				account += " of " + *a.Platform
			}
			return table.Row{account, a.Mode, strings.Join(a.Tenants, ", "), calls, moment(&a.CreatedAt)}
		})
}

type tenantListCommand struct{ listFlags }

// listedTenant is one object of `tenants list --json`.
type listedTenant struct {
	Name      string    `json:"name"`
	ID        string    `json:"id"`
	Account   string    `json:"account"`
	Mode      string    `json:"mode"`
	CreatedAt time.Time `json:"created_at"`
}

// Run lists the tenants.
func (c *tenantListCommand) Run(ctx context.Context, out io.Writer) error {
	return list(ctx, out, c.listFlags, table.Row{"tenant", "id", "account", "mode", "created"},
		func(system *pgxpool.Pool) ([]listedTenant, error) {
			found, err := tenants.ListTenants(ctx, system)
			all := make([]listedTenant, len(found))
			for i, t := range found {
				all[i] = listedTenant{t.Name, t.ID.String(), t.Account, mode(t.Livemode), t.CreatedAt}
			}
			return all, err
		},
		func(t listedTenant) table.Row {
			return table.Row{t.Name, t.ID, t.Account, t.Mode, moment(&t.CreatedAt)}
		})
}

type keyListCommand struct {
	listFlags
	Tenant string `help:"Name of the tenant; default: all."`
}

// listedKey is one object of `keys list --json`.
type listedKey struct {
	ID        string     `json:"id"`
	Tenant    string     `json:"tenant"`
	Scopes    []string   `json:"scopes"`
	CreatedAt time.Time  `json:"created_at"`
	RevokedAt *time.Time `json:"revoked_at"`
}

// Run lists the keys, revoked ones too.
func (c *keyListCommand) Run(ctx context.Context, out io.Writer) error {
	return list(ctx, out, c.listFlags, table.Row{"id", "tenant", "permits", "created", "revoked"},
		func(system *pgxpool.Pool) ([]listedKey, error) {
			if err := known(ctx, system, c.Tenant); err != nil {
				return nil, err
			}
			found, err := tenants.ListAPIKeys(ctx, system, c.Tenant)
			all := make([]listedKey, len(found))
			for i, k := range found {
				all[i] = listedKey{k.ID.String(), k.Tenant, k.Scopes, k.CreatedAt, k.RevokedAt}
			}
			return all, err
		},
		func(k listedKey) table.Row {
			return table.Row{k.ID, k.Tenant, strings.Join(k.Scopes, ", "), moment(&k.CreatedAt), moment(k.RevokedAt)}
		})
}

type endpointListCommand struct {
	listFlags
	Tenant string `help:"Name of the tenant; default: all."`
}

// listedEndpoint is one object of `endpoints list --json`.
type listedEndpoint struct {
	ID         string     `json:"id"`
	Tenant     string     `json:"tenant"`
	URL        string     `json:"url"`
	CreatedAt  time.Time  `json:"created_at"`
	DisabledAt *time.Time `json:"disabled_at"`
}

// Run lists the endpoints, disabled ones too.
func (c *endpointListCommand) Run(ctx context.Context, out io.Writer) error {
	return list(ctx, out, c.listFlags, table.Row{"id", "tenant", "url", "created", "disabled"},
		func(system *pgxpool.Pool) ([]listedEndpoint, error) { return c.endpoints(ctx, system) },
		func(e listedEndpoint) table.Row {
			return table.Row{e.ID, e.Tenant, e.URL, moment(&e.CreatedAt), moment(e.DisabledAt)}
		})
}

func (c *endpointListCommand) endpoints(ctx context.Context, system *pgxpool.Pool) ([]listedEndpoint, error) {
	if err := known(ctx, system, c.Tenant); err != nil {
		return nil, err
	}
	every, err := tenants.ListTenants(ctx, system)
	if err != nil {
		return nil, err
	}
	all := []listedEndpoint{}
	for _, tenant := range every {
		if c.Tenant != "" && c.Tenant != tenant.Name {
			continue
		}
		found, err := notifications.List(ctx, system, payments.TenantID{UUID: tenant.ID})
		if err != nil {
			return nil, err
		}
		for _, e := range found {
			all = append(all, listedEndpoint{e.ID.String(), tenant.Name, e.URL, e.CreatedAt, e.DisabledAt})
		}
	}
	return all, nil
}

// known refuses a tenant that does not exist, which would have an empty list; no name is all.
func known(ctx context.Context, system *pgxpool.Pool, tenant string) error {
	if tenant == "" {
		return nil
	}
	_, err := tenants.ByName(ctx, system, tenant)
	return err
}

// list reads and prints, as a table or as JSON.
func list[T any](
	ctx context.Context, out io.Writer, flags listFlags, header table.Row, read func(*pgxpool.Pool) ([]T, error), row func(T) table.Row,
) error {
	return flags.with(ctx, func(system *pgxpool.Pool) error {
		all, err := read(system)
		if err != nil {
			return err
		}
		if flags.JSON {
			return printJSON(out, all)
		}
		rows := table.NewWriter()
		rows.SetStyle(table.StyleLight)
		rows.AppendHeader(header)
		for _, one := range all {
			rows.AppendRow(row(one))
		}
		fmt.Fprintln(out, rows.Render())
		return nil
	})
}

func printJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

func mode(live bool) string {
	if live {
		return "live"
	}
	return "test"
}

// moment is a time for people, empty when there is none.
func moment(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}
