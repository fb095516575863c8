package activities_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/activities"
	"payonce/internal/stripeapi"
	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

// declined is a payment whose first method was refused.
func declined(t *testing.T, s *system.System) payments.View {
	t.Helper()
	answer := s.Create("K1", system.With(system.Order("order-1", 1000), "payment_method", "pm_card_chargeDeclined"))
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Body)
	payment := answer.Payment(t)
	require.Equal(t, payments.StatusRequiresPaymentMethod, payment.Status)
	return payment
}

// A decline is not the end of an intent: the payer may still pay it.
func TestAPaymentThatWasDeclinedCanStillSucceed(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	payment := declined(t, s)
	_, err := s.Twin.Pay(t.Context(), payment.PaymentIntent, control.Pay{PaymentMethod: "pm_card_visa", ClientSecret: payment.ClientSecret})
	require.NoError(t, err)
	s.Eventually("the payment succeeds", func() bool { return s.Payment(payment.ID).Status == payments.StatusSucceeded })
	s.Settle()
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.ledger_journals WHERE payment = $1`, payment.ID.UUID))
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.payment_facts WHERE payment = $1 AND fact LIKE 'declined/%'`, payment.ID.UUID))
	messages := s.Receiver.Of(t, payment.ID.String())
	require.Len(t, messages, 2)
	require.Equal(t, "payment.declined", messages[0].Type)
	require.Equal(t, "payment.succeeded", messages[1].Type)
}

// A failure that is told late does not undo a success.
func TestALateFailureEventDoesNotDowngradeAPaidPayment(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	s.Fault(control.Rule{Match: control.Match{EventType: "payment_intent.payment_failed"}, Fault: control.FaultDrop})
	payment := declined(t, s)
	_, err := s.Twin.Pay(t.Context(), payment.PaymentIntent, control.Pay{PaymentMethod: "pm_card_visa", ClientSecret: payment.ClientSecret})
	require.NoError(t, err)
	s.Eventually("the payment succeeds", func() bool { return s.Payment(payment.ID).Status == payments.StatusSucceeded })
	s.DB.AdvanceClock(t, time.Hour)
	event := s.Event(payment.PaymentIntent, "payment_intent.payment_failed")
	sent, err := s.Twin.Deliver(t.Context(), event.ID, control.Deliver{})
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, sent.Answers[0].Status)
	s.Settle()
	require.Equal(t, payments.StatusSucceeded, s.Payment(payment.ID).Status)
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.provider_events WHERE event_id = $1 AND status = 'stale'`, event.ID))
}

// The payer pays before we know the intent: the event is matched by the metadata that we put on it.
func TestASuccessThatBeatsTheCreatesAnswerIsApplied(t *testing.T) {
	for name, answerComes := range map[string]bool{"the answer comes later": true, "the answer never comes": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := system.Start(t)
			if !answerComes {
				s.Fault(control.Rule{Match: control.Match{Method: http.MethodPost, Path: "/v1/payment_intents"}, Fault: control.FaultAnswerLost})
			}
			hold, err := s.Twin.Hold(t.Context(), control.Hold{Method: http.MethodPost, Path: "/v1/payment_intents", Point: control.AfterEffect})
			require.NoError(t, err)
			s.Fault(control.Rule{Match: control.Match{EventType: "payment_intent.created"}, Fault: control.FaultDrop})
			answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments", "K1", system.Order("order-1", 1000), "wait=0")
			require.NoError(t, err)
			id := answer.Payment(t).ID
			s.Eventually("Stripe has the intent", func() bool { return len(s.Books(id)) == 1 })
			_, err = s.Twin.Pay(t.Context(), s.Book(id).ID, control.Pay{PaymentMethod: "pm_card_visa"})
			require.NoError(t, err)
			s.Eventually("the payment succeeds", func() bool { return s.Payment(id).Status == payments.StatusSucceeded })
			require.NoError(t, s.Twin.Release(t.Context(), hold.ID))
			s.Settle()
			require.Equal(t, s.Book(id).ID, s.Payment(id).PaymentIntent)
			require.EqualValues(t, 1000, s.Book(id).Captured)
			require.Len(t, s.Receiver.Of(t, id.String()), 1)
		})
	}
}

// No event ever tells: the poller reads the intent.
func TestAPaymentWhoseEventsAreAllLostIsPolled(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDrop})
	payment := declined(t, s)
	_, err := s.Twin.Pay(t.Context(), payment.PaymentIntent, control.Pay{PaymentMethod: "pm_card_visa", ClientSecret: payment.ClientSecret})
	require.NoError(t, err)
	s.DB.AdvanceClock(t, s.Config.Timing.PollMaximum)
	s.Eventually("the payment succeeds", func() bool { return s.Payment(payment.ID).Status == payments.StatusSucceeded })
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.payment_facts WHERE payment = $1 AND fact = 'succeeded' AND source = 'poll'`, payment.ID.UUID))
}

