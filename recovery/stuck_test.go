package recovery_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/internal/tenants"
	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/recovery"
	"payonce/stripesim/control"
)

// What stands is listed with its age, for whom it waits and what settles it, the oldest first; what has ended is not.
func TestWhatStandsIsListedWithWhatSettlesIt(t *testing.T) {
	t.Parallel()
	s := system.Start(t, neverPolls)
	s.Create("K0", system.Order("order-0", 1000))
	method := s.Create("K1", system.With(system.Order("order-1", 1000), "payment_method", nil)).Payment(t)
	challenged := s.Create("K2", system.With(system.Order("order-2", 1000), "payment_method", "pm_card_authenticationRequired")).Payment(t)
	held := s.Create("K3", system.With(system.Order("order-3", 1000), "capture_method", "manual")).Payment(t)
	disputed := s.Create("K4", system.Order("order-4", 1000)).Payment(t)
	_, err := s.Twin.OpenDispute(t.Context(), disputed.PaymentIntent, control.OpenDispute{})
	require.NoError(t, err)
	s.Eventually("the dispute is known", func() bool { return s.Count(`SELECT count(*) FROM payonce.disputes`) == 1 })
	s.DB.AdvanceClock(t, 20*time.Minute)
	freeze, err := tenants.SetFreeze(t.Context(), s.App.System, tenants.Freeze{Reason: "looking into it", By: "an operator"})
	require.NoError(t, err)
	late, err := s.Post(t.Context(), s.APIKey, "/v1/payments", "K5", system.Order("order-5", 1000), "wait=0")
	require.NoError(t, err)
	submitted := late.Payment(t)

	found, err := recovery.Stuck(t.Context(), s.App.System, 0, 100)
	require.NoError(t, err)
	said := map[string]string{}
	for i, w := range found {
		said[w.Kind+" "+w.ID.String()] = w.Next
		require.NotEmpty(t, w.For)
		require.GreaterOrEqual(t, w.Age, time.Duration(0))
		require.True(t, i == 0 || !w.Since.Before(found[i-1].Since), "the oldest first")
	}
	require.Len(t, said, 5)
	require.Equal(t, "payonce thaw "+freeze.String(), said["payment "+submitted.ID.String()])
	require.Contains(t, said["payment "+method.ID.String()], "confirm or cancel")
	require.Contains(t, said["payment "+challenged.ID.String()], "given up")
	require.Contains(t, said["payment "+held.ID.String()], "capture or cancel")
	old, err := recovery.Stuck(t.Context(), s.App.System, 10*time.Minute, 2)
	require.NoError(t, err)
	require.Len(t, old, 2)
	stages, err := recovery.Stages(t.Context(), s.App.System)
	require.NoError(t, err)
	ages := map[string]recovery.StageAges{}
	for _, stage := range stages {
		ages[stage.Kind+" "+string(stage.Stage)] = stage
	}
	require.EqualValues(t, 1, ages["payment submitted"].Count)
	require.Less(t, ages["payment submitted"].Oldest, 20*time.Minute)
	require.EqualValues(t, 1, ages["dispute processing"].Count)
	require.GreaterOrEqual(t, ages["dispute processing"].Oldest, 20*time.Minute)

	s.Exec(`UPDATE payonce.payments SET review_reason = 'outcome_unknown', review_since = payonce.clock() WHERE id = $1`, submitted.ID.UUID)
	found, err = recovery.Stuck(t.Context(), s.App.System, 0, 100)
	require.NoError(t, err)
	require.Contains(t, found[len(found)-1].Next, "payonce payments resolve "+submitted.ID.String())
	s.Exec(`UPDATE payonce.payments SET review_reason = NULL, review_since = NULL WHERE id = $1`, submitted.ID.UUID)
	require.NoError(t, tenants.LiftFreeze(t.Context(), s.App.System, freeze, "an operator"))
	s.Eventually("it is paid", func() bool { return s.Payment(submitted.ID).Status == payments.StatusSucceeded })
	left, err := recovery.Stuck(t.Context(), s.App.System, 0, 100)
	require.NoError(t, err)
	require.Len(t, left, 4)
}
