package boundaries_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"payonce/boundaries"
	"payonce/payments"
)

// Owners of a lease.
const (
	workflow = "payout/1"
	stranger = "sync/1"
)

func (w *world) hold(attempt boundaries.Attempt, owner string) boundaries.Held {
	w.t.Helper()
	held, err := boundaries.ClaimRecord(w.t.Context(), w.system, attempt, owner, w.timing.Lease)
	require.NoError(w.t, err)
	return held
}

func (w *world) requireHeld(attempt boundaries.Attempt, owner string, fence int64) {
	w.t.Helper()
	held := w.hold(attempt, owner)
	require.Equal(w.t, boundaries.Acquired, held.Outcome)
	require.Equal(w.t, fence, held.Fence)
}

func (w *world) completeAs(record payments.RecordID, fence int64, external string) bool {
	w.t.Helper()
	done, err := boundaries.Complete(w.t.Context(), w.system, record, fence, external, 200, map[string]any{"id": external})
	require.NoError(w.t, err)
	return done
}

func (w *world) release(record payments.RecordID, fence int64) bool {
	w.t.Helper()
	done, err := boundaries.Release(w.t.Context(), w.system, record, fence)
	require.NoError(w.t, err)
	return done
}

// payout is an attempt whose record is claimed by an owner.
func (w *world) payout(reference string) boundaries.Attempt {
	return w.attempt(offer{Identity: reference, Amount: 1000})
}

func TestTheSameOwnerReentersAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for fence := range int64(3) {
		w.requireHeld(w.payout("week-1"), workflow, fence+1)
	}
}

func TestAStrangerTakesOverOnlyAfterTheLease(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	attempt := w.payout("week-1")
	first := w.hold(attempt, workflow)
	held := w.hold(attempt, stranger)
	require.Equal(t, boundaries.InProgress, held.Outcome)
	require.Positive(t, held.RetryAfter)
	require.LessOrEqual(t, held.RetryAfter, w.timing.Lease)

	w.advance(w.timing.Lease + time.Second)
	before := w.identityOf(first.Record)
	changed := attempt
	changed.IdempotencyKey, changed.ResourceID, changed.Command = uuid.New(), uuid.New(), []byte("other")
	w.requireHeld(changed, stranger, first.Fence+1)
	require.Equal(t, before, w.identityOf(first.Record), "it goes on with the same resource, key and command")
	require.Equal(t, boundaries.InProgress, w.hold(attempt, workflow).Outcome, "now the first owner is the stranger")
}

// identityOf is what no take-over may change.
func (w *world) identityOf(record payments.RecordID) string {
	w.t.Helper()
	return read[string](w, `SELECT concat_ws(' ', idempotency_key, resource_kind, resource_id, request_hash, command)
		FROM payonce.idempotency_records WHERE id = $1`, record.UUID)
}

func TestALateOwnerCanNeitherCompleteNorRelease(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	attempt := w.payout("week-1")
	late := w.hold(attempt, workflow)
	w.advance(w.timing.Lease + time.Second)
	taken := w.hold(attempt, stranger)
	require.False(t, w.completeAs(late.Record, late.Fence, "po_late"))
	require.False(t, w.release(late.Record, late.Fence))
	require.Equal(t, boundaries.InProgress, w.hold(attempt, workflow).Outcome, "the record is untouched")
	require.True(t, w.completeAs(taken.Record, taken.Fence, "po_1"))
	require.False(t, w.completeAs(late.Record, late.Fence, "po_late"))
	done := w.hold(attempt, workflow)
	require.Equal(t, boundaries.Replay, done.Outcome)
	require.Equal(t, map[string]any{"id": "po_1"}, done.Summary)
}

func TestAfterAReleaseAnybodyAcquiresWithAHigherFence(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	attempt := w.payout("week-1")
	first := w.hold(attempt, workflow)
	require.True(t, w.release(first.Record, first.Fence))
	require.Equal(t, boundaries.RecordFailed, read[boundaries.RecordStatus](w, `SELECT status FROM payonce.idempotency_records`), "the row stays")
	require.False(t, w.release(first.Record, first.Fence), "there is nothing to give back")
	require.False(t, w.completeAs(first.Record, first.Fence, "po_late"), "nor to complete")
	other := attempt
	other.Hash.Sum[0]++
	require.Equal(t, boundaries.Mismatch, w.hold(other, stranger).Outcome, "content is compared before status")

	w.requireHeld(attempt, stranger, first.Fence+1)
	require.False(t, w.completeAs(first.Record, first.Fence, "po_late"))
	require.True(t, w.completeAs(first.Record, first.Fence+1, "po_1"))
}