// An event, a poll and an activity bring the same fact at the same time: one journal, one message.
func TestTheSameFactFromEverywhereAtOncePostsOnce(t *testing.T) {
	t.Parallel()
	const rounds, bringers = 25, 8
	s := system.New(t)
	s.StartAPI()
	for round := range rounds {
		reference := "order-" + string(rune('a'+round))
		answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments", reference, system.With(system.Order(reference, 1000), "payment_method", nil), "wait=0")
		require.NoError(t, err)
		id := answer.Payment(t).ID
		intent := stripeapi.Intent{
			ID: "pi_" + id.String(), Account: payments.Account{ID: system.AccountID}, Status: stripeapi.IntentSucceeded,
			Money: payments.Money{Amount: 1000, Currency: "usd"}, AmountReceived: 1000, CaptureMethod: payments.CaptureAutomatic,
			LatestCharge: "ch_" + id.String(), Metadata: map[string]string{payments.MetadataPayment: id.String()},
		}
		var barrier, done sync.WaitGroup
		barrier.Add(bringers)
		for bringer := range bringers {
			source := []activities.Source{activities.SourceAnswer, activities.SourceEvent, activities.SourcePoll, activities.SourceRead}[bringer%4]
			done.Go(func() {
				barrier.Done()
				barrier.Wait()
				_, err := s.App.Activities.Apply(t.Context(), id, activities.Learnt{Source: source, Intent: &intent, EffectiveAt: time.Now()})
				if err != nil {
					t.Error(err)
				}
			})
		}
		done.Wait()
		require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.ledger_journals WHERE payment = $1`, id.UUID))
		require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.notifications WHERE payment = $1`, id.UUID))
		require.Equal(t, payments.StatusSucceeded, s.Payment(id).Status)
	}
}

// An object that does not fit its payment is kept away from it; its money is in suspense and a person is told.
func TestAnIntentThatDoesNotFitIsQuarantined(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	payment := declined(t, s)
	stray := stripeapi.Intent{
		ID: "pi_stray", Account: payments.Account{ID: system.AccountID}, Status: stripeapi.IntentSucceeded,
		Money: payments.Money{Amount: 900, Currency: "usd"}, AmountReceived: 900, CaptureMethod: payments.CaptureAutomatic,
		LatestCharge: "ch_stray", Metadata: map[string]string{payments.MetadataPayment: payment.ID.String()},
	}
	for range 2 {
		applied, err := s.App.Activities.Apply(t.Context(), payment.ID, activities.Learnt{
			Source: activities.SourceEvent, Intent: &stray, EffectiveAt: payment.CreatedAt,
		})
		require.NoError(t, err)
		require.Equal(t, activities.VerdictQuarantined, applied.Verdict)
	}
	held := s.Payment(payment.ID)
	require.Equal(t, payments.StatusRequiresPaymentMethod, held.Status)
	require.Zero(t, held.AmountCaptured)
	require.Equal(t, "quarantined_intent", held.Review.Reason)
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.ledger_journals WHERE posting_key = 'suspense/ch_stray/900'`))
}
