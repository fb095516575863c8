package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/temporal"
	"google.golang.org/protobuf/types/known/durationpb"
)

// serve runs the server until ctx ends, printing one line to ready when the
// namespace can be used.
func serve(ctx context.Context, set settings, ready io.Writer) (err error) {
	logger := log.NewZapLogger(log.BuildZapLogger(log.Config{Level: set.logLevel, Format: "console"}))
	main, visibility, err := databases(set)
	if err != nil {
		return err
	}
	if err := createDatabases(ctx, set.postgresURL, main, visibility); err != nil {
		return err
	}
	lock, err := acquire(ctx, main.url)
	if err != nil {
		return err
	}
	holding, release := context.WithCancelCause(ctx)
	released := make(chan struct{})
	go func() {
		defer close(released)
		release(hold(holding, lock, main.url))
	}()
	defer func() { release(nil); <-released }()

	if err := errors.Join(migrate(main, logger), migrate(visibility, logger)); err != nil {
		return err
	}
	if err := dropUnusedIndexes(ctx, visibility); err != nil {
		return fmt.Errorf("drop unused visibility indexes: %w", err)
	}
	server, at, err := start(set, main, visibility, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop(server)) }()

	if err := ensureNamespace(ctx, at.dialable().String(), set); err != nil {
		return err
	}
	if set.ui != "" {
		url, stopUI, err := startUI(ctx, set, at.dialable().String())
		if err != nil {
			return err
		}
		defer stopUI()
		fmt.Fprintf(ready, "temporal: web UI on %s\n", url)
	}
	fmt.Fprintf(ready, "temporal: listening on %s namespace=%s\n", at.frontend, set.namespace)
	<-holding.Done() // the end was asked for, or the lock is lost
	if ctx.Err() != nil {
		return nil
	}
	return context.Cause(holding)
}

// start builds and starts the server, and returns where its services listen.
func start(set settings, main, visibility database, logger log.Logger) (temporal.Server, addresses, error) {
	host, port, err := net.SplitHostPort(set.listen)
	if err != nil {
		return nil, addresses{}, fmt.Errorf("--listen: %w", err)
	}
	at, err := chooseAddresses(host, port)
	if err != nil {
		return nil, addresses{}, err
	}
	hosts := map[primitives.ServiceName]static.Hosts{}
	for name, address := range at.byService() {
		hosts[primitives.ServiceName(name)] = static.SingleLocalHost(address.String())
	}
	server, err := temporal.NewServer(
		temporal.WithConfig(serverConfig(at, main, visibility)),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithStaticHosts(hosts),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithDynamicConfigClient(dynamicConfig()),
		temporal.WithLogger(logger),
	)
	if err != nil {
		return nil, addresses{}, fmt.Errorf("build the server: %w", err)
	}
	if err := server.Start(); err != nil {
		return nil, addresses{}, fmt.Errorf("start the server: %w", err)
	}
	return server, at, nil
}

// stop stops the server but does not wait for ever: a service that hangs must
// not keep the process alive.
func stop(server temporal.Server) error {
	done := make(chan error, 1)
	go func() { done <- server.Stop() }()
	select {
	case err := <-done:
		return err
	case <-time.After(15 * time.Second):
		return errors.New("the server did not stop within 15s")
	}
}

// ensureNamespace creates the namespace when missing and returns once the
// frontend knows it.
func ensureNamespace(ctx context.Context, frontend string, set settings) error {
	namespaces, err := client.NewNamespaceClient(client.Options{HostPort: frontend, Logger: silent{}})
	if err != nil {
		return fmt.Errorf("connect to the own frontend: %w", err)
	}
	defer namespaces.Close()
	err = namespaces.Register(ctx, &workflowservice.RegisterNamespaceRequest{
		Namespace:                        set.namespace,
		WorkflowExecutionRetentionPeriod: durationpb.New(set.retention),
	})
	var exists *serviceerror.NamespaceAlreadyExists
	if err != nil && !errors.As(err, &exists) {
		return fmt.Errorf("create namespace %s: %w", set.namespace, err)
	}
	if _, err := namespaces.Describe(ctx, set.namespace); err != nil {
		return fmt.Errorf("describe namespace %s: %w", set.namespace, err)
	}
	return nil
}

// silent is the SDK's logger for the one short connection to our own frontend.
type silent struct{}

func (silent) Debug(string, ...any) {}
func (silent) Info(string, ...any)  {}
func (silent) Warn(string, ...any)  {}
func (silent) Error(string, ...any) {}