func TestWhatIsSettledOrUnknownIsNotReleased(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, status := range []boundaries.RecordStatus{boundaries.RecordCompleted, boundaries.RecordUnknown} {
		attempt := w.payout(string(status))
		held := w.hold(attempt, workflow)
		want := boundaries.Replay
		if status == boundaries.RecordCompleted {
			require.True(t, w.completeAs(held.Record, held.Fence, "po_1"))
		} else {
			w.exec(`UPDATE payonce.idempotency_records SET status = 'unknown' WHERE id = $1`, held.Record.UUID)
			want = boundaries.InProgress
		}
		require.False(t, w.release(held.Record, held.Fence), status)
		w.advance(w.timing.Lease + time.Second)
		for _, owner := range []string{workflow, stranger} {
			again := w.hold(attempt, owner)
			require.Equal(t, want, again.Outcome, "%s: nobody acts", status)
			require.Zero(t, again.Fence)
		}
	}
}

func TestALookUpCompletesAnUnknownRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	attempt := w.payout("week-1")
	held := w.hold(attempt, workflow)
	w.exec(`UPDATE payonce.idempotency_records SET status = 'unknown' WHERE id = $1`, held.Record.UUID)
	require.True(t, w.completeAs(held.Record, held.Fence, "po_1"))
	require.False(t, w.completeAs(held.Record, held.Fence, "po_2"), "an outcome is stored once")
	require.Equal(t, map[string]any{"id": "po_1"}, w.hold(attempt, workflow).Summary)
}

// A deploy may hash otherwise: contents of two versions cannot be compared, and must not wedge the record.
func TestAHashOfAnotherVersionIsNotCompared(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, reference := range []string{"open", "done"} {
		attempt := w.payout(reference)
		first := w.hold(attempt, workflow)
		if reference == "done" {
			require.True(t, w.completeAs(first.Record, first.Fence, "po_1"))
		}
		newer := attempt
		newer.Hash.Version, newer.Hash.Sum[0] = attempt.Hash.Version+1, attempt.Hash.Sum[0]+1
		if reference == "done" {
			require.Equal(t, boundaries.Replay, w.hold(newer, stranger).Outcome)
			continue
		}
		require.Equal(t, boundaries.InProgress, w.hold(newer, stranger).Outcome)
		w.requireHeld(newer, workflow, 2)
		w.advance(w.timing.Lease + time.Second)
		w.requireHeld(newer, stranger, 3)
	}
}

func TestOwnersAreIndependentOfEachOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 3 {
		w.requireHeld(w.payout(fmt.Sprintf("week-%d", i)), workflow, 1)
	}
	operation := w.payout("week-0")
	operation.Operation = payments.OperationRefund
	w.requireHeld(operation, stranger, 1)
	tenant := w.payout("week-0")
	tenant.Tenant = w.Tenants[1]
	w.requireHeld(tenant, stranger, 1)
}

// By hand a claim is given back only when its owner is gone and nothing was sent for it; what is unknown is not, nor what a workflow holds.
func TestAClaimIsReleasedByHandOnlyWhenNothingCanHaveHappened(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	refused := func(record payments.RecordID, why string) {
		t.Helper()
		var no *boundaries.NotReleasableError
		require.ErrorAs(t, boundaries.ReleaseByHand(t.Context(), w.system, record), &no)
		require.Contains(t, no.Why, why)
	}
	held := w.hold(w.payout("week-1"), stranger)
	refused(held.Record, "lease")
	w.advance(w.timing.Lease + time.Second)
	w.exec(`UPDATE payonce.idempotency_records SET status = 'unknown' WHERE id = $1`, held.Record.UUID)
	refused(held.Record, "unknown")
	w.exec(`UPDATE payonce.idempotency_records SET status = 'in_progress' WHERE id = $1`, held.Record.UUID)
	require.NoError(t, boundaries.ReleaseByHand(t.Context(), w.system, held.Record))
	refused(held.Record, "failed")
	w.requireHeld(w.payout("week-1"), workflow, held.Fence+1)
	refused(payments.RecordID{}, "no such record")
}
