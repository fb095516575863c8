package devstack

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"payonce/internal/postgres"
	"payonce/internal/stack"
	"payonce/stripesim/control"
)

// controlTimeout bounds one call of the twin's control API; a flush waits in the twin.
const controlTimeout = 30 * time.Second

func (s *Stack) startTemporal(ctx context.Context) error {
	if s.config.Temporal != "" {
		s.Temporal = s.config.Temporal
		return nil
	}
	binary, err := s.config.program("temporal-dev")
	if err != nil {
		return err
	}
	address, err := s.config.State.Address("temporal")
	if err != nil {
		return err
	}
	config := stack.TemporalConfig{Binary: binary, PostgresURL: s.adminURL, Prefix: "payonce_", Listen: address, Namespace: namespace}
	if s.config.TemporalUI {
		if config.UI, err = s.config.State.Address("temporal-ui"); err != nil {
			return err
		}
		s.TemporalUI = "http://" + config.UI
	}
	s.Temporal, err = s.supervisor.Start(ctx, stack.TemporalProgram(config))
	return err
}

// startTwin starts the twin on the engine's clock, with the books of earlier runs.
func (s *Stack) startTwin(ctx context.Context) error {
	binary, err := s.config.program("stripesim")
	if err != nil {
		return err
	}
	clockURL, err := postgres.WithRole(s.DatabaseURL, postgres.RoleTwin)
	if err != nil {
		return err
	}
	address, err := s.config.State.Address("stripesim")
	if err != nil {
		return err
	}
	env := []string{"STRIPESIM_CLOCK_URL=" + clockURL, "STRIPESIM_STATE=" + s.config.State.Path("stripesim.db"), "STRIPESIM_LOG_LEVEL=WARN"}
	if s.config.Twin.Seed != 0 {
		env = append(env, "STRIPESIM_SEED="+strconv.FormatInt(s.config.Twin.Seed, 10))
	}
	if s.config.Twin.RetryScale != 0 {
		env = append(env, "STRIPESIM_RETRY_SCALE="+strconv.FormatFloat(s.config.Twin.RetryScale, 'f', -1, 64))
	}
	if s.config.Twin.WebhookTimeout != 0 {
		env = append(env, "STRIPESIM_WEBHOOK_TIMEOUT="+s.config.Twin.WebhookTimeout.String())
	}
	s.TwinURL, err = s.supervisor.Start(ctx, stack.Program{
		Name: "stripesim", Command: []string{binary, "--listen", address}, Env: env,
		Ready: regexp.MustCompile(`^stripesim: listening on (\S+)`),
	})
	s.Twin = control.NewClient(s.TwinURL, &http.Client{Timeout: controlTimeout})
	return err
}

func (s *Stack) startAPI(ctx context.Context) (err error) {
	_, err = s.supervisor.Start(ctx, stack.Program{
		Name: API, Command: []string{s.config.Executable, "serve"}, Env: append(s.environment(), "PAYONCE_LISTEN="+s.config.Listen),
		Ready: regexp.MustCompile(`^payonce: serving on (\S+)`), Restart: s.config.Restart,
	})
	return err
}

func (s *Stack) startWorker(ctx context.Context) error {
	_, err := s.supervisor.Start(ctx, stack.Program{
		Name: Worker, Command: []string{s.config.Executable, "worker"}, Env: s.environment(),
		Ready: regexp.MustCompile(`^payonce: worker on task queue (\S+)`), Restart: s.config.Restart,
	})
	return err
}

// environment configures a process of payonce. Every variable is set, so that none of our own environment reaches it.
func (s *Stack) environment() []string {
	return []string{
		"PAYONCE_DATABASE_URL=" + s.DatabaseURL, "PAYONCE_TENANT_DATABASE_URL=", "PAYONCE_SYSTEM_DATABASE_URL=",
		"PAYONCE_TEMPORAL=" + s.Temporal, "PAYONCE_NAMESPACE=" + namespace, "PAYONCE_TASK_QUEUE=" + taskQueue,
		"PAYONCE_STRIPE_URL=" + s.TwinURL, "PAYONCE_KEYSET_FILE=" + s.config.State.Path(fileKeyset),
		"PAYONCE_ALLOW_LOOPBACK=" + s.config.Receiver, "PAYONCE_TIMING=" + s.config.Timing,
		fmt.Sprintf("PAYONCE_MAX_CONNS=%d", maxConns), "PAYONCE_LOG_LEVEL=" + s.config.LogLevel, "PAYONCE_SERVE_WORKER=false",
	}
}
