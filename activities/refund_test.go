package activities_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

const refunds = "/v1/refunds"

func refundOf(t *testing.T, answer system.Answer) payments.RefundView {
	t.Helper()
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Body)
	var refund payments.RefundView
	require.NoError(t, json.Unmarshal(answer.Body, &refund))
	return refund
}

func part(amount int64, reference string) map[string]any {
	return map[string]any{"amount": amount, "reference": reference}
}

func readRefund(t *testing.T, s *system.System, id payments.RefundID) payments.RefundView {
	t.Helper()
	answer := s.Get("/v1/refunds/" + id.String())
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)
	var refund payments.RefundView
	require.NoError(t, json.Unmarshal(answer.Body, &refund))
	return refund
}

// paid creates a payment that has succeeded.
func paid(t *testing.T, s *system.System, amount int64) payments.View {
	t.Helper()
	payment := s.Create("K", system.Order("order-1", amount)).Payment(t)
	require.Equal(t, payments.StatusSucceeded, payment.Status)
	return payment
}

// back is the ledger of a payment of 1000 of which an amount was given back.
func back(amount int64) map[string]int64 {
	if amount == 1000 {
		return map[string]int64{}
	}
	return map[string]int64{"stripe:receivable": 1000 - amount, "merchant:balance": amount - 1000}
}

// Two equal refunds with two references are two; each is made once, however often it is asked for, and what is left bounds the next.
func TestARefundIsMadeOnceAndTwoEqualOnesAreTwo(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	payment := paid(t, s, 1000)
	first := post(t, s, payment.ID, "refunds", "R1", part(300, "item-1"))
	refund := refundOf(t, first)
	require.Equal(t, payments.RefundSucceeded, refund.Status)
	require.Equal(t, first.Body, post(t, s, payment.ID, "refunds", "R1", part(300, "item-1")).Body)
	require.Equal(t, first.Body, post(t, s, payment.ID, "refunds", "R2", part(300, "item-1")).Body, "a fresh key attaches")
	require.Equal(t, "reference_conflict", post(t, s, payment.ID, "refunds", "R3", part(200, "item-1")).Problem(t).Code)

	second := refundOf(t, post(t, s, payment.ID, "refunds", "R4", part(300, "item-2")))
	require.NotEqual(t, refund.ID, second.ID)
	over := post(t, s, payment.ID, "refunds", "R5", part(401, "item-3"))
	require.Equal(t, http.StatusConflict, over.Status)
	require.Equal(t, payments.CodeAmountTooLarge, over.Problem(t).Code)
	rest := refundOf(t, post(t, s, payment.ID, "refunds", "R6", map[string]any{}))
	require.Equal(t, int64(400), rest.Amount, "all that may still be given back")
	s.Settle()
	require.Equal(t, back(1000), s.Positions(payment.ID))
	require.Equal(t, int64(1000), s.Payment(payment.ID).AmountRefunded)
	require.Len(t, s.Book(payment.ID).Refunds, 3)
	require.Len(t, s.Requests(http.MethodPost, refunds), 3)
	require.Len(t, s.Told(payment.ID, "refund.succeeded"), 3)
}

// Of concurrent refunds that together exceed what was captured, those that fit are made, and the others are refused before Stripe is asked.
func TestConcurrentRefundsNeverExceedWhatWasCaptured(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	for round := range 20 {
		payment := s.Create(fmt.Sprintf("K%d", round), system.Order(fmt.Sprintf("order-%d", round), 10_000)).Payment(t)
		var made, refused atomic.Int64
		var together sync.WaitGroup
		for i := range 4 {
			together.Go(func() {
				answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments/"+payment.ID.String()+"/refunds", fmt.Sprintf("R%d-%d", round, i),
					part(6000, fmt.Sprintf("item-%d", i)), "wait=20")
				switch {
				case err == nil && answer.Status == http.StatusCreated:
					made.Add(1)
				case err == nil && answer.Status == http.StatusConflict:
					refused.Add(1)
				}
			})
		}
		together.Wait()
		require.EqualValues(t, 1, made.Load(), "round %d", round)
		require.EqualValues(t, 3, refused.Load(), "round %d", round)
	}
	s.Settle()
	require.Len(t, s.Requests(http.MethodPost, refunds), 20)
}

