package activities_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"payonce/internal/tenants"
	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

// What was begun at one account of Stripe's goes on there, also when its tenant has moved to another one meanwhile: keys are known to one account alone.
func TestAPaymentStaysWithTheAccountOfItsFirstTry(t *testing.T) {
	t.Parallel()
	s := system.Start(t, system.Unhurried)
	require.NoError(t, tenants.CreateAccount(t.Context(), s.App.System, s.App.Sealer, payments.Account{ID: "acct_second"}, "sk_test_second",
		[]string{"whsec_of_the_second_account"}))
	s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDrop}) // else it may tell of the intent before the second try
	s.Fault(control.Rule{Match: control.Match{Method: http.MethodPost, Path: "/v1/payment_intents"}, Fault: control.FaultAnswerLost, Times: 1})
	hold, err := s.Twin.Hold(t.Context(), control.Hold{Method: http.MethodPost, Path: "/v1/payment_intents", Point: control.BeforeEffect, Times: 1})
	require.NoError(t, err)
	var created errgroup.Group
	created.Go(func() error {
		_, err := s.Post(t.Context(), s.APIKey, "/v1/payments", "K", system.Order("order-1", 1000), "wait=20")
		return err
	})
	_, err = s.Twin.Held(t.Context(), 1)
	require.NoError(t, err)
	s.Exec(`UPDATE payonce.tenants SET account = 'acct_second'`)
	require.NoError(t, s.Twin.Release(t.Context(), hold.ID))
	require.NoError(t, created.Wait())

	payment := s.Create("K", system.Order("order-1", 1000)).Payment(t)
	require.Equal(t, payments.StatusSucceeded, payment.Status)
	s.Settle()
	sent := s.Requests(http.MethodPost, "/v1/payment_intents*")
	require.Greater(t, len(sent), 1, "it was tried again")
	for _, request := range s.Requests(http.MethodPost, "/v1/payment_intents*") {
		require.Equal(t, system.AccountID, request.Account)
	}
	require.Len(t, s.Books(payment.ID), 1)
}

// The capture by policy of a hold that runs out and a caller's at the same moment are one capture, of which both have the outcome.
func TestACaptureBesideThatOfThePolicyIsTheSame(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	holds := make([]payments.View, 6)
	for i := range holds {
		holds[i] = s.Create(fmt.Sprint("K", i), system.With(hold(fmt.Sprint("order-", i), 1000), "hold_expiry", "capture")).Payment(t)
	}
	answers := make([]system.Answer, len(holds))
	var captured errgroup.Group
	for i, held := range holds {
		if i == 2 {
			s.DB.AdvanceClock(t, 7*24*time.Hour-5*time.Minute)
		}
		captured.Go(func() (err error) {
			answers[i], err = s.Post(t.Context(), s.APIKey, "/v1/payments/"+held.ID.String()+"/capture", fmt.Sprint("C", i), map[string]any{}, "wait=20")
			return err
		})
	}
	require.NoError(t, captured.Wait())
	for i, held := range holds {
		require.Equal(t, http.StatusOK, answers[i].Status, "%s", answers[i].Body)
		s.Eventually("it is captured", func() bool { return s.Payment(held.ID).Status == payments.StatusSucceeded })
	}
	s.Settle()
	for _, held := range holds {
		keys := map[string]bool{}
		for _, request := range s.Requests(http.MethodPost, "/v1/payment_intents/"+held.PaymentIntent+"/capture") {
			keys[request.IdempotencyKey] = true
		}
		require.Len(t, keys, 1, "one call")
		require.Equal(t, map[string]int64{"stripe:receivable": 1000, "merchant:balance": -1000}, s.Positions(held.ID))
	}
}
