// Command stripesim runs the Stripe twin as a process: Stripe's API under /v1/, the control API under /_twin/.
//
// It may import stripesim, its control package and kong; it must not know anything else of payonce.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"payonce/stripesim"
	"payonce/stripesim/control"
)

// options are the flags and their environment variables.
type options struct {
	Listen         string        `env:"STRIPESIM_LISTEN" default:"127.0.0.1:12111" help:"Address to listen on."`
	ClockURL       string        `env:"STRIPESIM_CLOCK_URL" help:"Postgres URL of a role that may execute payonce.clock(); empty = wall clock."`
	State          string        `env:"STRIPESIM_STATE" help:"File that keeps the books; empty = memory only."`
	Seed           int64         `env:"STRIPESIM_SEED" default:"1" help:"Decides the faults that have a probability."`
	Endpoint       []string      `env:"STRIPESIM_ENDPOINT" sep:"," placeholder:"URL=SECRET" help:"Webhook endpoint and its signing secret; may be repeated."`
	RetryScale     float64       `env:"STRIPESIM_RETRY_SCALE" default:"1" help:"Factor on the gaps between webhook tries."`
	WebhookTimeout time.Duration `env:"STRIPESIM_WEBHOOK_TIMEOUT" default:"10s" help:"How long an endpoint may take to answer."`
	WebhookWorkers int           `env:"STRIPESIM_WEBHOOK_WORKERS" default:"8" help:"Sends at the same time per endpoint."`
	PublicURL      string        `env:"STRIPESIM_PUBLIC_URL" help:"Where the payer's browser finds the challenge page; empty = where the API was called."`
	SearchLag      time.Duration `env:"STRIPESIM_SEARCH_LAG" default:"1m" help:"Age on the clock at which a change becomes visible to search."`
	LiveRate       float64       `env:"STRIPESIM_LIVE_RATE" help:"Requests per second and account in live mode; 0 = no limit."`
	TestRate       float64       `env:"STRIPESIM_TEST_RATE" help:"Requests per second and account in test mode; 0 = no limit."`
	LogLevel       slog.Level    `env:"STRIPESIM_LOG_LEVEL" default:"INFO" help:"DEBUG, INFO, WARN or ERROR."`
}

// drainTime is how long open requests may take after a signal.
const drainTime = 5 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "stripesim:", err)
		stop()
		os.Exit(1)
	}
}

// run serves until ctx ends. Its first line on stdout is the address.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var opts options
	parser, err := kong.New(&opts, kong.Name("stripesim"), kong.Description("A Stripe twin."), kong.Writers(stdout, stderr))
	if err != nil {
		return err
	}
	if _, err := parser.Parse(args); err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: opts.LogLevel}))
	config, closeClock, err := configure(ctx, opts, log)
	if err != nil {
		return err
	}
	defer closeClock()
	twin, err := stripesim.New(config)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", opts.Listen)
	if err != nil {
		return errors.Join(err, twin.Close())
	}
	if _, err := fmt.Fprintf(stdout, "stripesim: listening on http://%s\n", listener.Addr()); err != nil {
		return errors.Join(err, listener.Close(), twin.Close())
	}
	return serve(ctx, listener, twin)
}

func configure(ctx context.Context, opts options, log *slog.Logger) (stripesim.Config, func(), error) {
	config := stripesim.Config{StateFile: opts.State, Seed: opts.Seed, Logger: log, RetryScale: opts.RetryScale,
		WebhookTimeout: opts.WebhookTimeout, WebhookWorkers: opts.WebhookWorkers, LiveRate: opts.LiveRate, TestRate: opts.TestRate,
		PublicURL: strings.TrimRight(opts.PublicURL, "/"), SearchLag: opts.SearchLag}
	if opts.SearchLag == 0 {
		config.SearchLag = -1 // at once: zero would be the default
	}
	for _, text := range opts.Endpoint {
		at := strings.LastIndex(text, "=")
		if at <= 0 || at == len(text)-1 {
			return config, nil, errors.New("--endpoint must be URL=SECRET")
		}
		config.Endpoints = append(config.Endpoints, control.Endpoint{URL: text[:at], Secret: text[at+1:]})
	}
	if opts.ClockURL == "" {
		return config, func() {}, nil
	}
	clock, err := stripesim.NewDatabaseClock(ctx, opts.ClockURL, log)
	if err != nil {
		return config, nil, err
	}
	config.Clock = clock
	return config, clock.Close, nil
}

// serve answers until ctx ends, then lets open requests finish.
func serve(ctx context.Context, listener net.Listener, twin *stripesim.Twin) error {
	server := &http.Server{Handler: twin.Handler(), ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return errors.Join(err, twin.Close())
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	err := server.Shutdown(drain)
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil // held requests are cut when the twin closes
	}
	return errors.Join(err, twin.Close(), server.Close())
}
