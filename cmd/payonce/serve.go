package main

import (
	"context"
	"fmt"
	"net"

	"golang.org/x/sync/errgroup"

	"payonce/internal/postgres"
)

type serveCommand struct {
	systemFlags
	Listen string `env:"PAYONCE_LISTEN" default:"127.0.0.1:8080" help:"Address of the API; port 0 chooses one."`
	Worker bool   `env:"PAYONCE_SERVE_WORKER" help:"Run the worker in this process too, as on one machine."`
}

// Run serves until the process is told to stop.
func (c *serveCommand) Run(ctx context.Context) error {
	system, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer system.Close()
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	fmt.Printf("payonce: serving on http://%s\n", listener.Addr())
	group, running := errgroup.WithContext(ctx)
	group.Go(func() error { return system.Serve(running, listener) })
	if c.Worker {
		group.Go(func() error { return system.Work(running, true) })
	}
	return group.Wait()
}

type workerCommand struct {
	systemFlags
}

// Run works until the process is told to stop.
func (c *workerCommand) Run(ctx context.Context) error {
	system, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer system.Close()
	fmt.Printf("payonce: worker on task queue %s\n", c.TaskQueue)
	return system.Work(ctx, false)
}

type migrateCommand struct {
	DatabaseURL string `required:"" env:"PAYONCE_DATABASE_URL" help:"Postgres, as payonce_owner or a role that may become it."`
}

// Run migrates.
func (c *migrateCommand) Run(ctx context.Context) error {
	if err := postgres.Migrate(ctx, c.DatabaseURL); err != nil {
		return err
	}
	fmt.Printf("payonce: the schema is at migration %d\n", postgres.NewestMigration())
	return nil
}
