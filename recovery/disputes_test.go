package recovery_test

import (
	"encoding/json"
	"net/http"
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

// disputes are the disputes of a payment, as its messages told of them: the kinds, and the newest dispute.
func disputeMessages(t *testing.T, s *system.System, payment payments.PaymentID) (kinds []string, newest payments.DisputeView) {
	t.Helper()
	for _, message := range s.Receiver.Of(t, payment.String()) {
		var body struct {
			Data struct {
				Dispute *payments.DisputeView `json:"dispute"`
			} `json:"data"`
		}
		require.NoError(t, json.Unmarshal(message.Body, &body))
		if body.Data.Dispute != nil {
			kinds, newest = append(kinds, message.Type), *body.Data.Dispute
		}
	}
	return kinds, newest
}

// told waits until the receiver has as many messages of the payment.
func told(t *testing.T, s *system.System, payment payments.PaymentID, messages int) {
	t.Helper()
	s.Eventually("it is told", func() bool { return len(s.Receiver.Of(t, payment.String())) == messages })
}

const disputeFee = 1500

// A dispute takes the money and a fee when it is opened; what is won comes back, told of in either order and twice.
func TestADisputeThatIsWonLeavesNothingButItsFee(t *testing.T) {
	for name, closed := range map[string]control.CloseDispute{
		"closed before reinstated":             {Status: "won"},
		"reinstated before closed":             {Status: "won", ReinstatedFirst: true},
		"with its fee, closed before":          {Status: "won", ReturnFee: true},
		"with its fee, reinstated before that": {Status: "won", ReturnFee: true, ReinstatedFirst: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := system.Start(t)
			s.Fault(control.Rule{Match: control.Match{EventType: "charge.dispute.*"}, Fault: control.FaultDouble})
			payment := s.Create("key-1", system.Order("order-1", 1000)).Payment(t)
			opened, err := s.Twin.OpenDispute(t.Context(), payment.PaymentIntent, control.OpenDispute{})
			require.NoError(t, err)
			told(t, s, payment.ID, 2)
			s.Settle()
			require.Equal(t, map[ledger.AccountName]int64{
				"stripe:receivable/usd": -disputeFee, "disputes:held/usd": 1000, "fees:stripe/usd": disputeFee, "merchant:balance/usd": -1000,
			}, positionsOf(t, s, payment.ID))
			require.Equal(t, 1000, s.Count(`SELECT amount_disputed FROM payonce.payments`))
			_, dispute := disputeMessages(t, s, payment.ID)
			require.Equal(t, payments.DisputeNeedsResponse, dispute.Status)
			require.NotNil(t, dispute.DueBy)

			_, err = s.Twin.UpdateDispute(t.Context(), opened.ID, control.UpdateDispute{Status: "under_review", Evidence: true})
			require.NoError(t, err)
			_, err = s.Twin.CloseDispute(t.Context(), opened.ID, closed)
			require.NoError(t, err)
			told(t, s, payment.ID, 3)
			s.Settle()

			fee := int64(disputeFee)
			if closed.ReturnFee {
				fee = 0
			}
			require.Equal(t, map[ledger.AccountName]int64{
				"stripe:receivable/usd": 1000 - fee, "disputes:held/usd": 0, "fees:stripe/usd": fee, "merchant:balance/usd": -1000,
			}, positionsOf(t, s, payment.ID))
			require.Zero(t, s.Count(`SELECT amount_disputed FROM payonce.payments`))
			require.Equal(t, 2, s.Count(`SELECT count(*) FROM payonce.ledger_journals WHERE rule = 'disputed'`))
			kinds, dispute := disputeMessages(t, s, payment.ID)
			require.Equal(t, []string{"dispute.opened", "dispute.won"}, kinds)
			require.Equal(t, payments.DisputeWon, dispute.Status)
		})
	}
}

