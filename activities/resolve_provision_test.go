package activities_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/activities"
	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

// provisionKind is what is asked of us and of Stripe for a kind, and what Stripe has of it.
type provisionKind struct {
	ours, stripes string
	command       map[string]any
	elsewhere     url.Values
	atStripe      func(*testing.T, *system.System) []control.Party
}

func provisionKinds() map[payments.ProvisionKind]provisionKind {
	return map[payments.ProvisionKind]provisionKind{
		payments.ProvisionCustomer: {
			customers, customers, customer("owner-1"), url.Values{"email": {"owner-1@shop.example"}, "name": {"Payer"}}, customersAtStripe,
		},
		payments.ProvisionConnectedAccount: {
			connectedAccounts, "/v1/accounts", connectedAccount("owner-1", "usd"), url.Values{"type": {"express"}, "country": {"DE"}}, accountsAtStripe,
		},
	}
}

// provisionLeftUnknown is a provision that Stripe refuses to tell of: a person has to.
func provisionLeftUnknown(t *testing.T, s *system.System, kind provisionKind) payments.ProvisionView {
	t.Helper()
	rule := s.Fault(control.Rule{Match: control.Match{Method: http.MethodPost, Path: kind.stripes}, Fault: control.FaultKeyMismatch})
	asked, err := s.Post(t.Context(), s.APIKey, kind.ours, "K1", kind.command, "wait=0")
	require.NoError(t, err)
	s.Eventually("a person is asked", func() bool {
		return s.Count(`SELECT count(*) FROM payonce.provisions WHERE review_reason = 'outcome_unknown'`) == 1
	})
	require.NoError(t, s.Twin.DeleteFault(t.Context(), rule.ID))
	return provisionOf(t, asked, http.StatusAccepted)
}

// A provision that certainly was not made is sent again under the next generation's key: one is made, and the caller's key gets its outcome. What a person
// said is kept with it.
func TestAProvisionThatWasNotExecutedIsSentAgain(t *testing.T) {
	t.Parallel()
	for name, kind := range provisionKinds() {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			s := system.Start(t)
			unknown := provisionLeftUnknown(t, s, kind)
			resolve := func(as string) error { return s.App.Activities.ResolveProvision(t.Context(), unknown.ID, says(as)) }
			require.ErrorIs(t, resolve(activities.ResolvedSeen), activities.ErrStillUnknown)
			require.ErrorIs(t, resolve(activities.ResolvedExecuted), activities.ErrNotShown)
			s.DB.AdvanceClock(t, s.Config.Timing.SafetyAge+s.Config.Timing.Send)
			require.NoError(t, resolve(activities.ResolvedNotExecuted))
			made := provisionOf(t, provision(t, s, kind.ours, "K1", kind.command), http.StatusCreated)
			require.Equal(t, payments.ProvisionLinked, made.Status)
			require.Equal(t, unknown.ID, made.ID)
			atStripe := kind.atStripe(t, s)
			require.Len(t, atStripe, 1)
			require.Equal(t, atStripe[0].ID, made.Customer+made.ConnectedAccount)
			require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.provisions WHERE review_reason IS NULL AND jsonb_array_length(resolutions) = 1
				AND resolutions->0->>'by' = 'an operator' AND resolutions->0->'review'->>'reason' = 'outcome_unknown'`))
		})
	}
}

// What may still take effect is not sent again, whatever a person says.
func TestAProvisionThatMayStillTakeEffectIsNotSentAgain(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	unknown := provisionLeftUnknown(t, s, provisionKinds()[payments.ProvisionCustomer])
	s.Exec(`UPDATE payonce.provider_calls SET ended_at = payonce.clock() + interval '1 minute'`) // as if sent just now
	require.ErrorIs(t, s.App.Activities.ResolveProvision(t.Context(), unknown.ID, says(activities.ResolvedNotExecuted)), activities.ErrTooEarly)
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.idempotency_records WHERE status = 'unknown'`))
}

