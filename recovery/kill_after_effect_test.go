package recovery_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/internal/app"
	"payonce/internal/testkit/pg"
	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

// The worker dies after an act had its effect and before that is known here, whichever act it is: the next worker's try converges on the same
// intent, charge, journal and message.
func TestAWorkerKilledAfterAnyEffectIsFollowedByTheSameEffect(t *testing.T) {
	for name, effect := range map[string]struct {
		path string // of the call whose answer is withheld; empty: the reply to the commit that posts is
	}{
		"the intent was created": {"/v1/payment_intents"},
		"the charge was made":    {"/v1/payment_intents/*/confirm"},
		"the journal was posted": {""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var cutter *pg.CommitCutter
			s := system.New(t, func(c *app.Config) {
				cutter = pg.NewCommitCutter(t, c.DatabaseURL)
				c.DatabaseURL = cutter.URL // of the processes
			})
			s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDrop})
			s.StartAPI()
			var hold control.Hold
			if effect.path == "" {
				cutter.Arm(pg.Cut{Times: 1000, After: "ledger_journals"})
			} else {
				var err error
				hold, err = s.Twin.Hold(t.Context(), control.Hold{Method: http.MethodPost, Path: effect.path, Point: control.AfterEffect})
				require.NoError(t, err)
			}
			worker := s.WorkerProcess()
			answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments", "K1", system.Order("order-1", 1000), "wait=0")
			require.NoError(t, err)
			id := answer.Payment(t).ID
			if effect.path == "" {
				s.Eventually("the effect is committed, and its reply lost", func() bool { return cutter.Fired() > 0 })
			} else {
				_, err = s.Twin.Held(t.Context(), 1)
				require.NoError(t, err)
			}
			worker.Kill()
			if effect.path == "" {
				cutter.Arm(pg.Cut{})
				s.Eventually("the commit has arrived", func() bool { return s.Count(`SELECT count(*) FROM payonce.ledger_journals`) == 1 })
			} else {
				require.NoError(t, s.Twin.Release(t.Context(), hold.ID))
			}
			s.WorkerProcess()
			s.Eventually("the payment succeeds", func() bool { return s.Payment(id).Status == payments.StatusSucceeded })
			s.Settle()
			ended(t, s, id)
			requireOnce(t, s, id)
			require.Equal(t, 1, s.Count(`SELECT count(DISTINCT id) FROM payonce.notifications WHERE status = 'delivered'`))
		})
	}
}

// The worker dies after Stripe canceled the intent and before that is known here: the next one's cancel is the same call, the payment ends as canceled
// and its receiver is told once.
func TestAWorkerKilledAfterACancelIsFollowedByTheSameCancel(t *testing.T) {
	t.Parallel()
	s := system.New(t)
	s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDrop})
	s.StartAPI()
	worker := s.WorkerProcess()
	created := s.Create("K1", system.With(system.Order("order-1", 1000), "payment_method", nil)).Payment(t)
	require.Equal(t, payments.StatusRequiresPaymentMethod, created.Status)
	const cancels = "/v1/payment_intents/*/cancel"
	hold, err := s.Twin.Hold(t.Context(), control.Hold{Method: http.MethodPost, Path: cancels, Point: control.AfterEffect})
	require.NoError(t, err)
	_, err = s.Post(t.Context(), s.APIKey, "/v1/payments/"+created.ID.String()+"/cancel", "K2", map[string]any{}, "wait=0")
	require.NoError(t, err)
	_, err = s.Twin.Held(t.Context(), 1)
	require.NoError(t, err)
	worker.Kill()
	require.NoError(t, s.Twin.Release(t.Context(), hold.ID))
	s.WorkerProcess()
	s.Eventually("the payment is canceled", func() bool { return s.Payment(created.ID).Status == payments.StatusCanceled })
	s.Settle()
	require.True(t, s.Book(created.ID).Canceled)
	for _, send := range s.Requests(http.MethodPost, cancels) {
		require.Equal(t, s.Requests(http.MethodPost, cancels)[0].IdempotencyKey, send.IdempotencyKey)
	}
	require.Zero(t, s.Count(`SELECT count(*) FROM payonce.ledger_journals`))
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.notifications`))
	require.Len(t, s.Receiver.Of(t, created.ID.String()), 1)
}
