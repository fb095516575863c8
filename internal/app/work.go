package app

import (
	"context"
	"fmt"
	"runtime"
	"time"

	sdkworker "go.temporal.io/sdk/worker"
	"golang.org/x/sync/errgroup"

	"payonce/boundaries"
	"payonce/internal/clock"
	"payonce/ledger"
	"payonce/recovery"
	"payonce/worker"
)

// connectAgain is how long a worker waits before it tries a Temporal that does not answer again.
const connectAgain = time.Second

// Work runs the Temporal worker, the recovery loops and the dispatcher until ctx ends, and then lets running activities finish.
// eager tells that the API runs in this process too, so that it may hand new payments straight to this worker.
func (a *App) Work(ctx context.Context, eager bool) error {
	group, running := errgroup.WithContext(ctx)
	state := &temporal{log: a.Log, address: a.Config.TemporalAddress, now: clock.Wall}
	group.Go(func() error { return a.runWorker(running, state, eager) })
	group.Go(func() error { return a.Dispatcher.Run(running) })
	if a.Config.Timing.BackfillEvery > 0 {
		group.Go(func() error { return a.schedule(running) })
	}
	for _, loop := range a.loops(state) {
		group.Go(func() error { return loop.Run(running) })
	}
	return group.Wait()
}

// runWorker starts the worker as soon as Temporal answers: until then the recovery loops work without it.
func (a *App) runWorker(ctx context.Context, state *temporal, eager bool) error {
	for {
		fatal := make(chan error, 1)
		w := worker.New(a.Temporal, worker.Options{
			TaskQueue: a.Config.TaskQueue, Grace: a.Config.Timing.ShutdownGrace, Sticky: a.Config.Timing.WorkflowTask,
			OnFatal: func(err error) { fatal <- err },
		}, a.Activities)
		err := w.Start()
		if err == nil {
			state.note(nil)
			if err = a.awaitWorker(ctx, w, fatal, state, eager); err == nil {
				return nil
			}
		}
		if ctx.Err() == nil {
			state.note(err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(connectAgain):
		}
	}
}

// schedule has Temporal start the backfill of events now and then, as soon as Temporal answers.
func (a *App) schedule(ctx context.Context) error {
	backfill := worker.Schedule{
		TaskQueue: a.Config.TaskQueue, Every: a.Config.Timing.BackfillEvery, Act: a.Config.Timing.BackfillAct, Heartbeat: a.Config.Timing.WorkflowTask,
	}
	for {
		err := backfill.Ensure(ctx, a.Temporal)
		if err == nil {
			return nil
		}
		a.Log.Debug("the backfill of events is not scheduled yet", "error", err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(connectAgain):
		}
	}
}

// awaitWorker lets a started worker work until ctx ends, or returns why it stopped by itself: then another is started.
func (a *App) awaitWorker(ctx context.Context, w sdkworker.Worker, fatal <-chan error, state *temporal, eager bool) error {
	a.waker.SetEager(eager)
	defer a.waker.SetEager(false)
	a.settled.SetHere(true)
	defer a.settled.SetHere(false)
	a.Log.Info("worker started", "task_queue", a.Config.TaskQueue)
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			w.Stop()
			return nil
		case err := <-fatal:
			return fmt.Errorf("the worker stopped by itself: %w", err)
		case <-look.C:
			state.look(ctx, a.Temporal)
		}
	}
}

func (a *App) loops(state *temporal) []recovery.Loop {
	durations := a.Config.Timing
	relay := &recovery.Relay{
		Pool: a.System, Activities: a.Activities, Waker: a.waker, Anew: a.waker.Anew(), Timing: durations, InFlight: runtime.NumCPU(), Linger: time.Second,
		Log: a.Log,
	}
	next := recovery.NewNudge()
	a.settled.Then(func() {
		if relay.Behind() {
			next.Send()
		}
	})
	applier := &recovery.Applier{Pool: a.System, Sealer: a.Sealer, Activities: a.Activities, Timing: durations, Log: a.Log}
	poller := &recovery.Poller{Pool: a.System, Activities: a.Activities, Timing: durations, Log: a.Log}
	abandoner := &recovery.Abandoner{Pool: a.System, Activities: a.Activities}
	holder := &recovery.Holder{Pool: a.System, Activities: a.Activities}
	fees := &recovery.Fees{Pool: a.System, Activities: a.Activities, Timing: durations, Log: a.Log}
	return []recovery.Loop{
		{Name: "relay", Every: durations.LoopEvery, Nudge: next, Log: a.Log, Work: func(ctx context.Context) (int, error) {
			woken, err := relay.Wake(ctx)
			if err != nil && state.away() {
				return 0, nil // said already; what could not be woken is due again
			}
			return woken, err
		}},
		{Name: "applier", Every: durations.LoopEvery, Nudge: a.stored, Gather: durations.Gather, Log: a.Log, Work: func(ctx context.Context) (int, error) {
			taken, err := applier.Apply(ctx)
			return taken / recovery.ApplyBatch, err // less than a batch: the events of one payment come together, so gather again
		}},
		{Name: "poller", Every: durations.LoopEvery, Work: poller.Poll, Log: a.Log},
		{Name: "dispute poller", Every: durations.LoopEvery, Work: poller.PollDisputes, Log: a.Log},
		{Name: "refund poller", Every: durations.LoopEvery, Work: poller.PollRefunds, Log: a.Log},
		{Name: "payout poller", Every: durations.LoopEvery, Work: poller.PollPayouts, Log: a.Log},
		{Name: "abandoner", Every: durations.LoopEvery, Work: abandoner.Abandon, Log: a.Log},
		{Name: "holder", Every: durations.LoopEvery, Work: holder.SeeTo, Log: a.Log},
		{Name: "fees", Every: durations.FeesEvery, Work: fees.Collect, Log: a.Log},
		{Name: "sweep", Every: durations.SweepEvery, Log: a.Log, Work: func(ctx context.Context) (int, error) {
			touched, err := boundaries.Sweep(ctx, a.System, durations)
			if err != nil {
				return 0, fmt.Errorf("sweep: %w", err)
			}
			return touched / boundaries.SweepBatch, nil // a full batch: go on at once
		}},
		{Name: "roll-up", Every: durations.SweepEvery, Log: a.Log, Work: func(ctx context.Context) (int, error) {
			_, err := ledger.RollUp(ctx, a.System, ledger.RollUpLimits{Accounts: 100, Entries: 10_000})
			return 0, err
		}},
	}
}
