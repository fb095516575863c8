package activities_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/activities"
	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

// says is a person's word.
func says(as string) activities.Resolution {
	return activities.Resolution{As: as, Reason: "looked at the dashboard", By: "an operator"}
}

// leftUnknown is a payment whose confirm Stripe refuses to tell of: a person has to.
func leftUnknown(t *testing.T, s *system.System) payments.View {
	t.Helper()
	confirm := control.Match{Method: http.MethodPost, Path: "/v1/payment_intents/*/confirm"}
	rule := s.Fault(control.Rule{Match: confirm, Fault: control.FaultKeyMismatch})
	answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments", "K1", system.Order("order-1", 1000), "wait=0")
	require.NoError(t, err)
	id := answer.Payment(t).ID
	s.Eventually("a person is asked", func() bool { return s.Payment(id).Review != nil })
	require.NoError(t, s.Twin.DeleteFault(t.Context(), rule.ID))
	return s.Payment(id)
}

// What certainly had no effect is sent again under the next generation's key, once it cannot have one any more: one charge, and the caller's key gets its
// outcome.
func TestACommandThatWasNotExecutedIsSentAgain(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	held := leftUnknown(t, s)
	require.ErrorIs(t, s.App.Activities.Resolve(t.Context(), held.ID, says(activities.ResolvedSeen)), activities.ErrStillUnknown)
	require.ErrorIs(t, s.App.Activities.Resolve(t.Context(), held.ID, says(activities.ResolvedExecuted)), activities.ErrNotShown)
	s.DB.AdvanceClock(t, s.Config.Timing.SafetyAge+s.Config.Timing.Send)
	require.NoError(t, s.App.Activities.Resolve(t.Context(), held.ID, says(activities.ResolvedNotExecuted)))
	s.Eventually("it is paid", func() bool { return s.Payment(held.ID).Status == payments.StatusSucceeded })
	require.Nil(t, s.Payment(held.ID).Review)
	answer := s.Create("K1", system.Order("order-1", 1000))
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Body)
	s.Settle()
	require.Equal(t, 1, s.Book(held.ID).ChargesSucceeded)
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.payment_facts WHERE source = 'operator' AND detail->>'by' = 'an operator'
		AND detail->'review'->>'reason' = 'outcome_unknown'`))
}

// What may still take effect is not sent again, whatever a person says.
func TestACommandThatMayStillTakeEffectIsNotSentAgain(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	held := leftUnknown(t, s)
	s.Exec(`UPDATE payonce.provider_calls SET ended_at = payonce.clock() + interval '1 minute' WHERE operation = 'confirm_payment'`) // as if sent just now
	require.ErrorIs(t, s.App.Activities.Resolve(t.Context(), held.ID, says(activities.ResolvedNotExecuted)), activities.ErrTooEarly)
	require.NotNil(t, s.Payment(held.ID).Review)
}

// What Stripe shows to have been paid is not called unpaid, and settles the command with or without a person's word.
func TestWhatStripeShowsIsBelieved(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDrop})
	held := leftUnknown(t, s)
	_, err := s.Twin.Pay(t.Context(), held.PaymentIntent, control.Pay{PaymentMethod: "pm_card_visa"})
	require.NoError(t, err)
	require.ErrorIs(t, s.App.Activities.Resolve(t.Context(), held.ID, says(activities.ResolvedNotExecuted)), activities.ErrShown)
	require.Equal(t, payments.StatusSucceeded, s.Payment(held.ID).Status)
	require.ErrorIs(t, s.App.Activities.Resolve(t.Context(), held.ID, says(activities.ResolvedExecuted)), activities.ErrNothingUnknown)
	require.NoError(t, s.App.Activities.Resolve(t.Context(), held.ID, says(activities.ResolvedSeen)))
	require.Nil(t, s.Payment(held.ID).Review)
	require.Equal(t, http.StatusCreated, s.Create("K1", system.Order("order-1", 1000)).Status)
	s.Settle()
}

// heldResolution starts a second person's resolution, which Stripe keeps waiting for its read; the result lets it go on and is what came of it.
func heldResolution(t *testing.T, s *system.System, method, path string, resolve func(*activities.Activities) error) func() error {
	t.Helper()
	unhurried := s.Open()
	unhurried.Activities.Timing.Send = time.Minute
	hold, err := s.Twin.Hold(t.Context(), control.Hold{Method: method, Path: path, Point: control.AfterEffect, Times: 1})
	require.NoError(t, err)
	came := make(chan error, 1)
	go func() { came <- resolve(unhurried.Activities) }()
	_, err = s.Twin.Held(t.Context(), 1)
	require.NoError(t, err)
	return func() error {
		require.NoError(t, s.Twin.Release(t.Context(), hold.ID))
		return <-came
	}
}

// Two people resolve a payment at once: the first has its confirm sent again, and the second's word that it was executed is not believed for that, nor kept.
func TestACommandThatSomebodyElseHadSentAgainIsNotCalledExecuted(t *testing.T) {
	t.Parallel()
	s := system.New(t)
	s.StartAPI()
	stop := s.StartWorker()
	unknown := leftUnknown(t, s)
	stop() // what is sent again stays under way
	s.DB.AdvanceClock(t, s.Config.Timing.SafetyAge+s.Config.Timing.Send)
	second := heldResolution(t, s, http.MethodGet, "/v1/payment_intents/*", func(by *activities.Activities) error {
		return by.Resolve(t.Context(), unknown.ID, says(activities.ResolvedExecuted))
	})
	require.NoError(t, s.App.Activities.Resolve(t.Context(), unknown.ID, says(activities.ResolvedNotExecuted)))
	require.ErrorIs(t, second(), activities.ErrNothingUnknown)
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.payment_facts WHERE fact LIKE 'resolved/%'`))
	s.StartWorker()
	s.Eventually("it is paid", func() bool { return s.Payment(unknown.ID).Status == payments.StatusSucceeded })
	s.Settle()
}
