package recovery_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/activities"
	"payonce/internal/stripeapi"
	"payonce/internal/testkit/system"
	"payonce/ledger"
	"payonce/payments"
	"payonce/stripesim/control"
)

// A bank changes its mind: the loss that was booked is taken back by a journal that names it, once, and the shop is told that it has won.
func TestADisputeThatWasLostAndIsWonTakesItsLossBack(t *testing.T) {
	for name, won := range map[string]control.CloseDispute{
		"closed before reinstated": {Status: "won"}, "reinstated before closed": {Status: "won", ReinstatedFirst: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := system.Start(t)
			s.Fault(control.Rule{Match: control.Match{EventType: "charge.dispute.*"}, Fault: control.FaultDouble})
			payment := s.Create("key-1", system.Order("order-1", 1000)).Payment(t)
			opened, err := s.Twin.OpenDispute(t.Context(), payment.PaymentIntent, control.OpenDispute{Amount: 600})
			require.NoError(t, err)
			_, err = s.Twin.CloseDispute(t.Context(), opened.ID, control.CloseDispute{Status: "lost"})
			require.NoError(t, err)
			told(t, s, payment.ID, 3)
			require.EqualValues(t, 600, positionsOf(t, s, payment.ID)["disputes:lost/usd"])
			_, err = s.Twin.CloseDispute(t.Context(), opened.ID, won)
			require.NoError(t, err)
			told(t, s, payment.ID, 4)
			s.Settle()
			require.Equal(t, map[ledger.AccountName]int64{
				"stripe:receivable/usd": 1000 - disputeFee, "disputes:held/usd": 0, "disputes:lost/usd": 0, "fees:stripe/usd": disputeFee,
				"merchant:balance/usd": -1000,
			}, positionsOf(t, s, payment.ID))
			require.Nil(t, s.Payment(payment.ID).Review)
			require.Zero(t, s.Count(`SELECT amount_disputed FROM payonce.payments`))
			require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.ledger_journals j JOIN payonce.ledger_journals l ON l.id = j.resolves
				WHERE j.rule = 'dispute_regained' AND l.rule = 'dispute_lost'`))
			kinds, dispute := disputeMessages(t, s, payment.ID)
			require.Equal(t, []string{"dispute.opened", "dispute.lost", "dispute.won"}, kinds)
			require.Equal(t, [2]int64{0, 0}, [2]int64{dispute.Lost, dispute.Held})
		})
	}
}

// Won without its money is for a person, until Stripe shows the money.
func TestADisputeThatIsWonWithoutItsMoneyIsForAPerson(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	payment := s.Create("key-1", system.Order("order-1", 1000)).Payment(t)
	opened, err := s.Twin.OpenDispute(t.Context(), payment.PaymentIntent, control.OpenDispute{})
	require.NoError(t, err)
	_, err = s.Twin.CloseDispute(t.Context(), opened.ID, control.CloseDispute{Status: "lost"})
	require.NoError(t, err)
	told(t, s, payment.ID, 3)
	at := time.Now()
	require.NoError(t, s.App.Activities.ApplyDisputes(t.Context(), payment.ID, activities.LearntDispute{
		Source: activities.SourcePoll, BegunAt: at, EffectiveAt: at, Dispute: &stripeapi.Dispute{
			ID: opened.ID, Account: payments.Account{ID: system.AccountID}, Intent: payment.PaymentIntent, Status: "won",
			Money: payments.Money{Amount: 1000, Currency: "usd"}, Created: opened.Created,
		},
	}))
	require.Equal(t, "dispute_reversed", s.Payment(payment.ID).Review.Reason)
	require.EqualValues(t, 1000, positionsOf(t, s, payment.ID)["disputes:lost/usd"])
	_, err = s.Twin.CloseDispute(t.Context(), opened.ID, control.CloseDispute{Status: "won"})
	require.NoError(t, err)
	s.Eventually("the money is back", func() bool { return positionsOf(t, s, payment.ID)["disputes:lost/usd"] == 0 })
	require.Nil(t, s.Payment(payment.ID).Review)
	s.Settle()
}
