package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime/pprof"
	"strings"

	"golang.org/x/sync/errgroup"

	"payonce/internal/app"
	"payonce/internal/timing"
)

// childProfiled is `payonce serve --worker` built from the same parts, with its CPU profile written to a file: the product itself has no such door.
const childProfiled = "profiled"

func serveProfiled(ctx context.Context, arguments []string, out io.Writer) (err error) {
	if len(arguments) != 1 {
		return fmt.Errorf("%s needs a file", childProfiled)
	}
	keyset, err := app.ReadKeyset(os.Getenv("PAYONCE_KEYSET_FILE"))
	if err != nil {
		return err
	}
	system, err := app.Open(ctx, app.Config{
		DatabaseURL: os.Getenv("PAYONCE_DATABASE_URL"), TemporalAddress: os.Getenv("PAYONCE_TEMPORAL"),
		TemporalNamespace: os.Getenv("PAYONCE_NAMESPACE"), TaskQueue: os.Getenv("PAYONCE_TASK_QUEUE"), StripeURL: os.Getenv("PAYONCE_STRIPE_URL"),
		Keyset: keyset, AllowedLoopback: strings.Split(os.Getenv("PAYONCE_ALLOW_LOOPBACK"), ","), Timing: timing.Production(), MaxConns: 20,
	}, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err != nil {
		return err
	}
	defer system.Close()
	listener, err := net.Listen("tcp", os.Getenv("PAYONCE_LISTEN"))
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	file, err := os.Create(arguments[0])
	if err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := pprof.StartCPUProfile(file); err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	defer pprof.StopCPUProfile()
	fmt.Fprintf(out, "payonce: serving on http://%s\n", listener.Addr())
	group, running := errgroup.WithContext(ctx)
	group.Go(func() error { return system.Serve(running, listener) })
	group.Go(func() error { return system.Work(running, true) })
	return group.Wait()
}