// Opened is not lost: until the bank has decided the money is held apart, and it may not be given back a second time meanwhile.
func TestADisputeThatIsLostTakesTheMoneyForGood(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	payment := s.Create("key-1", system.Order("order-1", 1000)).Payment(t)
	opened, err := s.Twin.OpenDispute(t.Context(), payment.PaymentIntent, control.OpenDispute{Amount: 600})
	require.NoError(t, err)
	told(t, s, payment.ID, 2)
	refused, err := s.Post(t.Context(), s.APIKey, "/v1/payments/"+payment.ID.String()+"/refunds", "key-2", map[string]any{"amount": 500}, "wait=20")
	require.NoError(t, err)
	require.Equal(t, http.StatusConflict, refused.Status, string(refused.Body))

	_, err = s.Twin.CloseDispute(t.Context(), opened.ID, control.CloseDispute{Status: "lost"})
	require.NoError(t, err)
	told(t, s, payment.ID, 3)

	require.Equal(t, map[ledger.AccountName]int64{
		"stripe:receivable/usd": 400 - disputeFee, "disputes:held/usd": 0, "disputes:lost/usd": 600, "fees:stripe/usd": disputeFee,
		"merchant:balance/usd": -1000,
	}, positionsOf(t, s, payment.ID))
	require.Equal(t, 600, s.Count(`SELECT amount_disputed FROM payonce.payments`))
	require.Equal(t, payments.StatusSucceeded, s.Payment(payment.ID).Status)
	s.Settle()
}

// An inquiry moves no money; one that becomes a chargeback does.
func TestAnInquiryMovesNoMoney(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	payment := s.Create("key-1", system.Order("order-1", 1000)).Payment(t)
	opened, err := s.Twin.OpenDispute(t.Context(), payment.PaymentIntent, control.OpenDispute{Status: "warning_needs_response"})
	require.NoError(t, err)
	told(t, s, payment.ID, 2)
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.ledger_journals`))
	_, err = s.Twin.CloseDispute(t.Context(), opened.ID, control.CloseDispute{Status: "warning_closed"})
	require.NoError(t, err)
	told(t, s, payment.ID, 3)
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.ledger_journals`))
	kinds, dispute := disputeMessages(t, s, payment.ID)
	require.Equal(t, []string{"dispute.opened", "dispute.closed"}, kinds)
	require.Zero(t, dispute.Withdrawn)

	other := s.Create("key-2", system.Order("order-2", 1000)).Payment(t)
	opened, err = s.Twin.OpenDispute(t.Context(), other.PaymentIntent, control.OpenDispute{Status: "warning_needs_response"})
	require.NoError(t, err)
	told(t, s, other.ID, 2)
	_, err = s.Twin.UpdateDispute(t.Context(), opened.ID, control.UpdateDispute{Status: "needs_response"})
	require.NoError(t, err)
	s.Eventually("the money is held", func() bool { return positionsOf(t, s, other.ID)["disputes:held/usd"] == 1000 })
	s.Settle()
}

// A bank debit is disputed weeks after its payment ended, and lost in the same second, without a day by which to answer.
func TestABankDebitThatIsDisputedIsLostAtOnce(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	payment := s.Create("key-1", system.Order("order-1", 1000)).Payment(t)
	s.Settle()
	s.Exec(`TRUNCATE payonce.provider_events`)
	s.DB.AdvanceClock(t, 40*24*time.Hour)
	_, err := s.Twin.OpenDispute(t.Context(), payment.PaymentIntent, control.OpenDispute{Status: "lost", Reason: "debit_not_authorized"})
	require.NoError(t, err)
	told(t, s, payment.ID, 3)
	s.Settle()
	require.Equal(t, map[ledger.AccountName]int64{
		"stripe:receivable/usd": -disputeFee, "disputes:held/usd": 0, "disputes:lost/usd": 1000, "fees:stripe/usd": disputeFee, "merchant:balance/usd": -1000,
	}, positionsOf(t, s, payment.ID))
	kinds, dispute := disputeMessages(t, s, payment.ID)
	require.Equal(t, []string{"dispute.opened", "dispute.lost"}, kinds)
	require.Nil(t, dispute.DueBy)
	require.Zero(t, s.Count(`SELECT count(*) FROM payonce.disputes WHERE due_by IS NOT NULL`))
}

// No event ever told: the money that is missing from the balance does, and then the dispute is read until it is decided.
func TestADisputeThatNoEventToldOfIsFound(t *testing.T) {
	t.Parallel()
	s := system.Start(t, oftenFees)
	s.Fault(control.Rule{Match: control.Match{EventType: "charge.dispute.*"}, Fault: control.FaultDrop})
	payment := s.Create("key-1", system.Order("order-1", 1000)).Payment(t)
	opened, err := s.Twin.OpenDispute(t.Context(), payment.PaymentIntent, control.OpenDispute{})
	require.NoError(t, err)
	told(t, s, payment.ID, 2)
	require.EqualValues(t, 1000, positionsOf(t, s, payment.ID)["disputes:held/usd"])
	_, err = s.Twin.CloseDispute(t.Context(), opened.ID, control.CloseDispute{Status: "lost"})
	require.NoError(t, err)
	told(t, s, payment.ID, 3)
	require.EqualValues(t, 1000, positionsOf(t, s, payment.ID)["disputes:lost/usd"])
	require.Equal(t, 1, s.Count(countFees), "a dispute's fee is booked with it")
	s.Settle()
}

