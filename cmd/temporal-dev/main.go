// Command temporal-dev is a Temporal server for one machine, durable on Postgres.
//
// It runs the four services of the Temporal server in one process, keeps its
// state in two databases of the given cluster (<prefix>temporal and
// <prefix>temporal_visibility) and creates databases, schema and namespace when
// they are missing. Started a second time on the same databases it refuses: the
// server assumes that one process owns all shards.
//
// It is a module of its own because the server and the SDK that payonce uses do
// not compile together (see go.mod). It imports nothing of payonce and knows
// nothing of payments: payonce talks to it over gRPC like to any Temporal.
//
// With --ui-listen it serves Temporal's web UI too, on loopback alone; the server
// neither needs nor knows it.
//
// It has no authentication: bind it to a loopback address.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"time"
)

// settings are what the command line and the environment decide.
type settings struct {
	postgresURL string        // URL of a role that may create databases
	prefix      string        // put before both database names
	listen      string        // host:port of the frontend; port 0 means: choose
	ui          string        // host:port of the web UI on loopback; empty means: none
	namespace   string        // created when missing
	retention   time.Duration // of closed workflows in a namespace created now
	logLevel    string        // debug, info, warn, error, fatal; its errors at start are noise
}

func main() {
	err := run()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "temporal:", err)
		os.Exit(1)
	}
}

func run() error {
	set, err := parse(os.Args[1:])
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	return serve(ctx, set, os.Stdout)
}

var prefixForm = regexp.MustCompile(`^[a-z0-9_]{0,40}$`)

// parse reads flags; each default comes from the environment variable named in its help.
func parse(args []string) (settings, error) {
	var set settings
	flags := flag.NewFlagSet("temporal-dev", flag.ContinueOnError)
	text := func(target *string, name, env, fallback, help string) {
		if v := os.Getenv(env); v != "" {
			fallback = v
		}
		flags.StringVar(target, name, fallback, fmt.Sprintf("%s [%s]", help, env))
	}
	text(&set.postgresURL, "postgres-url", "TEMPORAL_DEV_POSTGRES_URL", "", "Postgres URL of a role that may create databases (required)")
	text(&set.prefix, "prefix", "TEMPORAL_DEV_PREFIX", "", "prefix of both database names")
	text(&set.listen, "listen", "TEMPORAL_DEV_LISTEN", "127.0.0.1:7233", "address of the gRPC frontend; port 0 chooses one")
	text(&set.ui, "ui-listen", "TEMPORAL_DEV_UI_LISTEN", "", "loopback address of the web UI; port 0 chooses one; empty: no web UI")
	text(&set.namespace, "namespace", "TEMPORAL_DEV_NAMESPACE", "payonce", "namespace to create when missing")
	text(&set.logLevel, "log-level", "TEMPORAL_DEV_LOG_LEVEL", "fatal", "level of the server's own log on stderr: debug, info, warn, error, fatal")
	flags.DurationVar(&set.retention, "retention", 7*24*time.Hour, "how long closed workflows are kept; used when the namespace is created")
	if err := flags.Parse(args); err != nil {
		return settings{}, err
	}
	switch {
	case flags.NArg() > 0:
		return settings{}, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case set.postgresURL == "":
		return settings{}, errors.New("--postgres-url is required")
	case !prefixForm.MatchString(set.prefix):
		return settings{}, fmt.Errorf("--prefix %q: use up to 40 of a-z, 0-9 and _", set.prefix)
	case set.retention < time.Hour:
		return settings{}, fmt.Errorf("--retention %s: the server's minimum is 1h", set.retention)
	}
	return set, nil
}
