package activities_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

const captures = "/v1/payment_intents/*/capture"

// hold is the body of a create whose money is held.
func hold(reference string, amount int64) map[string]any {
	return system.With(system.Order(reference, amount), "capture_method", "manual")
}

// authorise creates a payment whose money is held.
func authorise(t *testing.T, s *system.System, body map[string]any) payments.View {
	t.Helper()
	held := s.Create("K", body).Payment(t)
	require.Equal(t, payments.StatusRequiresCapture, held.Status)
	return held
}

// A hold is captured once, however many ask for all of it and with which keys, and the ledger goes from pending to posted.
func TestAHoldIsCapturedOnce(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	held := authorise(t, s, hold("order-1", 1000))
	require.Equal(t, int64(1000), held.AmountCapturable)
	require.NotNil(t, held.CaptureBefore)
	require.Equal(t, map[string]int64{"stripe:receivable:pending": 1000, "merchant:balance:pending": -1000}, s.Positions(held.ID))

	var together sync.WaitGroup
	bodies := []any{map[string]any{}, map[string]any{"amount": 1000}, map[string]any{"final": true}, []byte("{}")}
	for i, body := range bodies {
		together.Go(func() {
			answer := post(t, s, held.ID, "capture", "C"+string(rune('0'+i)), body)
			if answer.Status == http.StatusConflict {
				require.Equal(t, "in_progress", answer.Problem(t).Code)
				return
			}
			require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)
			require.Equal(t, payments.StatusSucceeded, answer.Payment(t).Status)
		})
	}
	together.Wait()
	s.Settle()
	require.Len(t, s.Requests(http.MethodPost, captures), 1)
	require.Equal(t, 1, s.Book(held.ID).CapturesExecuted)
	require.Equal(t, map[string]int64{"stripe:receivable": 1000, "merchant:balance": -1000}, s.Positions(held.ID))
	require.Equal(t, int64(1000), s.Payment(held.ID).AmountCaptured)
	late := post(t, s, held.ID, "cancel", "X", map[string]any{})
	require.Equal(t, payments.CodePaymentSucceeded, late.Problem(t).Code)
}

// Less than what is held is captured, the rest is given back; more is refused before Stripe is asked, and leaves the hold.
func TestAPartIsCapturedAndTheRestReleased(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	held := authorise(t, s, hold("order-1", 1000))
	over := post(t, s, held.ID, "capture", "C1", map[string]any{"amount": 1001, "reference": "parcel-1"})
	require.Equal(t, http.StatusConflict, over.Status, "%s", over.Body)
	require.Equal(t, payments.CodeAmountTooLarge, over.Problem(t).Code)
	require.Equal(t, payments.StatusRequiresCapture, s.Payment(held.ID).Status)
	open := post(t, s, held.ID, "capture", "C1", map[string]any{"amount": 300, "reference": "parcel-1", "final": false})
	require.Equal(t, payments.CodeUnexpectedState, open.Problem(t).Code, "it was not created with multicapture")

	part := post(t, s, held.ID, "capture", "C2", map[string]any{"amount": 600, "reference": "parcel-1"})
	require.Equal(t, http.StatusOK, part.Status, "%s", part.Body)
	require.Equal(t, payments.StatusSucceeded, part.Payment(t).Status)
	require.Equal(t, part.Body, post(t, s, held.ID, "capture", "C3", map[string]any{"amount": 600, "reference": "parcel-1"}).Body)
	another := post(t, s, held.ID, "capture", "C4", map[string]any{"amount": 500, "reference": "parcel-1"})
	require.Equal(t, "reference_conflict", another.Problem(t).Code)
	s.Settle()
	require.Equal(t, map[string]int64{"stripe:receivable": 600, "merchant:balance": -600}, s.Positions(held.ID))
	require.Len(t, s.Requests(http.MethodPost, captures), 1)
}

// A hold that allows it is captured in several parts, two of them equal, and the last one releases the rest.
func TestAHoldIsCapturedInSeveralParts(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	held := authorise(t, s, system.With(hold("order-1", 1000), "multicapture", true))
	for _, parcel := range []string{"parcel-1", "parcel-2"} {
		part := post(t, s, held.ID, "capture", parcel, map[string]any{"amount": 300, "reference": parcel, "final": false})
		require.Equal(t, http.StatusOK, part.Status, "%s", part.Body)
		require.Equal(t, payments.StatusRequiresCapture, part.Payment(t).Status)
	}
	s.Settle()
	require.Equal(t, map[string]int64{
		"stripe:receivable": 600, "merchant:balance": -600, "stripe:receivable:pending": 400, "merchant:balance:pending": -400,
	}, s.Positions(held.ID))
	last := post(t, s, held.ID, "capture", "parcel-3", map[string]any{"amount": 200, "reference": "parcel-3"})
	require.Equal(t, payments.StatusSucceeded, last.Payment(t).Status)
	require.Equal(t, int64(800), last.Payment(t).AmountCaptured)
	s.Settle()
	require.Equal(t, map[string]int64{"stripe:receivable": 800, "merchant:balance": -800}, s.Positions(held.ID))
	require.Equal(t, 3, s.Book(held.ID).CapturesExecuted)
}

