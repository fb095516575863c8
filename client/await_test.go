package client_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/client"
	"payonce/payments"
)

// What needs the caller is told at once; what is still under way is looked at again.
func TestAwaitReturnsWhenThePaymentNeedsTheCallerOrIsOver(t *testing.T) {
	t.Parallel()
	for _, want := range []client.Payment{
		payment(payments.StatusRequiresPaymentMethod, payments.StageProcessing),
		payment(payments.StatusRequiresAction, payments.StageProcessing),
		payment(payments.StatusRequiresCapture, payments.StageProcessing),
		payment(payments.StatusSucceeded, payments.StageLedgerApplied),
		payment(payments.StatusCanceled, payments.StageLedgerApplied),
	} {
		t.Run(string(want.Status), func(t *testing.T) {
			t.Parallel()
			s := newServer(t,
				shows(http.StatusCreated, payment(payments.StatusProcessing, payments.StageProcessing)),
				shows(http.StatusOK, payment(payments.StatusProcessing, payments.StageProcessing)),
				refuses(http.StatusServiceUnavailable, client.CodeUnavailable, nil),
				shows(http.StatusOK, payment(want.Status, payments.StageTerminal)),
				shows(http.StatusOK, want))
			if want.Stage != payments.StageLedgerApplied {
				s.script = append(s.script[:3:3], s.script[4]) // it is told without waiting for the books
			}
			answer, err := s.create()
			require.NoError(t, err)
			got, err := s.client.Await(t.Context(), answer)
			require.NoError(t, err)
			require.Equal(t, want, got)
			s.requests()
		})
	}
}

// An answer that says all is not asked about.
func TestAwaitAsksNothingWhenTheAnswerIsFreshAndFinal(t *testing.T) {
	t.Parallel()
	s := newServer(t, shows(http.StatusCreated, succeeded()))
	answer, err := s.create()
	require.NoError(t, err)
	got, err := s.client.Await(t.Context(), answer)
	require.NoError(t, err)
	require.Equal(t, succeeded(), got)
	require.Len(t, s.requests(), 1)
}

// The stored answer of a create that was declined does not say that the payer has paid since.
func TestAwaitDoesNotTrustAReplayedAnswer(t *testing.T) {
	t.Parallel()
	s := newServer(t,
		answers(http.StatusCreated, map[string]string{"Idempotent-Replayed": "true"},
			payment(payments.StatusRequiresPaymentMethod, payments.StageProcessing)),
		shows(http.StatusOK, succeeded()))
	answer, err := s.create()
	require.NoError(t, err)
	got, err := s.client.Await(t.Context(), answer)
	require.NoError(t, err)
	require.Equal(t, succeeded(), got)
}

// While a confirm is under way the payment still shows the decline before it: only the command's own outcome tells.
func TestAwaitAsksForTheOutcomeOfItsOwnCommand(t *testing.T) {
	t.Parallel()
	declined := payment(payments.StatusRequiresPaymentMethod, payments.StageProcessing)
	wait := map[string]string{"Retry-After": "2"}
	s := newServer(t, answers(http.StatusAccepted, wait, declined), answers(http.StatusAccepted, wait, declined), loses,
		shows(http.StatusOK, succeeded()))
	key := client.ConfirmKey("order-1", 2)
	answer, err := s.client.ConfirmPayment(t.Context(), key, paymentID(), client.ConfirmPayment{PaymentMethod: "pm_card_visa"})
	require.NoError(t, err)
	got, err := s.client.Await(t.Context(), answer)
	require.NoError(t, err)
	require.Equal(t, succeeded(), got)
	requests := s.requests()
	require.Len(t, requests, 4)
	for _, request := range requests {
		require.Equal(t, requests[0], request)
	}
	require.GreaterOrEqual(t, s.pauses[0], 2*time.Second)
}

// The outcome of the awaited command can be a refusal.
func TestAwaitEndsWithARefusal(t *testing.T) {
	t.Parallel()
	s := newServer(t, shows(http.StatusAccepted, payment("submitted", "submitted")),
		refuses(http.StatusPaymentRequired, client.CodeProviderRefused, nil))
	answer, err := s.create()
	require.NoError(t, err)
	_, err = s.client.Await(t.Context(), answer)
	require.Equal(t, client.CodeProviderRefused, client.CodeOf(err))
}

func TestAwaitEndWaitsForTheBooksWhoeverHasToActBefore(t *testing.T) {
	t.Parallel()
	s := newServer(t,
		shows(http.StatusOK, payment(payments.StatusRequiresAction, payments.StageProcessing)),
		shows(http.StatusOK, payment(payments.StatusSucceeded, payments.StageTerminal)),
		shows(http.StatusOK, succeeded()))
	got, err := s.client.AwaitEnd(t.Context(), paymentID())
	require.NoError(t, err)
	require.Equal(t, succeeded(), got)
	require.Len(t, s.requests(), 3)
}

func TestTheContextEndsTheWaiting(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := newServer(t, func(w http.ResponseWriter) {
		shows(http.StatusOK, payment(payments.StatusProcessing, payments.StageProcessing))(w)
		cancel()
	})
	_, err := s.client.AwaitEnd(ctx, paymentID())
	require.ErrorIs(t, err, context.Canceled)
}

func TestAwaitEndEndsWithARefusal(t *testing.T) {
	t.Parallel()
	s := newServer(t, refuses(http.StatusNotFound, client.CodePaymentNotFound, nil))
	_, err := s.client.AwaitEnd(t.Context(), paymentID())
	require.Equal(t, client.CodePaymentNotFound, client.CodeOf(err))
}
