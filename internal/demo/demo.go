package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"payonce/internal/clock"
	"payonce/internal/devstack"
	"payonce/payments"
)

// Options say how to run the demo. Every field without a word on empty is required.
type Options struct {
	State      string    // directory that keeps data, secrets and ports between runs
	Executable string    // payonce itself; stripesim and temporal-dev stand beside it
	Seed       int64     // decides the mix of orders and the faults
	JSON       string    // file to write the result to; empty: none
	Out        io.Writer // for people
}

// ErrFailed says that the run did not prove what it is for; the result, which was printed, says why.
var ErrFailed = errors.New("the demo failed")

// Names in the state directory.
const (
	fileRun = "run"
	fileLog = "demo.log"
)

// retryScale shrinks Stripe's gaps between webhook tries (10 min, 1 h, 2 h in test mode) to 1, 6 and 12 s.
const retryScale = 1.0 / 600

// session is one run.
type session struct {
	options  Options
	run      int
	out      io.Writer
	receiver *receiver
	stack    *devstack.Stack
	disputes map[string]payments.DisputeStatus // of the run, dp_…, and what becomes of them
	result   Result
}

// Run runs the demo, prints its result and returns ErrFailed when it proved something else than it is for. Everything that it starts has ended
// when it returns.
func Run(ctx context.Context, options Options) error {
	state, err := devstack.OpenState(options.State)
	if err != nil {
		return err
	}
	if moved := state.Moved(); moved != "" {
		fmt.Fprintln(options.Out, moved)
	}
	log, err := os.Create(state.Path(fileLog))
	if err != nil {
		return fmt.Errorf("log: %w", err)
	}
	defer func() { _ = log.Close() }()
	s := &session{options: options, out: options.Out, receiver: newReceiver(options.Seed)}
	if err := s.prove(ctx, state, log); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return fmt.Errorf("interrupted: %w", cause)
		}
		return fmt.Errorf("%w (what the processes said is in %s)", err, state.Path(fileLog))
	}
	s.result.Print(s.out)
	if err := s.writeJSON(); err != nil {
		return err
	}
	if len(s.result.Failures) > 0 {
		return ErrFailed
	}
	return nil
}

// prove runs everything and fills the result.
func (s *session) prove(ctx context.Context, state devstack.State, log io.Writer) (err error) {
	began := clock.Wall()
	listener, err := state.Listen("receiver")
	if err != nil {
		return err
	}
	server := devstack.NewReceiver(s.receiver.take)
	go func() { _ = server.Serve(listener) }() // it ends with Close
	defer func() { _ = server.Close() }()
	fmt.Fprintln(s.out, "starting Postgres, Temporal, the Stripe twin, the API and the worker")
	s.stack, err = devstack.Start(ctx, devstack.Config{
		State: state, Executable: s.options.Executable, Receiver: listener.Addr().String(), Timing: "quick", LogLevel: "warn",
		Twin: devstack.Twin{Seed: s.options.Seed, RetryScale: retryScale, WebhookTimeout: 2 * time.Second}, Out: log,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stack.Stop()) }()
	if s.run, err = state.Next(fileRun); err != nil {
		return err
	}
	s.result.Run, s.result.Seed = s.run, s.options.Seed
	if err := s.receiver.trust(s.stack.ReceiverSecret); err != nil {
		return err
	}
	s.stack.PrintDifferences(s.out)
	fmt.Fprintf(s.out, "run %d with seed %d\n", s.run, s.options.Seed)
	s.lap("start", began)
	watched, stop := s.stack.Context(ctx)
	defer stop()
	if err := s.drive(watched); err != nil {
		return errors.Join(err, context.Cause(watched))
	}
	s.result.Seconds = clock.Wall().Sub(began).Seconds()
	return nil
}