// A pending refund keeps its amount reserved for as long as it takes, is told of only once it has succeeded, and no sweeper ends it.
func TestAPendingRefundKeepsItsAmountUntilItSucceeds(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"pending", "requires_action"} {
		t.Run(status, func(t *testing.T) {
			t.Parallel()
			s := system.Start(t)
			payment := paid(t, s, 1000)
			_, err := s.Twin.PlanRefund(t.Context(), payment.PaymentIntent, control.RefundPlan{Status: status, Unfunded: status == "pending"})
			require.NoError(t, err)
			first := post(t, s, payment.ID, "refunds", "R1", part(1000, "item-1"))
			refund := refundOf(t, first)
			require.EqualValues(t, status, refund.Status)
			require.Equal(t, first.Body, post(t, s, payment.ID, "refunds", "R1", part(1000, "item-1")).Body)
			s.DB.AdvanceClock(t, 25*time.Hour)
			require.Equal(t, payments.CodeAmountTooLarge, post(t, s, payment.ID, "refunds", "R2", part(1000, "item-2")).Problem(t).Code)
			require.EqualValues(t, status, readRefund(t, s, refund.ID).Status)
			require.Empty(t, s.Told(payment.ID, "refund.succeeded"))

			_, err = s.Twin.SettleRefund(t.Context(), refund.Refund, control.SettleRefund{Status: "succeeded"})
			require.NoError(t, err)
			s.Eventually("it has succeeded", func() bool { return readRefund(t, s, refund.ID).Status == payments.RefundSucceeded })
			s.Settle()
			require.Equal(t, back(1000), s.Positions(payment.ID))
			require.Len(t, s.Told(payment.ID, "refund.succeeded"), 1)
			require.Len(t, s.Requests(http.MethodPost, refunds), 1)
		})
	}
}

// A refund that fails days after it succeeded is credited again once, whatever kinds of event the account sends; its amount may be given back anew, and
// the customer is told.
func TestARefundThatFailsLaterIsCreditedAgainOnce(t *testing.T) {
	t.Parallel()
	for _, feed := range []string{control.FeedLegacy, control.FeedRefund, control.FeedBoth} {
		t.Run(feed, func(t *testing.T) {
			t.Parallel()
			s := system.Start(t)
			s.Feed(feed)
			payment := paid(t, s, 1000)
			refund := refundOf(t, post(t, s, payment.ID, "refunds", "R1", part(1000, "item-1")))
			s.Settle()
			require.Equal(t, back(1000), s.Positions(payment.ID))
			s.DB.AdvanceClock(t, 72*time.Hour)
			_, err := s.Twin.SettleRefund(t.Context(), refund.Refund, control.SettleRefund{Status: "failed", FailureReason: "expired_or_canceled_card"})
			require.NoError(t, err)
			s.Eventually("it has failed", func() bool { return readRefund(t, s, refund.ID).Status == payments.RefundFailed })
			s.Settle()
			require.Equal(t, back(0), s.Positions(payment.ID))
			require.Equal(t, "expired_or_canceled_card", readRefund(t, s, refund.ID).FailureReason)
			require.Zero(t, s.Payment(payment.ID).AmountRefunded)
			require.Len(t, s.Told(payment.ID, "refund.failed"), 1)

			again := refundOf(t, post(t, s, payment.ID, "refunds", "R2", part(1000, "item-1 again")))
			require.Equal(t, payments.RefundSucceeded, again.Status)
			s.Settle()
			require.Equal(t, back(1000), s.Positions(payment.ID))
		})
	}
}

