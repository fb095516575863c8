package activities_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/activities"
	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

// payoutLeftUnknown is a payout that Stripe refuses to tell of: a person has to.
func payoutLeftUnknown(t *testing.T, s *system.System) payments.PayoutView {
	t.Helper()
	funded(t, s, 10_000)
	rule := s.Fault(control.Rule{Match: control.Match{Method: http.MethodPost, Path: payouts}, Fault: control.FaultKeyMismatch})
	answer, err := s.Post(t.Context(), s.APIKey, payouts, "P1", payout(4000, "week-1"), "wait=0")
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, answer.Status, "%s", answer.Body)
	s.Eventually("a person is asked", func() bool {
		return s.Count(`SELECT count(*) FROM payonce.payouts WHERE review_reason = 'outcome_unknown'`) == 1
	})
	require.NoError(t, s.Twin.DeleteFault(t.Context(), rule.ID))
	all, _ := listPayouts(t, s, "")
	require.Len(t, all, 1)
	return all[0]
}

// A payout that certainly was not made is sent again under the next generation's key: one payout, and the caller's key gets its outcome.
func TestAPayoutThatWasNotExecutedIsSentAgain(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	unknown := payoutLeftUnknown(t, s)
	resolve := func(as string) error { return s.App.Activities.ResolvePayout(t.Context(), unknown.ID, says(as)) }
	require.ErrorIs(t, resolve(activities.ResolvedSeen), activities.ErrStillUnknown)
	require.ErrorIs(t, resolve(activities.ResolvedExecuted), activities.ErrNotShown)
	s.DB.AdvanceClock(t, s.Config.Timing.SafetyAge+s.Config.Timing.Send)
	require.NoError(t, resolve(activities.ResolvedNotExecuted))
	s.Eventually("it is made", func() bool { return readPayout(t, s, unknown.ID).Status == payments.PayoutPending })
	require.Equal(t, unknown.ID, payoutOf(t, payOut(t, s, "P1", payout(4000, "week-1"))).ID)
	s.Settle()
	made, err := s.Twin.AllPayouts(t.Context(), system.AccountID)
	require.NoError(t, err)
	require.Len(t, made, 1)
	booked(t, s, 4000, 6000)
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.payouts WHERE review_reason IS NULL AND jsonb_array_length(resolutions) = 1
		AND resolutions->0->>'by' = 'an operator' AND resolutions->0->'review'->>'reason' = 'outcome_unknown'`))
}

// What may still take effect is not sent again, whatever a person says.
func TestAPayoutThatMayStillTakeEffectIsNotSentAgain(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	unknown := payoutLeftUnknown(t, s)
	s.Exec(`UPDATE payonce.provider_calls SET ended_at = payonce.clock() + interval '1 minute' WHERE operation = 'create_payout'`) // as if sent just now
	require.ErrorIs(t, s.App.Activities.ResolvePayout(t.Context(), unknown.ID, says(activities.ResolvedNotExecuted)), activities.ErrTooEarly)
}

// A payout that Stripe shows is not called unmade, and settles the command with or without a person's word.
func TestAPayoutThatStripeShowsIsBelieved(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDrop})
	unknown := payoutLeftUnknown(t, s)
	payOutElsewhere(t, s, map[string][]string{
		"amount": {"4000"}, "currency": {"usd"}, "metadata[" + payments.MetadataPayout + "]": {unknown.ID.String()},
	})
	resolve := func(as string) error { return s.App.Activities.ResolvePayout(t.Context(), unknown.ID, says(as)) }
	require.ErrorIs(t, resolve(activities.ResolvedNotExecuted), activities.ErrShown)
	require.Equal(t, payments.PayoutPending, readPayout(t, s, unknown.ID).Status)
	require.ErrorIs(t, resolve(activities.ResolvedExecuted), activities.ErrNothingUnknown)
	require.NoError(t, resolve(activities.ResolvedSeen))
	require.Equal(t, http.StatusCreated, payOut(t, s, "P1", payout(4000, "week-1")).Status)
	s.Settle()
	booked(t, s, 4000, 6000)
}

// Two people resolve a payout at once: the first has it sent again, and the second's word that it was executed is not believed for that, nor kept.
func TestAPayoutThatSomebodyElseHadSentAgainIsNotCalledExecuted(t *testing.T) {
	t.Parallel()
	s := system.New(t)
	stop := s.StartWorker()
	s.StartAPI()
	unknown := payoutLeftUnknown(t, s)
	stop() // what is sent again stays under way
	s.DB.AdvanceClock(t, s.Config.Timing.SafetyAge+s.Config.Timing.Send)
	second := heldResolution(t, s, http.MethodGet, payouts, func(by *activities.Activities) error {
		return by.ResolvePayout(t.Context(), unknown.ID, says(activities.ResolvedExecuted))
	})
	require.NoError(t, s.App.Activities.ResolvePayout(t.Context(), unknown.ID, says(activities.ResolvedNotExecuted)))
	require.ErrorIs(t, second(), activities.ErrNothingUnknown)
	require.Equal(t, 1, s.Count(`SELECT jsonb_array_length(resolutions) FROM payonce.payouts`))
	s.StartWorker()
	s.Settle()
}

// Nobody's word counts without a name and a reason.
func TestAWordWithoutAReasonOrANameIsRefused(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	unknown := leftUnknown(t, s)
	for _, said := range []activities.Resolution{
		{As: activities.ResolvedNotExecuted, Reason: " \t\n", By: "an operator"}, {As: activities.ResolvedNotExecuted, Reason: "looked", By: " "},
	} {
		require.ErrorIs(t, s.App.Activities.Resolve(t.Context(), unknown.ID, said), activities.ErrNoReason)
	}
	require.Equal(t, unknown.Review, s.Payment(unknown.ID).Review)
}
