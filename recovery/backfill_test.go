package recovery_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"payonce/internal/app"
	"payonce/internal/tenants"
	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
	"payonce/worker"
	"payonce/workflows"
)

// neverPolls is an Option: nobody reads at Stripe by himself.
func neverPolls(c *app.Config) {
	c.Timing.PollAfter, c.Timing.PollMaximum = 2400*time.Hour, 4800*time.Hour
}

// undelivered is a debit that has settled at Stripe, and no delivery told.
func undelivered(t *testing.T, s *system.System) payments.View {
	t.Helper()
	s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDrop})
	debit := system.With(system.With(system.Order("order-1", 1000), "payment_method", "pm_usBankAccount_processing"),
		"payment_method_types", []string{"us_bank_account"})
	payment := s.Create("K1", debit).Payment(t)
	require.Equal(t, payments.StatusProcessing, payment.Status)
	_, err := s.Twin.Succeed(t.Context(), payment.PaymentIntent)
	require.NoError(t, err)
	return payment
}

// backfills goes through Stripe's list and says how many events were found.
func backfills(t *testing.T, s *system.System) (found int) {
	t.Helper()
	for {
		step, err := s.App.Activities.Backfill(t.Context(), workflows.BackfillAct{Version: 1})
		require.NoError(t, err)
		found += step.Found
		if !step.More {
			return found
		}
	}
}

// What Stripe lists and never delivered is stored and applied, once; what was delivered is left as it came.
func TestAnEventThatWasNeverDeliveredIsFoundInStripesList(t *testing.T) {
	t.Parallel()
	s := system.Start(t, neverPolls)
	delivered := s.Create("K0", system.Order("order-0", 1000)).Payment(t)
	s.Settle()
	known := s.Count(`SELECT count(*) FROM payonce.provider_events`)
	require.Positive(t, known)
	payment := undelivered(t, s)
	found := backfills(t, s)
	require.Positive(t, found)
	s.Eventually("the debit has settled", func() bool { return s.Payment(payment.ID).Status == payments.StatusSucceeded })
	s.Settle()
	require.Zero(t, backfills(t, s), "what is known is not found again")
	require.Equal(t, found, s.Count(`SELECT count(*) FROM payonce.provider_events WHERE source = 'backfill' AND deliveries = 1`))
	require.Equal(t, known, s.Count(`SELECT count(*) FROM payonce.provider_events WHERE source = 'webhook' AND deliveries = $1`, s.Times))
	require.Equal(t, found, s.Count(`SELECT found FROM payonce.event_cursors`))
	require.Equal(t, 2, s.Count(`SELECT count(*) FROM payonce.ledger_journals`))
	require.Len(t, s.Receiver.Of(t, payment.ID.String()), 1)
	require.Len(t, s.Receiver.Of(t, delivered.ID.String()), 1)
}

// After days in which nothing ran, the list is gone through from where the last round ended, however many pages it has.
func TestWhatHappenedWhileNothingRanIsFound(t *testing.T) {
	t.Parallel()
	s := system.Start(t, neverPolls)
	payment := undelivered(t, s)
	for n := range 210 { // more than two pages, in one slice
		s.CreateAtStripe(fmt.Sprintf("%stheirs-%d", system.OutsideKey, n), "amount=500&currency=usd")
	}
	s.DB.AdvanceClock(t, 3*24*time.Hour)
	require.Greater(t, backfills(t, s), 210)
	s.Eventually("the debit has settled", func() bool { return s.Payment(payment.ID).Status == payments.StatusSucceeded })
	require.Zero(t, s.Count(`SELECT count(*) FROM payonce.event_cursors WHERE seen_until < payonce.clock() - interval '1 minute'`))
	s.Settle()
}