// A provision that Stripe shows is not called unmade, and is linked with or without a person's word. Our metadata prove it: what is equal in all else is
// another's.
func TestAProvisionThatStripeShowsIsBelieved(t *testing.T) {
	t.Parallel()
	for name, kind := range provisionKinds() {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			s := system.Start(t)
			unknown := provisionLeftUnknown(t, s, kind)
			resolve := func(as string) error { return s.App.Activities.ResolveProvision(t.Context(), unknown.ID, says(as)) }
			makeElsewhere(t, s, kind.stripes, kind.elsewhere)
			require.ErrorIs(t, resolve(activities.ResolvedExecuted), activities.ErrNotShown)
			kind.elsewhere.Set("metadata["+name.Metadata()+"]", unknown.ID.String())
			makeElsewhere(t, s, kind.stripes, kind.elsewhere)
			require.ErrorIs(t, resolve(activities.ResolvedNotExecuted), activities.ErrShown)
			read := provisionOf(t, s.Get(kind.ours+"/"+unknown.ID.String()), http.StatusOK)
			require.Equal(t, kind.atStripe(t, s)[1].ID, read.Customer+read.ConnectedAccount)
			require.ErrorIs(t, resolve(activities.ResolvedExecuted), activities.ErrNothingUnknown)
			require.NoError(t, resolve(activities.ResolvedSeen))
			require.Equal(t, read, provisionOf(t, provision(t, s, kind.ours, "K1", kind.command), http.StatusCreated))
			require.Len(t, kind.atStripe(t, s), 2)
		})
	}
}

// Who called a provision executed is kept with it, and what Stripe showed, and what the mark had said that this took off.
func TestWhatAPersonSaysOfAProvisionIsKept(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	unknown := provisionLeftUnknown(t, s, provisionKinds()[payments.ProvisionCustomer])
	makeElsewhere(t, s, customers, url.Values{"metadata[" + payments.ProvisionCustomer.Metadata() + "]": {unknown.ID.String()}})
	require.NoError(t, s.App.Activities.ResolveProvision(t.Context(), unknown.ID, says(activities.ResolvedExecuted)))
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.provisions
		WHERE status = 'linked' AND review_reason IS NULL AND review_since IS NULL AND review_evidence IS NULL AND jsonb_array_length(resolutions) = 1
		AND resolutions->0 @> '{"as": "executed", "by": "an operator", "reason": "looked at the dashboard", "review": {"reason": "outcome_unknown"}}'
		AND resolutions->0->'shown'->'stripe'->>'customer' = provider_id AND resolutions->0->'shown'->>'operation' = 'create_customer'
		AND resolutions->0->'review'->'evidence'->>'operation' = 'create_customer' AND resolutions->0->>'at' IS NOT NULL`))
	s.Exec(`UPDATE payonce.provisions SET review_reason = 'surplus_at_stripe', review_since = payonce.clock()`)
	require.NoError(t, s.App.Activities.ResolveProvision(t.Context(), unknown.ID, says(activities.ResolvedSeen)))
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.provisions
		WHERE review_reason IS NULL AND resolutions->1->>'as' = 'seen' AND resolutions->1->'review'->>'reason' = 'surplus_at_stripe'`))
}

// Two people say at once that it was not made: it is put back once, and the second's word takes nothing from the call that the first one's sent.
func TestAProvisionThatTwoPeopleResolveIsSentAgainOnce(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	unhurried := s.Open() // the second person's: Stripe takes its time to show the list
	unhurried.Activities.Timing.Send = time.Minute
	kind := provisionKinds()[payments.ProvisionCustomer]
	unknown := provisionLeftUnknown(t, s, kind)
	s.DB.AdvanceClock(t, s.Config.Timing.SafetyAge+s.Config.Timing.Send)
	resolve := func(by *activities.Activities) error {
		return by.ResolveProvision(t.Context(), unknown.ID, says(activities.ResolvedNotExecuted))
	}
	hold, err := s.Twin.Hold(t.Context(), control.Hold{Method: http.MethodGet, Path: customers, Point: control.AfterEffect, Times: 1})
	require.NoError(t, err)
	second := make(chan error, 1)
	go func() { second <- resolve(unhurried.Activities) }()
	_, err = s.Twin.Held(t.Context(), 1)
	require.NoError(t, err)
	require.NoError(t, resolve(s.App.Activities))
	made := provisionOf(t, provision(t, s, kind.ours, "K1", kind.command), http.StatusCreated)
	require.NoError(t, s.Twin.Release(t.Context(), hold.ID))
	require.NoError(t, <-second)
	require.Equal(t, made.Customer, customersAtStripe(t, s)[0].ID)
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.provider_calls WHERE generation = 1 AND status = 'answered'`))
	require.Equal(t, 2, s.Count(`SELECT jsonb_array_length(resolutions) FROM payonce.provisions`))
}