// A part may be called as the engine calls the capture of the whole: it is a part all the same, and the whole is still to come.
func TestAPartMayBeCalledAsTheWholeIs(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	held := authorise(t, s, system.With(hold("order-1", 1000), "multicapture", true))
	part := post(t, s, held.ID, "capture", "C1", map[string]any{"amount": 300, "reference": "capture#1", "final": false})
	require.Equal(t, http.StatusOK, part.Status, "%s", part.Body)
	require.Equal(t, int64(300), part.Payment(t).AmountCaptured)
	all := post(t, s, held.ID, "capture", "C2", map[string]any{})
	require.Equal(t, http.StatusOK, all.Status, "%s", all.Body)
	require.Equal(t, int64(1000), all.Payment(t).AmountCaptured)
	s.Settle()
	require.Equal(t, 2, s.Book(held.ID).CapturesExecuted)
}

// The answer to a capture is lost and its events too: what the intent is now settles the capture, and the money is booked once.
func TestACaptureWhoseAnswerIsLostIsFollowedUp(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	held := authorise(t, s, system.With(hold("order-1", 1000), "multicapture", true))
	s.Fault(control.Rule{Match: control.Match{Path: captures}, Fault: control.FaultAnswerLost, Times: 1})
	part := post(t, s, held.ID, "capture", "C1", map[string]any{"amount": 300, "reference": "parcel-1", "final": false})
	require.Equal(t, http.StatusOK, part.Status, "%s", part.Body)
	require.Equal(t, int64(300), part.Payment(t).AmountCaptured)
	require.Equal(t, 1, s.Book(held.ID).CapturesExecuted)
	s.Settle()
}

// A part was taken, and Stripe's error about it is stored under the key: a read begun after that answer shows the total that the part leads to. A poll that
// books the money first takes nothing away from that.
func TestAPartWhoseStoredAnswerIsAnErrorIsFollowedUp(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	held := authorise(t, s, system.With(hold("order-1", 1000), "multicapture", true))
	s.Fault(control.Rule{Match: control.Match{Path: captures}, Fault: control.FaultErrorAfter, Times: 1})
	part := post(t, s, held.ID, "capture", "C1", map[string]any{"amount": 300, "reference": "parcel-1", "final": false})
	require.Equal(t, http.StatusOK, part.Status, "%s", part.Body)
	require.Equal(t, int64(300), part.Payment(t).AmountCaptured)
	require.Nil(t, s.Payment(held.ID).Review)
	require.Equal(t, 1, s.Book(held.ID).CapturesExecuted)
	s.Settle()
}

// A hold that was captured elsewhere answers our capture: the money is in, and booked once.
func TestACaptureThatFindsTheHoldCapturedAgrees(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	held := authorise(t, s, hold("order-1", 1000))
	_, err := s.Twin.CaptureElsewhere(t.Context(), held.PaymentIntent, control.CaptureElsewhere{})
	require.NoError(t, err)
	answer := post(t, s, held.ID, "capture", "C1", map[string]any{})
	if answer.Status != http.StatusOK {
		require.Equal(t, payments.CodePaymentSucceeded, answer.Problem(t).Code, "%s", answer.Body)
	}
	s.Settle()
	require.Equal(t, payments.StatusSucceeded, s.Payment(held.ID).Status)
	require.Equal(t, int64(1000), s.Payment(held.ID).AmountCaptured)
	require.Equal(t, map[string]int64{"stripe:receivable": 1000, "merchant:balance": -1000}, s.Positions(held.ID))
}

