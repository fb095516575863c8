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
	Create  accountCreateCommand  `cmd:"" help:"Store a Stripe account with its secret key and webhook signing secrets."`
	Replace accountReplaceCommand `cmd:"" help:"Give a stored account a new secret key and new signing secrets, as when they are rolled."`
	Resume  accountResumeCommand  `cmd:"" help:"Let the calls of an account out again that Stripe had refused."`
}

// accountFlags name a Stripe account in one mode.
type accountFlags struct {
	Account string `required:"" placeholder:"acct_…" help:"Stripe account."`
	Live    bool   `help:"Live mode; default is test mode."`
}

func (f accountFlags) account() payments.Account {
	return payments.Account{ID: f.Account, Livemode: f.Live}
}

// secretFlags name the files with the secrets of an account.
type secretFlags struct {
	SecretKeyFile      string `required:"" help:"File with the secret key (sk_… or rk_…)."`
	WebhookSecretsFile string `required:"" help:"File with the signing secrets (whsec_…), one a line, newest first."`
}

func (f secretFlags) read() (key string, signing []string, err error) {
	text, err := os.ReadFile(f.SecretKeyFile)
	if err != nil {
		return "", nil, fmt.Errorf("secret key: %w", err)
	}
	lines, err := os.ReadFile(f.WebhookSecretsFile)
	if err != nil {
		return "", nil, fmt.Errorf("signing secrets: %w", err)
	}
	if signing = strings.Fields(string(lines)); len(signing) == 0 {
		return "", nil, fmt.Errorf("signing secrets: %s names none, and every event of the account would be refused", f.WebhookSecretsFile)
	}
	return strings.TrimSpace(string(text)), signing, nil
}

type accountCreateCommand struct {
	systemFlags
	accountFlags
	secretFlags
}

// Run stores the account.
func (c *accountCreateCommand) Run(ctx context.Context) error {
	key, signing, err := c.read()
	if err != nil {
		return err
	}
	return c.with(ctx, func(system *app.App) error {
		if err := tenants.CreateAccount(ctx, system.System, system.Sealer, c.account(), key, signing); err != nil {
			return err
		}
		fmt.Printf("account %s stored\n", c.Account)
		return nil
	})
}

type accountReplaceCommand struct {
	systemFlags
	accountFlags
	secretFlags
}

// Run replaces the secrets. While a signing secret is rolled, the file lists the new one and the old one.
func (c *accountReplaceCommand) Run(ctx context.Context) error {
	key, signing, err := c.read()
	if err != nil {
		return err
	}
	return c.with(ctx, func(system *app.App) error {
		if err := tenants.ReplaceAccountSecrets(ctx, system.System, system.Sealer, c.account(), key, signing); err != nil {
			return err
		}
		fmt.Printf("account %s has its new secrets\n", c.Account)
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
	Revoke keyRevokeCommand `cmd:"" help:"End an API key at once."`
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

type keyRevokeCommand struct {
	systemFlags
	KeyFile string `required:"" help:"File with the key itself: no argument shows it to other users of the machine."`
}

// Run revokes the key.
func (c *keyRevokeCommand) Run(ctx context.Context) error {
	text, err := os.ReadFile(c.KeyFile)
	if err != nil {
		return fmt.Errorf("API key: %w", err)
	}
	return c.with(ctx, func(system *app.App) error {
		key, err := tenants.FindAPIKey(ctx, system.System, strings.TrimSpace(string(text)))
		if err != nil {
			return fmt.Errorf("API key of %s, unknown or revoked: %w", c.KeyFile, err)
		}
		if err := tenants.RevokeAPIKey(ctx, system.System, key.ID); err != nil {
			return err
		}
		fmt.Printf("API key %s of tenant %s revoked\n", key.ID, key.Tenant)
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