// drive sends the orders under faults, lets everything become quiet, then days pass, and judges.
func (s *session) drive(ctx context.Context) error {
	if err := plantFaults(ctx, s.stack.Twin, Rules(s.options.Seed, s.run)); err != nil {
		return err
	}
	if err := s.addSellers(ctx); err != nil {
		return err
	}
	began := clock.Wall()
	outcomes, err := s.traffic(ctx)
	if err != nil {
		return err
	}
	began = s.lap("orders", began)
	if s.result.Faults, err = countFaults(ctx, s.stack.Twin); err != nil {
		return err
	}
	if err := liftFaults(ctx, s.stack.Twin); err != nil {
		return err
	}
	if err := s.settle(ctx); err != nil {
		return err
	}
	began = s.lap("quiet", began)
	if err := s.later(ctx, outcomes); err != nil {
		return err
	}
	began = s.lap("days later", began)
	err = s.judge(ctx, outcomes)
	s.lap("judgement", began)
	return err
}

// lap notes how long a phase took and returns when the next begins.
func (s *session) lap(phase string, began time.Time) time.Time {
	now := clock.Wall()
	s.result.Phases = append(s.result.Phases, Phase{Name: phase, Seconds: now.Sub(began).Seconds()})
	return now
}

// traffic sends the orders while the API and the worker are killed.
func (s *session) traffic(ctx context.Context) ([]Outcome, error) {
	backend := newClient(s.stack.APIURL, s.stack.APIKey)
	defer backend.close()
	mixed := Mix(s.options.Seed, s.run)
	shown := newProgress(s.out, len(mixed))
	defer shown.finish()
	killer := newKiller(len(mixed), s.stack.KillAndRestart)
	group, running := errgroup.WithContext(ctx)
	var outcomes []Outcome
	group.Go(func() error {
		outcomes = checkout(running, backend, mixed, func() { killer.orderDone(); shown.add() })
		return nil
	})
	group.Go(func() (err error) {
		s.result.Kills, err = killer.run(running)
		return err
	})
	var added provisioned
	group.Go(func() error {
		added = s.addOwners(running, backend)
		return nil
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	s.result.Owners, s.result.Problems = added.right, append(s.result.Problems, added.problems...)
	s.result.NoAnswer, s.result.InProgress = int(backend.noAnswer.Load()), int(backend.inProgress.Load())
	s.result.SentAway = int(backend.sentAway.Load())
	return outcomes, ctx.Err()
}

// settle waits for quiet, has some events delivered again, and waits once more. What does not become quiet is judged as it is.
func (s *session) settle(ctx context.Context) (err error) {
	if err := awaitQuiet(ctx, s.stack, s.out, waits{debits: true, holds: true, refunds: true}); err != nil {
		return s.unquiet(ctx, err)
	}
	if s.result.Redelivered, err = redeliver(ctx, s.stack, s.run); err != nil {
		return err
	}
	if err := awaitQuiet(ctx, s.stack, s.out, waits{debits: true, holds: true, refunds: true}); err != nil {
		return s.unquiet(ctx, err)
	}
	return nil
}

func (s *session) unquiet(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	s.result.Problems = append(s.result.Problems, err.Error())
	return nil
}

func (s *session) judge(ctx context.Context, outcomes []Outcome) error {
	found, err := gather(ctx, s.stack, s.run)
	if err != nil {
		return err
	}
	r := &s.result
	r.Suppressed, r.Facts, r.Messages, r.Journals = found.suppressed, found.facts, found.messages, found.journals
	var problems []string
	r.Receiver, problems = s.receiver.count()
	r.Problems = append(r.Problems, problems...)
	r.judgeOrders(outcomes, found)
	r.judgePayouts(found.payouts)
	r.compareBooks(found)
	if err := r.examine(ctx, s.stack, s.receiver); err != nil {
		r.Failures = append(r.Failures, err.Error())
	}
	r.judge()
	return nil
}

func (s *session) writeJSON() error {
	if s.options.JSON == "" {
		return nil
	}
	encoded, err := json.MarshalIndent(s.result, "", "  ")
	if err != nil {
		return fmt.Errorf("encode result: %w", err)
	}
	if err := os.WriteFile(s.options.JSON, append(encoded, '\n'), 0o644); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}
