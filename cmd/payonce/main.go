// Command payonce runs and operates the payments engine: every process of it, and the tools of the people who look after it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:]))
}

// exitError carries an exit code for a command that has said everything already.
type exitError struct{ code int }

func (e exitError) Error() string { return fmt.Sprintf("exit %d", e.code) }

func run(ctx context.Context, arguments []string) int {
	var commands cli
	parser, err := newParser(ctx, &commands)
	if err != nil {
		fmt.Fprintln(os.Stderr, "payonce:", err)
		return 1
	}
	parsed, err := parser.Parse(arguments)
	if err != nil {
		fmt.Fprintf(os.Stderr, "payonce: %v\nsee %s, which names the flags and environment variables\n", err, helpFor(err))
		return 2
	}
	err = parsed.Run()
	var exit exitError
	switch {
	case errors.As(err, &exit):
		return exit.code
	case err != nil:
		fmt.Fprintln(os.Stderr, "payonce:", err)
		return 1
	default:
		return 0
	}
}

func newParser(ctx context.Context, commands *cli) (*kong.Kong, error) {
	return kong.New(commands, kong.Name("payonce"),
		kong.Description("A payments engine in which every intent takes effect exactly once."),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.BindTo(os.Stdout, (*io.Writer)(nil)))
}

// helpFor is the command that says what was meant by the wrong arguments.
func helpFor(err error) string {
	command := "payonce"
	var wrong *kong.ParseError
	if errors.As(err, &wrong) && wrong.Context.Selected() != nil {
		command = wrong.Context.Selected().FullPath()
	}
	return command + " --help"
}