// What was given back elsewhere is adopted once and marked so; it counts against what may still be given back.
func TestRefundsMadeElsewhereAreAdoptedOnce(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	payment := paid(t, s, 1000)
	for range 2 {
		_, err := s.Twin.RefundElsewhere(t.Context(), payment.PaymentIntent, control.RefundElsewhere{Amount: 150})
		require.NoError(t, err)
	}
	s.Settle()
	require.Equal(t, back(300), s.Positions(payment.ID))
	require.Equal(t, payments.CodeAmountTooLarge, post(t, s, payment.ID, "refunds", "R1", part(800, "item-1")).Problem(t).Code)
	refundOf(t, post(t, s, payment.ID, "refunds", "R2", part(700, "item-2")))
	s.Settle()
	require.Equal(t, back(1000), s.Positions(payment.ID))
	var list struct{ Data []payments.RefundView }
	require.NoError(t, json.Unmarshal(s.Get("/v1/payments/"+payment.ID.String()+"/refunds").Body, &list))
	require.Len(t, list.Data, 3)
	require.True(t, list.Data[0].External)
	require.False(t, list.Data[2].External)
}

// Stripe refuses what somebody else gave back a moment before: the refusal is the outcome, and afterwards we know what is left.
func TestARefusedRefundIsAnOutcomeAndTeachesWhatIsLeft(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	payment := paid(t, s, 1000)
	s.Settle()
	s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDrop})
	_, err := s.Twin.RefundElsewhere(t.Context(), payment.PaymentIntent, control.RefundElsewhere{})
	require.NoError(t, err)
	refused := post(t, s, payment.ID, "refunds", "R1", part(1000, "item-1"))
	require.Equal(t, http.StatusPaymentRequired, refused.Status, "%s", refused.Body)
	again := post(t, s, payment.ID, "refunds", "R1", part(1000, "item-1"))
	require.True(t, again.Replayed())
	require.Equal(t, refused.Body, again.Body)
	require.Equal(t, int64(1000), s.Payment(payment.ID).AmountRefunded)
	s.Settle()
	require.Equal(t, back(1000), s.Positions(payment.ID))
}

// A refund of all of a hold is its cancel, and meets it; of a part it is refused.
func TestARefundOfAHoldIsItsCancel(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	held := authorise(t, s, hold("order-1", 1000))
	require.Equal(t, payments.CodeUnexpectedState, post(t, s, held.ID, "refunds", "R1", part(300, "item-1")).Problem(t).Code)
	canceled := post(t, s, held.ID, "refunds", "R2", map[string]any{})
	require.Equal(t, http.StatusOK, canceled.Status, "%s", canceled.Body)
	require.Equal(t, payments.StatusCanceled, canceled.Payment(t).Status)
	require.Equal(t, canceled.Body, post(t, s, held.ID, "refunds", "R2", map[string]any{}).Body)
	require.Equal(t, canceled.Body, post(t, s, held.ID, "cancel", "C1", map[string]any{}).Body)
	s.Settle()
	require.Empty(t, s.Positions(held.ID))
	require.Empty(t, s.Requests(http.MethodPost, refunds))
}

