package activities_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

// Every way in which one call to Stripe can go wrong ends in one charge, one journal and one message.
func TestOneChargeWhateverOneCallMeets(t *testing.T) {
	for _, call := range []struct{ name, path string }{
		{"create", "/v1/payment_intents"}, {"confirm", "/v1/payment_intents/*/confirm"},
	} {
		for _, fault := range []string{
			control.FaultAnswerLost, control.FaultReset, control.FaultErrorBefore, control.FaultErrorAfter, control.FaultErrorBeforeStored,
			control.FaultRateLimited, control.FaultLockTimeout, control.FaultSlow, control.FaultSlowBefore,
		} {
			t.Run(call.name+" "+fault, func(t *testing.T) {
				t.Parallel()
				s := system.Start(t)
				s.Fault(control.Rule{
					Match: control.Match{Method: http.MethodPost, Path: call.path}, Fault: fault, Times: 2, DelayMS: 1000,
				})
				answer := s.Create("K1", system.Order("order-1", 1999))
				require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Body)
				payment := answer.Payment(t)
				require.Equal(t, payments.StatusSucceeded, payment.Status)
				require.Equal(t, payments.StageLedgerApplied, payment.Stage)
				book := s.Book(payment.ID)
				require.EqualValues(t, 1999, book.Captured)
				require.Equal(t, 1, book.ConfirmsExecuted)
				s.Settle()
				require.Len(t, s.Receiver.Of(t, payment.ID.String()), 1)
			})
		}
	}
}

// A lost answer is asked for again with the same key and the same bytes, and Stripe's memory answers.
func TestALostAnswerIsAskedForAgainWithTheSameKeyAndBytes(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDrop}) // no event tells what the answer would have
	s.Fault(control.Rule{Match: control.Match{Method: http.MethodPost, Path: "/v1/payment_intents"}, Fault: control.FaultAnswerLost, Times: 4})
	payment := s.Create("K1", system.Order("order-1", 1000)).Payment(t)
	require.Equal(t, payments.StatusSucceeded, payment.Status)
	sends := s.Requests(http.MethodPost, "/v1/payment_intents")
	require.Len(t, sends, 5)
	for _, send := range sends {
		require.Equal(t, sends[0].IdempotencyKey, send.IdempotencyKey)
		require.Equal(t, sends[0].Body, send.Body)
	}
	require.True(t, sends[4].Replayed)
}

// A decline, a definite refusal and a refused account are each asked once.
func TestDefiniteAnswersAreNotRetried(t *testing.T) {
	t.Run("decline", func(t *testing.T) {
		t.Parallel()
		s := system.Start(t)
		answer := s.Create("K1", system.With(system.Order("order-1", 1000), "payment_method", "pm_card_chargeDeclinedInsufficientFunds"))
		require.Equal(t, http.StatusCreated, answer.Status)
		payment := answer.Payment(t)
		require.Equal(t, payments.StatusRequiresPaymentMethod, payment.Status)
		require.Equal(t, "card_declined", payment.LastError.Code)
		require.Equal(t, "insufficient_funds", payment.LastError.DeclineCode)
		require.Len(t, s.Requests(http.MethodPost, "/v1/payment_intents/*/confirm"), 1)
		s.Settle()
		messages := s.Receiver.Of(t, payment.ID.String())
		require.Len(t, messages, 1)
		require.Equal(t, "payment.declined", messages[0].Type)
	})
	t.Run("refused create", func(t *testing.T) {
		t.Parallel()
		s := system.Start(t)
		s.Fault(control.Rule{Match: control.Match{Method: http.MethodPost, Path: "/v1/payment_intents"}, Fault: control.FaultRefused})
		answer := s.Create("K1", system.Order("order-1", 1000))
		require.Equal(t, http.StatusPaymentRequired, answer.Status)
		require.Equal(t, "provider_refused", answer.Problem(t).Code)
		require.Equal(t, payments.StatusFailed, s.Payment(*answer.Problem(t).Payment).Status)
		require.Len(t, s.Requests(http.MethodPost, "/v1/payment_intents"), 1)
		again := s.Create("K1", system.Order("order-1", 1000))
		require.True(t, again.Replayed())
		require.Equal(t, answer.Body, again.Body)
		require.Len(t, s.Requests(http.MethodPost, "/v1/payment_intents"), 1)
	})
	t.Run("refused confirm: failed only once the intent is canceled", func(t *testing.T) {
		t.Parallel()
		s := system.Start(t)
		s.Fault(control.Rule{Match: control.Match{Method: http.MethodPost, Path: "/v1/payment_intents/*/confirm"}, Fault: control.FaultRefused})
		answer := s.Create("K1", system.Order("order-1", 1000))
		require.Equal(t, http.StatusPaymentRequired, answer.Status)
		payment := s.Payment(*answer.Problem(t).Payment)
		require.Equal(t, payments.StatusFailed, payment.Status)
		require.Len(t, s.Requests(http.MethodPost, "/v1/payment_intents/*/confirm"), 1)
		require.True(t, s.Book(payment.ID).Canceled)
		s.Settle()
		require.Equal(t, "payment.failed", s.Receiver.Of(t, payment.ID.String())[0].Type)
	})
	t.Run("refused account: its calls stop and nothing fails", func(t *testing.T) {
		t.Parallel()
		s := system.Start(t)
		rule := s.Fault(control.Rule{Match: control.Match{Method: http.MethodPost, Path: "/v1/payment_intents"}, Fault: control.FaultUnauthorized})
		answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments", "K1", system.Order("order-1", 1000), "wait=1")
		require.NoError(t, err)
		require.Equal(t, http.StatusAccepted, answer.Status)
		id := answer.Payment(t).ID
		s.Eventually("the account is stopped", func() bool {
			return s.Count(`SELECT count(*) FROM payonce.provider_accounts WHERE stopped_reason IS NOT NULL`) == 1
		})
		require.Len(t, s.Requests(http.MethodPost, "/v1/payment_intents"), 1)
		require.NoError(t, s.Twin.DeleteFault(t.Context(), rule.ID))
		s.Resume()
		s.Eventually("the payment goes on", func() bool { return s.Payment(id).Status == payments.StatusSucceeded })
	})
}

