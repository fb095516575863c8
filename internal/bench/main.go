// Command bench measures payonce on this machine beside what it is built of, and judges the ratios: `make bench`.
//
// It starts a Postgres and a Temporal of its own, each program as a process of its own, and is itself the load. It may import everything that
// internal/app may, the twin's control client and internal/devstack; nothing imports it. It must not change how what it measures behaves.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/pprof"
	"strings"
	"syscall"
)

// options are the flags.
type options struct {
	rounds  int
	only    string
	quick   bool
	json    string
	bin     string
	state   string
	growth  int
	profile string
	examine bool
	cpu     string
}

// errMissed says that at least one bar was missed; the table has said which.
var errMissed = errors.New("missed")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

// run runs the benchmark, or one of the processes that it consists of.
func run(ctx context.Context, arguments []string, out, progress io.Writer) error {
	if len(arguments) > 0 {
		switch arguments[0] {
		case childBare:
			return serveBare(ctx, arguments[1:], out)
		case childReceiver:
			return serveReceiver(ctx, arguments[1:], out)
		case childProfiled:
			return serveProfiled(ctx, arguments[1:], out)
		}
	}
	o, err := parse(arguments, progress)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	if o.cpu != "" {
		file, err := os.Create(o.cpu)
		if err != nil {
			return fmt.Errorf("profile: %w", err)
		}
		defer func() { _ = file.Close() }()
		if err := pprof.StartCPUProfile(file); err != nil {
			return fmt.Errorf("profile: %w", err)
		}
		defer pprof.StopCPUProfile()
	}
	return bench(ctx, o, out, progress)
}

func parse(arguments []string, usage io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(usage)
	flags.IntVar(&o.rounds, "rounds", 5, "`rounds` of each figure, baseline and product by turns")
	flags.StringVar(&o.only, "only", "", "measure only these rows: `name,name`")
	flags.BoolVar(&o.quick, "quick", false, "short rounds and little growth: to see that everything runs; the figures mean little")
	flags.StringVar(&o.json, "json", "bench/latest.json", "write the result to this `file`, and the plot beside it; empty, and by default with -only: nowhere")
	flags.StringVar(&o.bin, "bin", "bin", "`directory` of payonce, stripesim and temporal-dev")
	flags.StringVar(&o.state, "state", ".payonce/bench", "`directory` for the cluster, the secrets and the log; emptied when the run ends")
	flags.IntVar(&o.growth, "growth", 300_000, "finished `payments` that are loaded first")
	flags.StringVar(&o.profile, "profile", "", "measure no row: write CPU profile, statements and costs of a payment to this `directory`")
	flags.StringVar(&o.cpu, "cpuprofile", "", "write a CPU profile of this process, in which the rows of single calls run the product, to this `file`")
	flags.BoolVar(&o.examine, "examine", false, "let the doctor look at everything in the end (minutes)")
	if err := flags.Parse(arguments); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	given := false
	flags.Visit(func(f *flag.Flag) { given = given || f.Name == "json" })
	if o.only != "" && !given {
		o.json = "" // a part is no newest run
	}
	if o.rounds < 1 || o.growth < 0 {
		return o, errors.New("rounds must be positive and growth not negative")
	}
	if o.quick {
		o.growth = min(o.growth, 20_000)
	}
	return o, nil
}

// wants tells whether a row was asked for.
func (o options) wants(name string) bool {
	if o.only == "" {
		return true
	}
	for wanted := range strings.SplitSeq(o.only, ",") {
		if strings.TrimSpace(wanted) == name {
			return true
		}
	}
	return false
}
