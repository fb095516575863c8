package devstack

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Config says what is run. Every field without a word on empty is required.
type Config struct {
	State       State
	Executable  string    // payonce itself; stripesim and temporal-dev stand beside it
	DatabaseURL string    // of a role that may create roles and databases; empty: a cluster in the state directory
	Temporal    string    // host:port of a frontend; empty: temporal-dev on the same Postgres
	Listen      string    // host:port of the API; empty: a kept port
	TemporalUI  bool      // serve Temporal's web UI, unless the frontend is given
	Receiver    string    // host:port on loopback that takes the tenant's messages at /messages
	Timing      string    // production or quick
	LogLevel    string    // of API and worker
	Restart     bool      // start API and worker again when they end unasked
	Twin        Twin      // the zero value is Stripe's own pace
	Out         io.Writer // what the processes say
}

// Twin says how the Stripe twin behaves; zero values are its defaults.
type Twin struct {
	Seed           int64         // decides the faults that have a probability
	RetryScale     float64       // factor on the gaps between webhook tries
	WebhookTimeout time.Duration // how long the webhook endpoint may take to answer
}

// Names in the development provisioning. The twin reads the account off the secret key: sk_test_X is of acct_X.
const (
	accountID  = "acct_payonce_dev"
	secretKey  = "sk_test_payonce_dev" // of the twin: no secret
	tenantName = "dev"
	namespace  = "payonce"
	taskQueue  = "payonce"
	database   = "payonce"
)

// maxConns is the connections of each pool of a process: API, worker, Temporal and the looks from outside share one small cluster.
const maxConns = 12

// check finds out early that a program was not built, or that somebody has the address of the API, which is the last to start.
func (c Config) check() error {
	if c.Listen != "" {
		listener, err := net.Listen("tcp", c.Listen)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrTaken, err)
		}
		if err := listener.Close(); err != nil {
			return err
		}
	}
	_, err := c.program("stripesim")
	if err == nil && c.Temporal == "" {
		_, err = c.program("temporal-dev")
	}
	return err
}

// program is the path of a program that is built beside payonce.
func (c Config) program(name string) (string, error) {
	path := filepath.Join(filepath.Dir(c.Executable), name)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is missing: run `make build`, which builds it beside payonce", path)
	}
	return path, nil
}