// While the first send still runs, Stripe refuses the second with 409: the payment waits for the first one's result.
func TestAKeyInUseIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	hold, err := s.Twin.Hold(t.Context(), control.Hold{Method: http.MethodPost, Path: "/v1/payment_intents/*/confirm", Point: "before_effect"})
	require.NoError(t, err)
	answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments", "K1", system.Order("order-1", 1000), "wait=0")
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, answer.Status)
	id := answer.Payment(t).ID
	s.Eventually("a second send met the first", func() bool {
		for _, send := range s.Requests(http.MethodPost, "/v1/payment_intents/*/confirm") {
			if send.Status == http.StatusConflict {
				return true
			}
		}
		return false
	})
	require.Equal(t, payments.StatusSubmitted, s.Payment(id).Status)
	require.NoError(t, s.Twin.Release(t.Context(), hold.ID))
	s.Eventually("the payment succeeds", func() bool { return s.Payment(id).Status == payments.StatusSucceeded })
	require.Equal(t, 1, s.Book(id).ConfirmsExecuted)
}

// A command that could not be sent before its deadline ends as expired, and its intent is canceled.
func TestACommandThatIsTooLateIsNotSent(t *testing.T) {
	t.Run("create", func(t *testing.T) {
		t.Parallel()
		s := system.New(t)
		s.StartAPI()
		answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments", "K1", system.Order("order-1", 1000), "wait=0")
		require.NoError(t, err)
		s.DB.AdvanceClock(t, s.Config.Timing.CommandDeadline+time.Second)
		s.StartWorker()
		id := answer.Payment(t).ID
		s.Eventually("the payment is over", func() bool { return s.Payment(id).Status == payments.StatusExpired })
		require.Empty(t, s.Requests(http.MethodPost, "/v1/payment_intents"))
		again := s.Create("K1", system.Order("order-1", 1000))
		require.Equal(t, http.StatusConflict, again.Status)
		require.Equal(t, "expired_unsent", again.Problem(t).Code)
	})
	t.Run("confirm", func(t *testing.T) {
		t.Parallel()
		s := system.Start(t)
		hold, err := s.Twin.Hold(t.Context(), control.Hold{Method: http.MethodPost, Path: "/v1/payment_intents", Point: "before_effect"})
		require.NoError(t, err)
		answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments", "K1", system.Order("order-1", 1000), "wait=0")
		require.NoError(t, err)
		_, err = s.Twin.Held(t.Context(), 1)
		require.NoError(t, err)
		s.DB.AdvanceClock(t, s.Config.Timing.CommandDeadline+time.Second)
		require.NoError(t, s.Twin.Release(t.Context(), hold.ID))
		id := answer.Payment(t).ID
		s.Eventually("the payment is over", func() bool { return s.Payment(id).Status == payments.StatusExpired })
		require.Empty(t, s.Requests(http.MethodPost, "/v1/payment_intents/*/confirm"))
		require.True(t, s.Book(id).Canceled)
	})
}
