package system

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"payonce/recovery/doctor"
)

// OutsideKey begins the Idempotency-Keys with which a test acts at Stripe beside payonce, as a person's tool would: the doctor holds every other POST
// about our payments against what payonce froze.
const OutsideKey = "outside-"

// stopped is how late anything may be at the end of a test: every part was stopped by then, and the clock may have been moved.
const stopped = 100 * 365 * 24 * time.Hour

// check ends every test with the invariants: what must be true of a system wherever it was stopped.
func (s *System) check() {
	s.t.Helper()
	if report := s.examine(false, stopped); !report.Healthy() {
		s.t.Errorf("the doctor found %d violations:\n%s", report.Violations(), report)
	}
}

// CheckSettled requires the invariants of a quiet system: nothing is open, unsettled or untold, and our books are Stripe's.
func (s *System) CheckSettled() {
	s.t.Helper()
	report := s.examine(true, 0)
	require.True(s.t, report.Healthy(), "the doctor found violations:\n%s", report)
}

// Settle lets the running system come to rest: Stripe's deliveries are sent, events settled, messages told, commands ended, and whatever no event
// told is read by the poller. It ends with CheckSettled.
func (s *System) Settle() {
	s.t.Helper()
	deadline := time.NewTimer(60 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		_, err := s.Twin.Flush(s.t.Context(), true)
		require.NoError(s.t, err)
		if s.quiet() && s.examine(true, 0).Healthy() {
			return
		}
		select {
		case <-deadline.C:
			s.CheckSettled()
			return
		case <-tick.C:
		}
	}
}

// quiet tells whether nothing of ours is under way.
func (s *System) quiet() bool {
	s.t.Helper()
	var busy bool
	require.NoError(s.t, s.Owner.QueryRow(s.t.Context(), `
		SELECT EXISTS (SELECT FROM payonce.provider_events WHERE settled_at IS NULL)
		    OR EXISTS (SELECT FROM payonce.notifications WHERE status = 'queued')
		    OR EXISTS (SELECT FROM payonce.idempotency_records WHERE status = 'in_progress')`).Scan(&busy))
	return !busy
}

// examine asks the doctor, as the superuser so that it sees sessions too.
func (s *System) examine(settled bool, late time.Duration) doctor.Report {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	pool, err := pgxpool.New(ctx, s.DB.SuperuserURL)
	require.NoError(s.t, err)
	defer pool.Close()
	config := doctor.Config{
		Owner: pool, Sealer: s.App.Sealer, Timing: s.Config.Timing, Settled: settled, Late: late, Outsiders: []string{OutsideKey},
	}
	sent, err := s.Twin.Requests(ctx, 0, 1)
	require.NoError(s.t, err)
	if len(sent) > 0 {
		config.Twin = s.Twin // else the test brings facts by hand, and Stripe knows nothing of them
	}
	report, err := doctor.Examine(ctx, config)
	require.NoError(s.t, err)
	return report
}

// EventuallyFlushed is Eventually while Stripe's deliveries are sent as fast as they can be; what says at the end how things stand.
func (s *System) EventuallyFlushed(what func() string, condition func() bool) {
	s.t.Helper()
	deadline := time.NewTimer(60 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		_, err := s.Twin.Flush(s.t.Context(), true)
		require.NoError(s.t, err)
		select {
		case <-deadline.C:
			require.FailNow(s.t, "it did not come to be", what())
		case <-tick.C:
		}
	}
}
