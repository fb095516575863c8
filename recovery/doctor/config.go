package doctor

import (
	"errors"
	"time"

	"payonce/internal/seal"
	"payonce/internal/timing"
	"payonce/ledger"
	"payonce/stripesim/control"
)

// Config is what an examination looks at and how strict it is.
type Config struct {
	Owner    ledger.Querier  // a pool, or a transaction for one snapshot, of a role that may read everything
	Sealer   *seal.Sealer    // opens frozen bodies and stored answers; nothing of them is shown
	Twin     *control.Client // the twin's control API; nil: the checks at Stripe say that they looked at nothing
	Timing   timing.Timing   // the durations that the examined system runs with
	Settled  bool            // the system is quiet: everything must be over or visibly waiting, every event settled, every message told
	Received []Received      // what a receiver took, in order of arrival; nil: no receiver's log was given
	Late     time.Duration   // how long after its time a thing may still be undone; 0: LateAfter(Timing)

	// Outsiders are prefixes of Idempotency-Keys with which others act at our Stripe account beside us, such as a person's tool.
	Outsiders []string
}

// Received is a message as a receiver took it.
type Received struct {
	ID   string // webhook-id
	Body []byte
}

// LateAfter is how long after its due time a thing of a running system counts as overdue: a loop looks every LoopEvery, and who died with the
// work in hand is waited for up to a lease.
func LateAfter(t timing.Timing) time.Duration { return 2*max(t.Lease, t.EventLease) + 10*t.LoopEvery }

func (c Config) validate() error {
	var missing []error
	if c.Owner == nil {
		missing = append(missing, errors.New("the doctor needs a database"))
	}
	if c.Sealer == nil {
		missing = append(missing, errors.New("the doctor needs the sealing keyset: frozen bytes are compared"))
	}
	return errors.Join(append(missing, c.Timing.Validate())...)
}
