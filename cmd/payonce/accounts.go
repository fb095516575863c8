package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/internal/seal"
	"payonce/internal/tenants"
	"payonce/payments"
)

type accountsCommand struct {
	List    accountListCommand    `cmd:"" help:"List the stored accounts, their tenants and whether their calls go out."`
	Create  accountCreateCommand  `cmd:"" help:"Store a Stripe account with its secret key and webhook signing secrets."`
	Replace accountReplaceCommand `cmd:"" help:"Give a stored account a new secret key and new signing secrets, as when they are rolled, and other limits."`
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
	SecretKeyFile      string `help:"File with the secret key (sk_… or rk_…)."`
	WebhookSecretsFile string `help:"File with the signing secrets (whsec_…), one a line, newest first."`
}

// limitFlags say how many calls go to Stripe.
type limitFlags struct {
	CallsPerSecond            *float64 `placeholder:"N" help:"Calls a second to Stripe, in all processes together; at first 80 in live and 20 in test mode (Stripe permits 100 and 25)."`
	CallsPerSecondPerEndpoint *float64 `placeholder:"N" help:"The same to one endpoint, as creates or reads; at first 20 (Stripe permits 25)."`
}

// set sets what was given.
func (f limitFlags) set(ctx context.Context, system tenants.DB, account payments.Account) error {
	if f.CallsPerSecond == nil && f.CallsPerSecondPerEndpoint == nil {
		return nil
	}
	return tenants.LimitCalls(ctx, system, account, f.CallsPerSecond, f.CallsPerSecondPerEndpoint)
}

func (f secretFlags) read() (key string, signing []string, err error) {
	if f.SecretKeyFile == "" || f.WebhookSecretsFile == "" {
		return "", nil, errors.New("an account with a key of its own needs --secret-key-file and --webhook-secrets-file")
	}
	text, err := os.ReadFile(f.SecretKeyFile)
	if err != nil {
		return "", nil, fmt.Errorf("secret key: %w", err)
	}
	signing, err = f.signing()
	return strings.TrimSpace(string(text)), signing, err
}

// signing reads the signing secrets.
func (f secretFlags) signing() ([]string, error) {
	lines, err := os.ReadFile(f.WebhookSecretsFile)
	if err != nil {
		return nil, fmt.Errorf("signing secrets: %w", err)
	}
	signing := strings.Fields(string(lines))
	if len(signing) == 0 {
		return nil, fmt.Errorf("signing secrets: %s names none, and every event of the account would be refused", f.WebhookSecretsFile)
	}
	return signing, nil
}

type accountCreateCommand struct {
	officeFlags
	sealFlags
	accountFlags
	Platform string `placeholder:"acct_…" help:"The stored account whose key acts for this one, which is connected to it: it then needs no secrets of its own."`
	secretFlags
	limitFlags
}

// Run stores the account.
func (c *accountCreateCommand) Run(ctx context.Context) error {
	store, err := c.store()
	if err != nil {
		return err
	}
	sealer, err := c.sealer()
	if err != nil {
		return err
	}
	return c.with(ctx, func(system *pgxpool.Pool) error {
		err := pgx.BeginFunc(ctx, system, func(tx pgx.Tx) error {
			if err := store(ctx, tx, sealer); err != nil {
				return err
			}
			return c.set(ctx, tx, c.account())
		})
		if err == nil {
			fmt.Printf("account %s stored\n", c.Account)
		}
		return err
	})
}

// store reads the files and says how the account is stored: with its own key, or as connected to its platform.
func (c *accountCreateCommand) store() (func(context.Context, tenants.DB, *seal.Sealer) error, error) {
	if c.Platform == "" {
		key, signing, err := c.read()
		return func(ctx context.Context, system tenants.DB, sealer *seal.Sealer) error {
			return tenants.CreateAccount(ctx, system, sealer, c.account(), key, signing)
		}, err
	}
	if c.SecretKeyFile != "" {
		return nil, errors.New("an account that is connected to a platform has no --secret-key-file: the platform's key acts for it")
	}
	var signing []string
	if c.WebhookSecretsFile != "" {
		var err error
		if signing, err = c.signing(); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context, system tenants.DB, sealer *seal.Sealer) error {
		return tenants.ConnectAccount(ctx, system, sealer, c.account(), c.Platform, signing)
	}, nil
}

type accountReplaceCommand struct {
	officeFlags
	sealFlags
	accountFlags
	secretFlags
	limitFlags
}

// Run replaces the secrets, and the limits. While a signing secret is rolled, the file lists the new one and the old one. Limits alone need no secrets: an
// account that is connected to a platform has none.
func (c *accountReplaceCommand) Run(ctx context.Context) error {
	limited := c.CallsPerSecond != nil || c.CallsPerSecondPerEndpoint != nil
	if limited && c.SecretKeyFile == "" && c.WebhookSecretsFile == "" {
		return c.with(ctx, func(system *pgxpool.Pool) error {
			if err := c.set(ctx, system, c.account()); err != nil {
				return err
			}
			fmt.Printf("account %s has its new limits\n", c.Account)
			return nil
		})
	}
	key, signing, err := c.read()
	if err != nil {
		return err
	}
	sealer, err := c.sealer()
	if err != nil {
		return err
	}
	return c.with(ctx, func(system *pgxpool.Pool) error {
		err := pgx.BeginFunc(ctx, system, func(tx pgx.Tx) error {
			if err := c.set(ctx, tx, c.account()); err != nil {
				return err
			}
			return tenants.ReplaceAccountSecrets(ctx, tx, sealer, c.account(), key, signing)
		})
		if err == nil {
			fmt.Printf("account %s has its new secrets\n", c.Account)
		}
		return err
	})
}

type accountResumeCommand struct {
	officeFlags
	accountFlags
}

// Run resumes the account.
func (c *accountResumeCommand) Run(ctx context.Context) error {
	return c.with(ctx, func(system *pgxpool.Pool) error {
		if err := tenants.ResumeAccount(ctx, system, c.account()); err != nil {
			return err
		}
		fmt.Printf("account %s resumed\n", c.Account)
		return nil
	})
}
