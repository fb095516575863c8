package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/internal/seal"
	"payonce/internal/tenants"
	"payonce/notifications"
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

type tenantsCommand struct {
	List   tenantListCommand   `cmd:"" help:"List the tenants and the accounts that they are bound to."`
	Create tenantCreateCommand `cmd:"" help:"Create a tenant bound to a stored account."`
}

type tenantCreateCommand struct {
	officeFlags
	accountFlags
	Name string `required:"" help:"1 to 63 characters of a-z, 0-9 and -."`
}

// Run creates the tenant and prints its id.
func (c *tenantCreateCommand) Run(ctx context.Context) error {
	return c.with(ctx, func(system *pgxpool.Pool) error {
		id, err := tenants.CreateTenant(ctx, system, c.Name, c.account())
		if err != nil {
			return err
		}
		fmt.Println(id)
		return nil
	})
}

type keysCommand struct {
	List   keyListCommand   `cmd:"" help:"List the API keys, revoked ones too; none is shown itself."`
	Create keyCreateCommand `cmd:"" help:"Create an API key; it is shown this once."`
	Revoke keyRevokeCommand `cmd:"" aliases:"disable" help:"End an API key at once."`
}

type keyCreateCommand struct {
	officeFlags
	Tenant string   `required:"" help:"Name of the tenant."`
	Scopes []string `default:"payments:read,payments:write" help:"What the key permits."`
}

// Run creates the key and prints it.
func (c *keyCreateCommand) Run(ctx context.Context) error {
	return c.with(ctx, func(system *pgxpool.Pool) error {
		tenant, err := tenants.ByName(ctx, system, c.Tenant)
		if err != nil {
			return err
		}
		scopes := make([]tenants.Scope, len(c.Scopes))
		for i, scope := range c.Scopes {
			scopes[i] = tenants.Scope(scope)
		}
		key, err := tenants.CreateAPIKey(ctx, system, tenant.ID, scopes...)
		if err != nil {
			return err
		}
		fmt.Println(key)
		return nil
	})
}

type keyRevokeCommand struct {
	officeFlags
	ID      uuid.UUID `placeholder:"ID" help:"Id of the key, as payonce keys list shows it."`
	KeyFile string    `help:"Or a file with the key itself: no argument shows it to other users of the machine."`
}

// Run revokes the key.
func (c *keyRevokeCommand) Run(ctx context.Context) error {
	if (c.ID == uuid.Nil) == (c.KeyFile == "") {
		return errors.New("give either --id (payonce keys list shows it) or --key-file")
	}
	return c.with(ctx, func(system *pgxpool.Pool) error {
		id, err := c.key(ctx, system)
		if err != nil {
			return err
		}
		if err := tenants.RevokeAPIKey(ctx, system, id); err != nil {
			return err
		}
		fmt.Printf("API key %s revoked\n", id)
		return nil
	})
}

func (c *keyRevokeCommand) key(ctx context.Context, system *pgxpool.Pool) (uuid.UUID, error) {
	if c.KeyFile == "" {
		return c.ID, nil
	}
	text, err := os.ReadFile(c.KeyFile)
	if err != nil {
		return uuid.Nil, fmt.Errorf("API key: %w", err)
	}
	key, err := tenants.FindAPIKey(ctx, system, strings.TrimSpace(string(text)))
	if err != nil {
		return uuid.Nil, fmt.Errorf("API key of %s, unknown or revoked: %w", c.KeyFile, err)
	}
	return key.ID, nil
}

type endpointsCommand struct {
	List    endpointListCommand    `cmd:"" help:"List the receivers of messages, disabled ones too."`
	Create  endpointCreateCommand  `cmd:"" help:"Register a receiver of messages; its signing secret is shown this once."`
	Disable endpointDisableCommand `cmd:"" help:"Send nothing more to a receiver; what is queued for it is parked."`
}

type endpointCreateCommand struct {
	officeFlags
	sealFlags
	Tenant        string   `required:"" help:"Name of the tenant."`
	URL           string   `required:"" help:"Where messages go: https, and no address of this or a private network."`
	AllowLoopback []string `env:"PAYONCE_ALLOW_LOOPBACK" placeholder:"HOST:PORT" help:"Receivers on this machine, named one by one; for development."`
}

// Run registers the endpoint and prints its id and secret.
func (c *endpointCreateCommand) Run(ctx context.Context) error {
	sealer, err := c.sealer()
	if err != nil {
		return err
	}
	addresses, err := notifications.NewAddresses(c.AllowLoopback, nil)
	if err != nil {
		return err
	}
	return c.with(ctx, func(system *pgxpool.Pool) error {
		tenant, err := tenants.ByName(ctx, system, c.Tenant)
		if err != nil {
			return err
		}
		id, secret, err := notifications.Create(ctx, system, sealer, addresses, tenant.ID, c.URL)
		if err != nil {
			return err
		}
		fmt.Printf("%s %s\n", id, secret)
		return nil
	})
}

type endpointDisableCommand struct {
	officeFlags
	Tenant string    `required:"" help:"Name of the tenant."`
	ID     uuid.UUID `required:"" placeholder:"ID" help:"Id of the endpoint, as payonce endpoints list shows it."`
}

// Run disables the endpoint.
func (c *endpointDisableCommand) Run(ctx context.Context) error {
	return c.with(ctx, func(system *pgxpool.Pool) error {
		tenant, err := tenants.ByName(ctx, system, c.Tenant)
		if err != nil {
			return err
		}
		if err := notifications.Disable(ctx, system, tenant.ID, c.ID); err != nil {
			return fmt.Errorf("endpoint %s of tenant %s: %w", c.ID, c.Tenant, err)
		}
		fmt.Printf("endpoint %s disabled\n", c.ID)
		return nil
	})
}