// A place that is set back while a round is under way stays set back: the round that ends later does not pass over what is to be read again.
func TestAPlaceThatIsSetBackDuringARoundStaysSetBack(t *testing.T) {
	t.Parallel()
	s := system.Start(t, neverPolls)
	backfills(t, s)
	hold, err := s.Twin.Hold(t.Context(), control.Hold{Method: http.MethodGet, Path: "/v1/events", Point: control.BeforeEffect})
	require.NoError(t, err)
	var round errgroup.Group
	round.Go(func() error {
		_, err := s.App.Activities.Backfill(t.Context(), workflows.BackfillAct{Version: 1})
		return err
	})
	_, err = s.Twin.Held(t.Context(), 1)
	require.NoError(t, err)
	require.NoError(t, s.App.Activities.BackfillSince(t.Context(), time.Now().Add(-10*24*time.Hour)))
	require.NoError(t, s.Twin.Release(t.Context(), hold.ID))
	require.NoError(t, round.Wait())
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.event_cursors WHERE seen_until < payonce.clock() - interval '9 days'`))
}

// What is older than Stripe's memory of events is read from the objects themselves.
func TestBeyondStripesMemoryOfEventsTheObjectsAreRead(t *testing.T) {
	t.Parallel()
	s := system.Start(t, neverPolls)
	payment := undelivered(t, s)
	s.DB.AdvanceClock(t, 45*24*time.Hour)
	require.Zero(t, backfills(t, s), "Stripe has forgotten the events")
	s.Eventually("the debit has settled", func() bool { return s.Payment(payment.ID).Status == payments.StatusSucceeded })
	require.Zero(t, s.Count(`SELECT count(*) FROM payonce.event_cursors WHERE seen_until < payonce.clock() - interval '1 minute'`))
	s.Settle()
}

// The place of an account whose calls are stopped stays where it is, and another account's moves.
func TestTheListOfAStoppedAccountIsGoneThroughLater(t *testing.T) {
	t.Parallel()
	s := system.Start(t, neverPolls)
	payment := undelivered(t, s)
	account := payments.Account{ID: system.AccountID}
	require.NoError(t, tenants.StopAccount(t.Context(), s.App.System, account, "its key was rolled"))
	require.Zero(t, backfills(t, s))
	s.DB.AdvanceClock(t, time.Hour)
	require.Zero(t, backfills(t, s))
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.event_cursors WHERE seen_until < payonce.clock() - interval '1 hour'`))
	s.Resume()
	require.Positive(t, backfills(t, s))
	s.Eventually("the debit has settled", func() bool { return s.Payment(payment.ID).Status == payments.StatusSucceeded })
	s.Settle()
}

// A restricted key that may not list events may do all else: its account is not stopped.
func TestAKeyThatMayNotListEventsIsStillGood(t *testing.T) {
	t.Parallel()
	s := system.Start(t, neverPolls)
	s.Fault(control.Rule{Match: control.Match{Method: http.MethodGet, Path: "/v1/events"}, Fault: control.FaultUnauthorized, Status: http.StatusForbidden})
	_, err := s.App.Activities.Backfill(t.Context(), workflows.BackfillAct{Version: 1})
	require.ErrorContains(t, err, "may not list events")
	require.Zero(t, s.Count(`SELECT count(*) FROM payonce.provider_accounts WHERE stopped_at IS NOT NULL`))
	require.Equal(t, payments.StatusSucceeded, s.Create("K1", system.Order("order-1", 1000)).Payment(t).Status)
	s.Settle()
}

// Temporal starts a round now and then, whoever asked for the schedule, and however often.
func TestTemporalSchedulesTheBackfill(t *testing.T) {
	t.Parallel()
	s := system.New(t, neverPolls, func(c *app.Config) { c.Timing.BackfillEvery = time.Second })
	schedule := worker.Schedule{TaskQueue: s.Config.TaskQueue, Every: time.Hour, Act: time.Minute, Heartbeat: time.Minute}
	require.NoError(t, schedule.Ensure(t.Context(), s.App.Temporal), "as an older release had it")
	handle := s.App.Temporal.ScheduleClient().GetHandle(t.Context(), schedule.ID())
	t.Cleanup(func() { require.NoError(t, handle.Delete(context.WithoutCancel(t.Context()))) })
	s.StartAPI()
	s.StartWorker()
	payment := undelivered(t, s)
	s.Eventually("the debit has settled", func() bool { return s.Payment(payment.ID).Status == payments.StatusSucceeded })
	at, err := handle.Describe(t.Context())
	require.NoError(t, err)
	require.Equal(t, time.Second, at.Schedule.Spec.Intervals[0].Every)
	s.Settle()
}
