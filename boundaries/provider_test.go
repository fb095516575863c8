package boundaries_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/activities"
	"payonce/boundaries"
	"payonce/internal/stripeapi"
)

// prepared is a payment whose create may be sent.
func (w *world) prepared(reference string) offer {
	w.t.Helper()
	return w.offer(callDoor(), reference, 1000)
}

func (w *world) begin(freeze boundaries.Freeze) boundaries.Call {
	w.t.Helper()
	call, err := w.calls.Begin(w.t.Context(), freeze)
	require.NoError(w.t, err)
	return call
}

func (w *world) requireNotBegun(freeze boundaries.Freeze, want error) {
	w.t.Helper()
	_, err := w.calls.Begin(w.t.Context(), freeze)
	require.ErrorIs(w.t, err, want)
}

func TestACallIsFrozenBeforeItIsSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := w.prepared("order-1")
	freeze := w.freeze(o, workflow)
	call := w.begin(freeze)
	require.Equal(t, freeze.Key.IdempotencyKey(), call.Key)
	require.Equal(t, freeze.Body, call.Body)
	require.Equal(t, freeze.Path, call.Path)
	require.Equal(t, freeze.Account, call.Account)
	require.Equal(t, 1, call.Sends)
	require.Equal(t, call.FirstSentAt, call.LastSentAt)
	require.WithinDuration(t, w.now(), call.FirstSentAt, time.Minute)
	require.Equal(t, call.Key.String(), read[string](w, `SELECT idempotency_key::text FROM payonce.idempotency_records WHERE id = $1`, freeze.Record.UUID),
		"the record names the key of generation 0")
}

func TestWhatIsSentAgainIsWhatWasFrozen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := w.prepared("order-1")
	first := w.begin(w.freeze(o, workflow))
	drifted := w.freeze(o, workflow) // after a deploy: other code, other bytes
	drifted.Body, drifted.Path, drifted.Version, drifted.Account.ID = []byte("2000"), "/v1/other", "2030-01-01", "acct_other"
	again := w.begin(drifted)
	require.Equal(t, first.Key, again.Key)
	require.Equal(t, first.Body, again.Body)
	require.Equal(t, first.Path, again.Path)
	require.Equal(t, first.Account, again.Account, "a call stays with its account and mode")
	require.Equal(t, 2, again.Sends)
	require.Equal(t, first.Fence+1, again.Fence)
	require.Equal(t, first.FirstSentAt, again.FirstSentAt)
	require.True(t, again.LastSentAt.After(first.LastSentAt))
	w.requireEffects(callDoor(), o, 1000)
}

func TestAStrangersCallWaitsForTheLease(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := w.prepared("order-1")
	first := w.begin(w.freeze(o, workflow))
	drifted := w.freeze(o, stranger)
	drifted.Body = []byte("2000")
	w.requireNotBegun(drifted, boundaries.ErrLeased)
	w.advance(w.timing.Lease + time.Second)
	taken := w.begin(drifted)
	require.Equal(t, first.Fence+1, taken.Fence)
	require.Equal(t, first.Key, taken.Key)
	require.Equal(t, first.Body, taken.Body)
	w.requireNotBegun(w.freeze(o, workflow), boundaries.ErrLeased)
}

func TestAfterTheDeadlineNothingNewIsFrozen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	late, frozen := w.prepared("late"), w.prepared("frozen")
	first := w.begin(w.freeze(frozen, workflow))
	w.advance(w.timing.CommandDeadline + time.Second)
	w.requireNotBegun(w.freeze(late, workflow), boundaries.ErrUnsent)
	w.requireNotBegun(w.freeze(late, stranger), boundaries.ErrUnsent)
	w.requireEffects(callDoor(), late)
	again := w.begin(w.freeze(frozen, workflow))
	require.Equal(t, first.Key, again.Key, "what was frozen in time may be sent again")
	require.Equal(t, 2, again.Sends)
}

func TestNothingIsSentBlindlyOnceStripeMayHaveForgottenTheKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := w.prepared("order-1")
	w.begin(w.freeze(o, workflow))
	w.advance(w.timing.BlindResend - time.Minute)
	require.Equal(t, 2, w.begin(w.freeze(o, workflow)).Sends)
	w.advance(2 * time.Minute)
	w.requireNotBegun(w.freeze(o, workflow), boundaries.ErrBlind)
	require.Equal(t, 2, w.count(`SELECT sends FROM payonce.provider_calls`), "the age counts from the first send")
	w.requireNotBegun(w.freeze(o, workflow), boundaries.ErrBlind)
}

func TestAProofOfAbsenceOpensTheNextGeneration(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := w.prepared("order-1")
	first := w.begin(w.freeze(o, workflow))
	w.advance(w.timing.BlindResend + time.Minute)
	require.NoError(t, w.calls.Absent(t.Context(), first.Key))
	w.requireNotBegun(w.freeze(o, workflow), boundaries.ErrSettled)
	next := w.freeze(o, workflow)
	next.Key.Generation = 1
	second := w.begin(next)
	require.NotEqual(t, first.Key, second.Key)
	newest, err := w.calls.Newest(t.Context(), next.Record)
	require.NoError(t, err)
	require.Equal(t, second.Key, newest.Key)
	require.Equal(t, 1, newest.Generation)
	require.Equal(t, boundaries.CallSent, newest.Status)
}

func TestASettledCallIsNotSentAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := w.prepared("order-1")
	freeze := w.freeze(o, workflow)
	none, err := w.calls.Newest(t.Context(), freeze.Record)
	require.NoError(t, err)
	require.Nil(t, none)
	call := w.begin(freeze)
	intent := intentOf(w.engine, o, stripeapi.IntentRequiresPaymentMethod)
	intent.Money.Amount = preparedAmount
	w.learn("order-1", activities.Learnt{Intent: intent, Answer: &activities.AnsweredCall{Call: call, Status: 200, RequestID: "req_1"}})
	w.requireNotBegun(freeze, boundaries.ErrSettled)
	newest, err := w.calls.Newest(t.Context(), freeze.Record)
	require.NoError(t, err)
	require.Equal(t, boundaries.CallAnswered, newest.Status)
	require.NotNil(t, newest.EndedAt)
	require.NoError(t, w.calls.Ended(t.Context(), call.Key, 500, "server_error", "req_2", false), "a late note changes nothing")
	require.Equal(t, 200, w.count(`SELECT http_status FROM payonce.provider_calls`))
}

func TestTheEndOfASendIsItsAnswerOrItsTimeout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	freeze := w.freeze(w.prepared("order-1"), workflow)
	call := w.begin(freeze)
	require.Equal(t, call.LastSentAt.Add(time.Minute), call.LastSendEnd(time.Minute))
	require.NoError(t, w.calls.Ended(t.Context(), call.Key, 500, "cached_error", "req_1", true))
	newest, err := w.calls.Newest(t.Context(), freeze.Record)
	require.NoError(t, err)
	require.Equal(t, *newest.EndedAt, newest.LastSendEnd(time.Minute))
	require.Equal(t, "cached_error", newest.Code)
	require.True(t, newest.Replayed)
	again := w.begin(freeze)
	require.Nil(t, again.EndedAt, "a new send has not ended")
}
