package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"payonce/internal/app"
	"payonce/internal/seal"
	"payonce/internal/tenants"
	"payonce/notifications"
	"payonce/payments"
)

type keysetCommand struct{}

// Run prints a fresh keyset.
func (keysetCommand) Run() error {
	keyset, err := seal.NewKeyset()
	if err != nil {
		return err
	}
	fmt.Println(string(keyset))
	return nil
}

type accountsCommand struct {
	Create accountCreateCommand `cmd:"" help:"Store a Stripe account with its secret key and webhook signing secrets."`
	Resume accountResumeCommand `cmd:"" help:"Let the calls of an account out again that Stripe had refused."`
}

// accountFlags name a Stripe account in one mode.
type accountFlags struct {
	Account string `required:"" placeholder:"acct_…" help:"Stripe account."`
	Live    bool   `help:"Live mode; default is test mode."`
}

func (f accountFlags) account() payments.Account {
	return payments.Account{ID: f.Account, Livemode: f.Live}
}

type accountCreateCommand struct {
	systemFlags
	accountFlags
	SecretKeyFile      string `required:"" help:"File with the secret key (sk_… or rk_…)."`
	WebhookSecretsFile string `required:"" help:"File with the signing secrets (whsec_…), one a line, newest first."`
}

// Run stores the account.
func (c *accountCreateCommand) Run(ctx context.Context) error {
	key, err := os.ReadFile(c.SecretKeyFile)
	if err != nil {
		return fmt.Errorf("secret key: %w", err)
	}
	secrets, err := os.ReadFile(c.WebhookSecretsFile)
	if err != nil {
		return fmt.Errorf("signing secrets: %w", err)
	}
	return c.with(ctx, func(system *app.App) error {
		err := tenants.CreateAccount(ctx, system.System, system.Sealer, c.account(), strings.TrimSpace(string(key)), strings.Fields(string(secrets)))
		if err != nil {
			return err
		}
		fmt.Printf("account %s stored\n", c.Account)
		return nil
	})
}

type accountResumeCommand struct {
	systemFlags
	accountFlags
}

// Run resumes the account.
func (c *accountResumeCommand) Run(ctx context.Context) error {
	return c.with(ctx, func(system *app.App) error {
		if err := tenants.ResumeAccount(ctx, system.System, c.account()); err != nil {
			return err
		}
		fmt.Printf("account %s resumed\n", c.Account)
		return nil
	})
}

type tenantsCommand struct {
	Create tenantCreateCommand `cmd:"" help:"Create a tenant bound to a stored account."`
}

type tenantCreateCommand struct {
	systemFlags
	accountFlags
	Name string `required:"" help:"1 to 63 characters of a-z, 0-9 and -."`
}

// Run creates the tenant and prints its id.
func (c *tenantCreateCommand) Run(ctx context.Context) error {
	return c.with(ctx, func(system *app.App) error {
		id, err := tenants.CreateTenant(ctx, system.System, c.Name, c.account())
		if err != nil {
			return err
		}
		fmt.Println(id)
		return nil
	})
}

type keysCommand struct {
	Create keyCreateCommand `cmd:"" help:"Create an API key; it is shown this once."`
}

type keyCreateCommand struct {
	systemFlags
	Tenant string   `required:"" help:"Name of the tenant."`
	Scopes []string `default:"payments:read,payments:write" help:"What the key permits."`
}

// Run creates the key and prints it.
func (c *keyCreateCommand) Run(ctx context.Context) error {
	return c.with(ctx, func(system *app.App) error {
		tenant, err := tenants.ByName(ctx, system.System, c.Tenant)
		if err != nil {
			return err
		}
		scopes := make([]tenants.Scope, len(c.Scopes))
		for i, scope := range c.Scopes {
			scopes[i] = tenants.Scope(scope)
		}
		key, err := tenants.CreateAPIKey(ctx, system.System, tenant.ID, scopes...)
		if err != nil {
			return err
		}
		fmt.Println(key)
		return nil
	})
}

type endpointsCommand struct {
	Create endpointCreateCommand `cmd:"" help:"Register a receiver of messages; its signing secret is shown this once."`
}

type endpointCreateCommand struct {
	systemFlags
	Tenant string `required:"" help:"Name of the tenant."`
	URL    string `required:"" help:"Where messages go: https, and no address of this or a private network."`
}

// Run registers the endpoint and prints its id and secret.
func (c *endpointCreateCommand) Run(ctx context.Context) error {
	return c.with(ctx, func(system *app.App) error {
		tenant, err := tenants.ByName(ctx, system.System, c.Tenant)
		if err != nil {
			return err
		}
		addresses, err := notifications.NewAddresses(c.AllowLoopback, nil)
		if err != nil {
			return err
		}
		id, secret, err := notifications.Create(ctx, system.System, system.Sealer, addresses, tenant.ID, c.URL)
		if err != nil {
			return err
		}
		fmt.Printf("%s %s\n", id, secret)
		return nil
	})
}

// with opens the system for one piece of work.
func (f systemFlags) with(ctx context.Context, work func(*app.App) error) error {
	system, err := f.open(ctx)
	if err != nil {
		return err
	}
	defer system.Close()
	return work(system)
}