// A newer version of the API has a status that we do not know: the money is booked, a person is asked, and nothing is refused.
func TestADisputeOfAnUnknownStatusIsBooked(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	payment := s.Create("key-1", system.Order("order-1", 1000)).Payment(t)
	opened, err := s.Twin.OpenDispute(t.Context(), payment.PaymentIntent, control.OpenDispute{})
	require.NoError(t, err)
	told(t, s, payment.ID, 2)
	s.Fault(control.Rule{Match: control.Match{EventType: "charge.dispute.*"}, Fault: control.FaultDrop})
	other := s.Create("key-2", system.Order("order-2", 1000)).Payment(t)
	inquiry, err := s.Twin.OpenDispute(t.Context(), other.PaymentIntent, control.OpenDispute{Status: "warning_needs_response"})
	require.NoError(t, err)
	for id, of := range map[string]payments.View{opened.ID: payment, inquiry.ID: other} {
		require.NoError(t, s.App.Activities.ApplyDisputes(t.Context(), of.ID, activities.LearntDispute{
			Source: activities.SourcePoll, BegunAt: time.Now().Add(time.Minute), EffectiveAt: time.Now(), Dispute: &stripeapi.Dispute{
				ID: id, Account: payments.Account{ID: system.AccountID}, Intent: of.PaymentIntent, Status: "prevented",
				Money: payments.Money{Amount: 1000, Currency: "usd"}, Created: time.Now(),
			},
		}))
	}
	require.Equal(t, "unknown_dispute_status", s.Payment(payment.ID).Review.Reason)
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.disputes WHERE status = 'needs_response' AND dispute_id = $1`, opened.ID))
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.disputes WHERE status = 'warning_needs_response' AND next_poll_at IS NOT NULL`))
	require.EqualValues(t, 1000, positionsOf(t, s, payment.ID)["disputes:held/usd"])
}

// A refund that was made at the dashboard, and no event told: the balance does.
func TestARefundThatNoEventToldOfIsFound(t *testing.T) {
	t.Parallel()
	s := system.Start(t, oftenFees)
	for _, kind := range []string{"refund.*", "charge.refund*", "charge.refund.updated"} {
		s.Fault(control.Rule{Match: control.Match{EventType: kind}, Fault: control.FaultDrop})
	}
	payment := s.Create("key-1", system.Order("order-1", 1000)).Payment(t)
	refund, err := s.Twin.RefundElsewhere(t.Context(), payment.PaymentIntent, control.RefundElsewhere{Amount: 300})
	require.NoError(t, err)
	told(t, s, payment.ID, 2)
	require.EqualValues(t, 300, s.Payment(payment.ID).AmountRefunded)
	s.Settle()

	_, err = s.Twin.SettleRefund(t.Context(), refund.ID, control.SettleRefund{Status: "failed", FailureReason: "expired_or_canceled_card"})
	require.NoError(t, err)
	told(t, s, payment.ID, 3)
	require.Zero(t, s.Payment(payment.ID).AmountRefunded)
	s.Settle()
}

// The account settles in another currency: the dispute is one of the payer's money, and its fee one of the account's.
func TestADisputeThatSettlesInAnotherCurrencyIsExchanged(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	_, err := s.Twin.SetAccount(t.Context(), control.Account{
		ID: system.AccountID, SettlementCurrency: "eur", RateNumerator: 93, RateDenominator: 100,
	})
	require.NoError(t, err)
	payment := s.Create("key-1", system.Order("order-1", 1000)).Payment(t)
	opened, err := s.Twin.OpenDispute(t.Context(), payment.PaymentIntent, control.OpenDispute{})
	require.NoError(t, err)
	told(t, s, payment.ID, 2)
	_, err = s.Twin.CloseDispute(t.Context(), opened.ID, control.CloseDispute{Status: "won"})
	require.NoError(t, err)
	told(t, s, payment.ID, 3)
	s.Settle()
	require.Equal(t, map[ledger.AccountName]int64{
		"stripe:receivable/usd": 1000, "merchant:balance/usd": -1000, "disputes:held/usd": 0, "fx:usd:eur/usd": 0,
		"stripe:receivable/eur": -disputeFee, "fx:usd:eur/eur": 0, "fees:stripe/eur": disputeFee,
	}, positionsOf(t, s, payment.ID))
}
