// Command teststack gives tests their services: a throw-away Postgres cluster
// and a Temporal server on it.
//
//	go run ./internal/testkit/teststack -- go test ./...   # for one command
//	go run ./internal/testkit/teststack up                 # until Ctrl-C
//
// With a command it exports PAYONCE_TEST_POSTGRES_URL and PAYONCE_TEST_TEMPORAL,
// runs it, stops everything and passes its exit code on. A stack that is up, or
// that the environment names, is used instead of a new one. With "up" it writes
// both variables to .payonce/test.env, where the test kits find them.
//
// It imports internal/stack and the test kit's services, and knows no payment.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"payonce/internal/testkit/services"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	code, err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "teststack:", err)
	}
	os.Exit(code)
}

const usage = "usage: teststack -- command [argument...], or teststack up"

func run(ctx context.Context, args []string) (exitCode int, err error) {
	switch {
	case len(args) == 1 && args[0] == "up":
		err = keepUp(ctx)
	case len(args) > 1 && args[0] == "--":
		return runCommand(ctx, args[1:])
	default:
		return 2, errors.New(usage)
	}
	if err != nil {
		return 1, err
	}
	return 0, nil
}

// keepUp runs the stack in the foreground and tells the kits where it is.
func keepUp(ctx context.Context) (err error) {
	root, err := services.ModuleRoot()
	if err != nil {
		return err
	}
	if there, ok := running(ctx); ok {
		return fmt.Errorf("a stack is up already: %s", there.PostgresURL)
	}
	stack, err := start(ctx, root)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stack.stop()) }()
	if err := stack.where.Write(root); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(filepath.Join(root, services.File))) }()
	fmt.Printf("teststack: up; %s says where. Ctrl-C stops it.\n", services.File)
	return stack.wait(ctx)
}

// runCommand runs the command with a stack and returns its exit code.
func runCommand(ctx context.Context, command []string) (exitCode int, err error) {
	where, ok := running(ctx)
	if !ok {
		root, err := services.ModuleRoot()
		if err != nil {
			return 1, err
		}
		stack, err := start(ctx, root)
		if err != nil {
			return 1, err
		}
		defer func() {
			if failed := stack.stop(); failed != nil && err == nil {
				exitCode, err = max(exitCode, 1), failed
			}
		}()
		var cancel context.CancelFunc
		ctx, cancel = stack.context(ctx)
		defer cancel()
		where = stack.where
	}
	return pass(ctx, command, where)
}

// pass runs the command until it ends; when ctx ends it is asked to.
func pass(ctx context.Context, command []string, where services.Where) (exitCode int, err error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), where.Environ()...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0, nil
	case ctx.Err() != nil:
		return 1, context.Cause(ctx)
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		return exit.ExitCode(), nil // the command has said why
	default:
		return 1, err
	}
}
