package devstack

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"payonce/internal/seal"
	"payonce/internal/stack"
	"payonce/payments"
	"payonce/stripesim/control"
)

// The processes that a caller may kill and start again.
const (
	API    = "api"
	Worker = "worker"
)

// Stack is everything, running.
type Stack struct {
	DatabaseURL    string // of payonce_owner
	Temporal       string // host:port
	TemporalUI     string // URL; empty: there is none of ours
	TwinURL        string
	APIURL         string
	Tenant         payments.TenantID
	APIKey         string
	APIKeyFile     string
	KeysetFile     string
	ReceiverSecret string        // signs the messages to Config.Receiver
	Reader         *pgxpool.Pool // of a role that may read everything
	Sealer         *seal.Sealer
	Twin           *control.Client

	config     Config
	adminURL   string // of a role that may create roles and databases
	clusterDir string // empty: the cluster is not ours
	system     *pgxpool.Pool
	supervisor *stack.Supervisor
}

// ErrTaken says that another program has the address of the API.
var ErrTaken = errors.New("the address of the API is taken")

// Start ends what a killed run on the same state left running, starts everything and provisions what is missing. On an error, everything that was started is
// stopped. ErrTaken; stack.ErrInUse when another living process has the state.
func Start(ctx context.Context, config Config) (*Stack, error) {
	s := &Stack{config: config, KeysetFile: config.State.Path(fileKeyset), supervisor: stack.NewSupervisor(config.Out)}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

func (s *Stack) start(ctx context.Context) error {
	if err := s.supervisor.KeepIn(s.config.State.Path("")); err != nil {
		return err
	}
	if err := s.config.check(); err != nil {
		return err
	}
	if err := s.startPostgres(ctx); err != nil {
		return err
	}
	services, starting := errgroup.WithContext(ctx)
	services.Go(func() error { return s.startTemporal(starting) })
	services.Go(func() error {
		if err := s.openDatabase(starting); err != nil {
			return err
		}
		if err := s.startTwin(starting); err != nil {
			return err
		}
		return s.provision(starting)
	})
	if err := services.Wait(); err != nil {
		return err
	}
	processes, starting := errgroup.WithContext(ctx)
	processes.Go(func() error { return s.startAPI(starting) })
	processes.Go(func() error { return s.startWorker(starting) })
	return processes.Wait()
}

// KillAndRestart ends API or Worker by SIGKILL and starts it again, on the same address.
func (s *Stack) KillAndRestart(ctx context.Context, process string) error {
	if err := s.supervisor.Kill(process, syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill %s: %w", process, err)
	}
	_, err := s.supervisor.StartAgain(ctx, process)
	return err
}

// Context ends with its parent, or, with the reason as its cause, when a process ends on its own. The processes themselves go on until Stop, or
// the cancel.
func (s *Stack) Context(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	watching, stopWatching := context.WithCancel(context.WithoutCancel(parent))
	go func() {
		if err := s.supervisor.Wait(watching); err != nil {
			cancel(err)
		}
	}()
	return ctx, func() { cancel(nil); stopWatching() }
}

// Wait blocks until ctx ends, or, with an error, until a process ends on its own. Stop is still to be called.
func (s *Stack) Wait(ctx context.Context) error {
	running, stop := s.Context(ctx)
	defer stop()
	<-running.Done()
	if ctx.Err() != nil {
		return nil
	}
	return context.Cause(running)
}

// Stop stops everything, the last started first. The data stays.
func (s *Stack) Stop() error {
	for _, pool := range []*pgxpool.Pool{s.Reader, s.system} {
		if pool != nil {
			pool.Close()
		}
	}
	s.Reader, s.system = nil, nil
	return s.supervisor.Stop()
}
