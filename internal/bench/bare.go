package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"payonce/internal/bench/result"
	"payonce/internal/clock"
	"payonce/internal/timing"
)

// childBare is the process of the bare workflow: a worker and a starter on one client, with the settings of the product's worker.
const childBare = "bare"

// bareRun is what one round of bare workflows came to.
type bareRun struct {
	Done    int     `json:"done"`
	Seconds float64 `json:"seconds"`
	P50     float64 `json:"p50_ms"` // start to result
}

func noop(context.Context) error { return nil }

// bareWorkflow is what a payment costs at the least: two activities that do nothing, in the process that started it.
func bareWorkflow(ctx workflow.Context) error {
	ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: timing.Production().LocalTry, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	})
	for range 2 {
		if err := workflow.ExecuteLocalActivity(ctx, noop).Get(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}

func serveBare(ctx context.Context, arguments []string, out io.Writer) error {
	flags := flag.NewFlagSet(childBare, flag.ContinueOnError)
	address := flags.String("temporal", "", "Temporal frontend, host:port")
	namespace := flags.String("namespace", "", "Temporal namespace")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	c, err := client.DialContext(ctx, client.Options{HostPort: *address, Namespace: *namespace, Logger: sdklog.NewStructuredLogger(log)})
	if err != nil {
		return fmt.Errorf("temporal client: %w", err)
	}
	defer c.Close()
	const queue = "bench-bare"
	w := worker.New(c, queue, worker.Options{ // as worker.New of the product has them
		WorkerStopTimeout: timing.Production().ShutdownGrace, StickyScheduleToStartTimeout: timing.Production().WorkflowTask,
		MaxConcurrentWorkflowTaskPollers: 4, MaxConcurrentActivityTaskPollers: 4,
	})
	w.RegisterWorkflow(bareWorkflow)
	if err := w.Start(); err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	defer w.Stop()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	server := &http.Server{Handler: bareHandler(c, queue), ReadHeaderTimeout: 10 * time.Second}
	fmt.Fprintf(out, "bare: listening on http://%s\n", listener.Addr())
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// bareHandler answers POST with {in_flight, milliseconds} by running workflows so long.
func bareHandler(c client.Client, queue string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked bareOrder
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		var took series
		done, seconds, err := loop(r.Context(), asked.InFlight, time.Duration(asked.Milliseconds)*time.Millisecond, func(ctx context.Context) error {
			began := clock.Wall()
			started, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
				ID: "bare/" + uuid.NewString(), TaskQueue: queue, WorkflowTaskTimeout: timing.Production().WorkflowTask, EnableEagerStart: true,
			}, bareWorkflow)
			if err != nil {
				return err
			}
			if err := started.Get(ctx, nil); err != nil {
				return err
			}
			took.add(milliseconds(began))
			return nil
		})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_ = json.NewEncoder(w).Encode(bareRun{Done: done, Seconds: seconds, P50: result.Median(took.all())}) // the load sees what is missing
	})
}

// bareOrder asks for a round of bare workflows.
type bareOrder struct {
	InFlight     int   `json:"in_flight"`
	Milliseconds int64 `json:"milliseconds"`
}
