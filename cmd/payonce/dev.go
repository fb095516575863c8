package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/jedib0t/go-pretty/v6/table"

	"payonce/internal/devstack"
	"payonce/internal/stack"
)

type devCommand struct {
	State string `env:"PAYONCE_STATE" default:".payonce/dev" help:"Directory that keeps data, secrets and ports between runs."`
	// No variable names these two: what is exported for another command would be migrated and provisioned.
	DatabaseURL string `help:"Postgres, as a role that may create roles and databases; default: a cluster in the state directory."`
	Temporal    string `help:"Temporal frontend, host:port; default: temporal-dev on the same Postgres."`
	Listen      string `env:"PAYONCE_LISTEN" default:"127.0.0.1:8080" help:"Address of the API."`
	Receiver    string `placeholder:"HOST:PORT" help:"Receiver on this machine that takes messages at /messages; default: one of our own that prints them."`
	LogLevel    string `env:"PAYONCE_LOG_LEVEL" enum:"debug,info,warn,error" default:"info" help:"Least level that API and worker log."`
}

// Run runs everything until Ctrl-C.
func (c *devCommand) Run(ctx context.Context) (err error) {
	config, stopReceiver, err := c.config(os.Stdout)
	if err != nil {
		return err
	}
	defer stopReceiver()
	running, err := devstack.Start(ctx, config)
	switch {
	case ctx.Err() != nil:
		return nil // Ctrl-C while starting
	case errors.Is(err, devstack.ErrTaken):
		return fmt.Errorf("%w: stop what has it, or choose another: PAYONCE_LISTEN=127.0.0.1:8081 make dev", err)
	case errors.Is(err, stack.ErrInUse):
		return fmt.Errorf("%w (PAYONCE_STATE=.payonce/second make dev)", err)
	case err != nil:
		return err
	}
	defer func() { err = errors.Join(err, running.Stop()) }()
	describe(os.Stdout, running, config)
	return running.Wait(ctx)
}

func (c *devCommand) config(out io.Writer) (config devstack.Config, stopReceiver func(), err error) {
	if _, port, err := net.SplitHostPort(c.Listen); err != nil || port == "0" {
		return config, nil, fmt.Errorf("--listen %q: give host and port; the twin's webhooks are sent there", c.Listen)
	}
	executable, err := os.Executable()
	if err != nil {
		return config, nil, fmt.Errorf("find our own program: %w", err)
	}
	state, err := devstack.OpenState(c.State)
	if err != nil {
		return config, nil, err
	}
	if moved := state.Moved(); moved != "" {
		fmt.Fprintln(out, moved)
	}
	config = devstack.Config{
		State: state, Executable: executable, DatabaseURL: c.DatabaseURL, Temporal: c.Temporal, Listen: c.Listen, Receiver: c.Receiver,
		Timing: "production", LogLevel: c.LogLevel, TemporalUI: true, Restart: true, Out: out,
	}
	if c.Receiver != "" {
		return config, func() {}, nil
	}
	listener, err := state.Listen("receiver")
	if err != nil {
		return config, nil, err
	}
	config.Receiver = listener.Addr().String()
	server := devstack.PrintingReceiver(listener, out)
	return config, func() { _ = server.Close() }, nil
}

// webUI says where Temporal's pages are; a frontend that was given has its own.
func webUI(running *devstack.Stack) string {
	if running.TemporalUI == "" {
		return ""
	}
	return "its web UI: " + running.TemporalUI
}

// describe prints where everything is and a payment to begin with.
func describe(out io.Writer, running *devstack.Stack, config devstack.Config) {
	running.PrintDifferences(out)
	addresses := table.NewWriter()
	addresses.SetTitle("Everything runs. Ctrl-C stops it; the data stays.")
	addresses.AppendRows([]table.Row{
		{"API", running.APIURL, "its description: " + running.APIURL + "/openapi.yaml"},
		{"Stripe twin", running.TwinURL, "control API: " + running.TwinURL + "/_twin/"},
		{"Temporal", running.Temporal, webUI(running)},
		{"Postgres", running.DatabaseURL, ""},
		{"receiver", "http://" + config.Receiver + "/messages", ""},
		{"state", config.State.Path(""), ""},
		{"API key", running.APIKeyFile, "of the tenant dev"},
	})
	fmt.Fprintln(out, addresses.Render())
	fmt.Fprintf(out, `
A payment (send it twice: it is made once, and the second answer is the first, byte for byte):

curl -si %s/v1/payments \
  -H "Authorization: Bearer $(cat %s)" \
  -H 'Idempotency-Key: my-first-order' -H 'Content-Type: application/json' \
  -d '{"reference":"order-1","amount":1999,"currency":"eur","payment_method":"pm_card_visa"}'

The invariants, from outside (a kill -9 of the API or the worker is welcome before; they start again):

%s doctor --database-url '%s' --keyset-file %s --twin %s

`, running.APIURL, running.APIKeyFile, config.Executable, running.DatabaseURL, running.KeysetFile, running.TwinURL)
}