// A hold that Stripe lets go ends its payment as expired, once, also when no event ever tells; a capture afterwards is refused.
func TestAHoldThatStripeLetsGoExpires(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	held := authorise(t, s, system.With(hold("order-1", 1000), "hold_expiry", "capture"))
	s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDrop})
	s.DB.AdvanceClock(t, 8*24*time.Hour)
	s.Eventually("the payment has expired", func() bool { return s.Payment(held.ID).Status == payments.StatusExpired })
	late := post(t, s, held.ID, "capture", "C1", map[string]any{})
	require.Equal(t, payments.CodePaymentEnded, late.Problem(t).Code)
	s.Settle()
	require.Empty(t, s.Positions(held.ID))
	require.Equal(t, payments.FailureHoldExpired, s.Payment(held.ID).Failure.Code)
}

// Stripe lets holds go in the moment in which they are captured: each ends as one of both, at Stripe, here and in the books.
func TestACaptureThatRacesWithTheEndOfItsHoldEndsAsOneOfBoth(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	holds := make([]payments.View, 12)
	for i := range holds {
		holds[i] = s.Create(fmt.Sprint("K", i), hold(fmt.Sprint("order-", i), 1000)).Payment(t)
	}
	var race errgroup.Group
	for i, held := range holds {
		if i == len(holds)/2 {
			s.DB.AdvanceClock(t, 8*24*time.Hour)
			race.Go(func() error { return s.Twin.Tick(t.Context()) })
		}
		race.Go(func() error {
			_, err := s.Post(t.Context(), s.APIKey, "/v1/payments/"+held.ID.String()+"/capture", fmt.Sprint("C", i), map[string]any{}, "wait=20")
			return err
		})
	}
	require.NoError(t, race.Wait())
	s.Settle()
	for _, held := range holds {
		after, book := s.Payment(held.ID), s.Book(held.ID)
		require.Equal(t, after.AmountCaptured, book.Captured)
		require.Zero(t, after.AmountCapturable)
		if after.Status == payments.StatusSucceeded {
			require.Equal(t, map[string]int64{"stripe:receivable": 1000, "merchant:balance": -1000}, s.Positions(held.ID))
			continue
		}
		require.Contains(t, []payments.Status{payments.StatusExpired, payments.StatusCanceled}, after.Status)
		require.Zero(t, after.AmountCaptured)
		require.Empty(t, s.Positions(held.ID))
	}
}

// A hold that is about to run out is told of, and then captured or voided by the payment's policy.
func TestAHoldThatRunsOutIsSeenTo(t *testing.T) {
	t.Parallel()
	for policy, want := range map[string]payments.Status{"capture": payments.StatusSucceeded, "void": payments.StatusExpired} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			s := system.Start(t)
			held := authorise(t, s, system.With(hold("order-1", 1000), "hold_expiry", policy))
			s.DB.AdvanceClock(t, 6*24*time.Hour+time.Hour)
			s.Eventually("it is told", func() bool { return len(s.Told(held.ID, "payment.hold_expiring")) == 1 })
			require.Equal(t, payments.StatusRequiresCapture, s.Payment(held.ID).Status)
			s.DB.AdvanceClock(t, 23*time.Hour-5*time.Minute)
			s.Eventually("it has ended", func() bool { return s.Payment(held.ID).Status == want })
			s.Settle()
			require.Len(t, s.Told(held.ID, "payment.hold_expiring"), 1)
		})
	}
}

// While a capture is open another is refused: which of two the total came from nobody could say.
func TestOneCaptureIsOpenAtATime(t *testing.T) {
	t.Parallel()
	s := system.Start(t, system.Unhurried)
	held := authorise(t, s, system.With(hold("order-1", 1000), "multicapture", true))
	stopped, err := s.Twin.Hold(t.Context(), control.Hold{Method: http.MethodPost, Path: captures, Point: control.BeforeEffect, Times: 1})
	require.NoError(t, err)
	first, err := s.Post(t.Context(), s.APIKey, "/v1/payments/"+held.ID.String()+"/capture", "C1",
		map[string]any{"amount": 300, "reference": "parcel-1", "final": false}, "wait=0")
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, first.Status, "%s", first.Body)
	another := map[string]any{"amount": 400, "reference": "parcel-2", "final": false}
	require.Equal(t, "reference_conflict", post(t, s, held.ID, "capture", "C2", another).Problem(t).Code)
	_, err = s.Twin.Held(t.Context(), 1)
	require.NoError(t, err)
	require.NoError(t, s.Twin.Release(t.Context(), stopped.ID))
	require.Equal(t, http.StatusOK, post(t, s, held.ID, "capture", "C1", map[string]any{"amount": 300, "reference": "parcel-1", "final": false}).Status)
	require.Equal(t, http.StatusOK, post(t, s, held.ID, "capture", "C2", another).Status)
	s.Settle()
	require.Equal(t, int64(700), s.Payment(held.ID).AmountCaptured)
}