// What Stripe writes of a hold that is let go, in whole or for the part that a capture left, is no refund of money; what is given back afterwards is.
func TestWhatAHoldReleasesIsNoRefund(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	_, err := s.Twin.SetAccount(t.Context(), control.Account{ID: system.AccountID, ReleasesAsRefunds: true})
	require.NoError(t, err)
	held := authorise(t, s, hold("order-1", 1000))
	require.Equal(t, http.StatusOK, post(t, s, held.ID, "capture", "C1", part(600, "parcel-1")).Status)
	s.Settle()
	taken := map[string]int64{"stripe:receivable": 600, "merchant:balance": -600}
	require.Equal(t, taken, s.Positions(held.ID))
	require.Zero(t, s.Payment(held.ID).AmountRefunded)
	_, err = s.Twin.RefundElsewhere(t.Context(), held.PaymentIntent, control.RefundElsewhere{Amount: 400})
	require.NoError(t, err)
	s.Settle()
	require.Equal(t, map[string]int64{"stripe:receivable": 200, "merchant:balance": -200}, s.Positions(held.ID))
	require.Equal(t, payments.RefundSucceeded, refundOf(t, post(t, s, held.ID, "refunds", "R1", map[string]any{})).Status)
	s.Settle()
	require.Empty(t, s.Positions(held.ID))

	canceled := s.Create("K2", hold("order-2", 1000)).Payment(t)
	require.Equal(t, http.StatusOK, post(t, s, canceled.ID, "cancel", "C2", map[string]any{}).Status)
	s.Settle()
	require.Empty(t, s.Positions(canceled.ID))
}

// The answer to a refund is lost: the same key asks again, and once Stripe may have forgotten it the list decides. One refund is made.
func TestARefundWhoseAnswerIsLostIsMadeOnce(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]control.Rule{
		"lost":               {Fault: control.FaultAnswerLost, Times: 3},
		"an error afterward": {Fault: control.FaultErrorAfter, Times: 1},
		"a stored error":     {Fault: control.FaultErrorBeforeStored, Times: 1},
		"never arrived":      {Fault: control.FaultReset, Times: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := system.Start(t)
			payment := paid(t, s, 1000)
			rule.Match = control.Match{Method: http.MethodPost, Path: refunds}
			s.Fault(rule)
			refund := refundOf(t, post(t, s, payment.ID, "refunds", "R1", part(400, "item-1")))
			require.Equal(t, payments.RefundSucceeded, refund.Status)
			s.Settle()
			require.Len(t, s.Book(payment.ID).Refunds, 1)
			require.Equal(t, back(400), s.Positions(payment.ID))
		})
	}
}

// An intent with a failed charge and a good one: the good one is given back.
func TestTheChargeThatSucceededIsGivenBack(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	declined := s.Create("K", system.With(system.Order("order-1", 1000), "payment_method", "pm_card_chargeDeclined")).Payment(t)
	require.Equal(t, payments.StatusSucceeded, post(t, s, declined.ID, "confirm", "C", method("pm_card_visa")).Payment(t).Status)
	refundOf(t, post(t, s, declined.ID, "refunds", "R1", map[string]any{}))
	s.Settle()
	require.Equal(t, back(1000), s.Positions(declined.ID))
}

// Refunds of one payment are asked for one after the other, so that the list of them tells which is missing; the second is accepted meanwhile.
func TestRefundsOfAPaymentGoOneAfterTheOther(t *testing.T) {
	t.Parallel()
	s := system.Start(t, system.Unhurried)
	payment := paid(t, s, 1000)
	stopped, err := s.Twin.Hold(t.Context(), control.Hold{Method: http.MethodPost, Path: refunds, Point: control.BeforeEffect, Times: 1})
	require.NoError(t, err)
	ask := func(key string, wait string) system.Answer {
		answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments/"+payment.ID.String()+"/refunds", key, part(300, key), wait)
		require.NoError(t, err)
		return answer
	}
	require.Equal(t, http.StatusAccepted, ask("R1", "wait=0").Status)
	_, err = s.Twin.Held(t.Context(), 1)
	require.NoError(t, err)
	second := ask("R2", "wait=2")
	require.Equal(t, http.StatusAccepted, second.Status, "%s", second.Body)
	require.Contains(t, second.Header.Get("Location"), "/v1/refunds/")
	require.Len(t, s.Requests(http.MethodPost, refunds), 1, "the first has no answer yet")
	require.NoError(t, s.Twin.Release(t.Context(), stopped.ID))
	refundOf(t, ask("R1", "wait=20"))
	refundOf(t, ask("R2", "wait=20"))
	s.Settle()
	require.Equal(t, back(600), s.Positions(payment.ID))
}
