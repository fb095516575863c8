package boundaries_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"payonce/boundaries"
	"payonce/payments"
)

// claim claims a create of the first tenant.
func (w *world) claim(key string, command payments.CreateCommand) boundaries.Claim {
	w.t.Helper()
	claim, err := w.create(w.t.Context(), 0, boundaries.CallerKey(key), command)
	require.NoError(w.t, err)
	return claim
}

// conflict claims a create that must be refused.
func (w *world) conflict(key string, command payments.CreateCommand) boundaries.ConflictError {
	w.t.Helper()
	_, err := w.create(w.t.Context(), 0, boundaries.CallerKey(key), command)
	var conflict *boundaries.ConflictError
	require.ErrorAs(w.t, err, &conflict)
	return *conflict
}

func (w *world) payments() int {
	w.t.Helper()
	return w.count(`SELECT count(*) FROM payonce.payments`)
}

func TestOneCallerKeyForTwoReferencesIsAMismatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.claim("K", paid("order-1", 1000))
	for _, when := range []string{"in progress", "completed"} {
		second := w.claim("K", paid("order-2", 1000))
		require.Equal(t, boundaries.Mismatch, second.Outcome, when)
		require.Equal(t, first.Payment, second.Payment, "it names what the key stands for")
		w.succeed("order-1", 1000)
	}
	require.Equal(t, 1, w.payments())
	require.Equal(t, boundaries.Acquired, w.claim("K2", paid("order-2", 1000)).Outcome, "the other order can be had with its own key")
}

func TestTwoCallerKeysOfOneReferenceAreOnePayment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, second := w.claim("K1", paid("order-1", 1000)), w.claim("K2", paid("order-1", 1000))
	require.Equal(t, boundaries.Acquired, second.Outcome, "it waits like the first")
	require.Equal(t, first.Payment, second.Payment)
	require.Equal(t, first.Record, second.Record)
	require.Equal(t, 1, w.payments())
	w.succeed("order-1", 1000)
	require.Equal(t, w.replay("K1", paid("order-1", 1000)), w.replay("K2", paid("order-1", 1000)))
}

func TestOtherContentForOneReferenceIsRefusedAndBurnsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.claim("K1", paid("order-1", 1000))
	for _, when := range []string{"in progress", "completed"} {
		conflict := w.conflict("K2", paid("order-1", 2000))
		require.Equal(t, boundaries.ConflictError{Code: boundaries.ConflictReference, Payment: first.Payment}, conflict, when)
		w.succeed("order-1", 1000)
	}
	require.Equal(t, boundaries.Acquired, w.claim("K2", paid("order-2", 2000)).Outcome, "the refused key is free")
	require.Equal(t, 2, w.payments())
}

func TestFreshKeysRacingForOneReferenceAreOnePayment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var race errgroup.Group
	claims := make([]boundaries.Claim, 2*connections)
	for i := range claims {
		race.Go(func() (err error) {
			claims[i], err = w.create(t.Context(), 0, boundaries.CallerKey(fmt.Sprintf("K%d", i)), paid("order-1", 1000))
			return err
		})
	}
	require.NoError(t, race.Wait())
	for _, claim := range claims {
		require.Equal(t, boundaries.Acquired, claim.Outcome)
		require.Equal(t, claims[0].Record, claim.Record)
	}
	require.Equal(t, 1, w.payments())
	require.Equal(t, len(claims), w.count(`SELECT count(*) FROM payonce.idempotency_keys WHERE record = $1`, claims[0].Record.UUID))
}

func TestTheSameKeyInAnotherTenantIsIndependent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.claim("1", paid("order-1", 1000))
	w.succeed("order-1", 1000)
	for key, amount := range map[boundaries.CallerKey]int64{"1": 1000, "2": 1000} {
		other, err := w.create(t.Context(), 1, key, paid("order-1", amount))
		require.NoError(t, err)
		require.Equal(t, boundaries.Acquired, other.Outcome, "key %s", key)
		require.Nil(t, other.Answer)
		require.NotEqual(t, first.Payment, other.Payment)
		require.NotEqual(t, first.Record, other.Record)
	}
	other, err := w.create(t.Context(), 1, "3", paid("order-2", 2000))
	require.NoError(t, err)
	require.Equal(t, boundaries.Acquired, other.Outcome)
	require.Equal(t, w.Tenants[1].UUID, read[uuid.UUID](w, `SELECT tenant FROM payonce.payments WHERE id = $1`, other.Payment.UUID))
}

func TestTheSameKeyInAnotherOperationIsIndependent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.claim("K0", paid("order-1", 1000))
	confirm := boundaries.RecordID(w.Tenants[0], payments.OperationConfirm, boundaries.ConfirmOwnerKey(w.payment(offer{Identity: "order-1"}), 1))
	w.exec(`INSERT INTO payonce.idempotency_keys (tenant, operation, caller_key, request_hash, request_hash_version, record, created_at, expires_at)
		VALUES ($1, 'confirm_payment', 'K', sha256('other'), 1, $2, payonce.clock(), payonce.clock() + interval '1 day')`,
		w.Tenants[0].UUID, confirm.UUID)
	claim := w.claim("K", paid("order-2", 1000))
	require.Equal(t, boundaries.Acquired, claim.Outcome)
	require.NotEqual(t, confirm, claim.Record)
}

func TestAClaimIsWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.claim("K1", paid("order-1", 1000))
	command := paid("order-2", 1000)
	command.PaymentMethod = nil
	w.claim("K2", command)
	require.Equal(t, "create_payment 1 confirm_payment 2", w.queue("order-1"), "a method brings the first confirm with it")
	require.Equal(t, "create_payment 1", w.queue("order-2"))
	require.Zero(t, w.count(`SELECT count(*) FROM payonce.idempotency_records
		WHERE operation = 'create_payment' AND (next_wake_at IS NULL OR attended_until IS NULL)`), "the relay finds what nobody wakes")
	require.Zero(t, w.count(`SELECT count(*) FROM payonce.idempotency_records WHERE not_after IS NULL`))
}

// queue is a payment's open commands in their order.
func (w *world) queue(reference string) string {
	w.t.Helper()
	return read[string](w, `SELECT coalesce(string_agg(operation || ' ' || number, ' ' ORDER BY number), '') FROM payonce.idempotency_records
		WHERE payment = $1 AND status = 'in_progress'`, w.payment(offer{Identity: reference}).UUID)
}

func TestWhileACallerIsAttendedARepeatIsToldToComeBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.claim("K", paid("order-1", 1000))
	repeat := w.claim("K", paid("order-1", 1000))
	require.Equal(t, boundaries.InProgress, repeat.Outcome)
	require.Positive(t, repeat.RetryAfter)
	require.Equal(t, first.Payment, repeat.Payment, "the answer names the payment")

	require.NoError(t, w.commands.Leave(t.Context(), first))
	require.Equal(t, boundaries.Acquired, w.claim("K", paid("order-1", 1000)).Outcome, "who was sent away is replaced")
	require.Equal(t, boundaries.InProgress, w.claim("K", paid("order-1", 1000)).Outcome, "and that one is attended")

	w.advance(attended + time.Second)
	require.Equal(t, boundaries.Acquired, w.claim("K", paid("order-1", 1000)).Outcome, "attendance ends by itself when its process dies")
	require.Equal(t, 1, w.payments())
}

// All callers have read that nobody is attended when the first of them takes the place.
func TestOfManyRepeatsAtOnceOneTakesThePlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.claim("K", paid("order-1", 1000))
	require.NoError(t, w.commands.Leave(t.Context(), first))
	gate, err := w.owner.Begin(t.Context())
	require.NoError(t, err)
	defer gate.Rollback(context.Background())
	_, err = gate.Exec(t.Context(), `SELECT FROM payonce.idempotency_records WHERE id = $1 FOR UPDATE`, first.Record.UUID)
	require.NoError(t, err)
	var race errgroup.Group
	outcomes := make([]boundaries.Outcome, connections)
	for i := range outcomes {
		race.Go(func() error {
			claim, err := w.create(t.Context(), 0, "K", paid("order-1", 1000))
			outcomes[i] = claim.Outcome
			return err
		})
	}
	w.awaitWaiting(len(outcomes))
	require.NoError(t, gate.Rollback(t.Context()))
	require.NoError(t, race.Wait())
	taken := 0
	for _, outcome := range outcomes {
		if outcome == boundaries.Acquired {
			taken++
		} else {
			require.Equal(t, boundaries.InProgress, outcome)
		}
	}
	require.Equal(t, 1, taken)
}

func TestAReferenceIsTriedAgainOnlyAfterItEndedWithoutMoney(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	next := func(reference string, replaces payments.PaymentID) payments.CreateCommand {
		command := paid(reference, 1000)
		command.Replaces = &replaces
		return command
	}
	open := w.claim("K1", paid("open", 1000)).Payment
	conflict := w.conflict("K1b", next("open", open))
	require.Equal(t, boundaries.ConflictError{Code: boundaries.ConflictReference, Payment: open}, conflict)

	done := w.claim("K2", paid("done", 1000)).Payment
	w.succeed("done", 1000)
	conflict = w.conflict("K2b", next("done", done))
	require.Equal(t, boundaries.ConflictError{Code: boundaries.ConflictReferenceEnded, Payment: done}, conflict)

	unknown := boundaries.ConflictError{Code: boundaries.ConflictReplacesUnknown}
	require.Equal(t, unknown, w.conflict("K3", next("done", payments.PaymentID{UUID: uuid.New()})), "no such payment")
	require.Equal(t, unknown, w.conflict("K3", next("other", done)), "a payment of another reference")
	foreign, err := w.create(t.Context(), 1, "K3", paid("done", 1000))
	require.NoError(t, err)
	require.Equal(t, unknown, w.conflict("K3", next("done", foreign.Payment)), "another tenant's payment")

	for ending, end := range map[payments.Status]func(string){
		payments.StatusFailed: w.refuse, payments.StatusExpired: w.expire, payments.StatusCanceled: w.cancel,
	} {
		reference := string(ending)
		first := w.claim("first "+reference, paid(reference, 1000))
		end(reference)
		require.Equal(t, ending, w.status(first.Payment))
		second := w.claim("second "+reference, next(reference, first.Payment))
		require.Equal(t, boundaries.Acquired, second.Outcome, reference)
		require.Equal(t, boundaries.PaymentID(w.Tenants[0], reference, 2), second.Payment)
		again := w.claim("third "+reference, next(reference, first.Payment))
		require.Equal(t, second.Record, again.Record, "a fresh key for the same attempt attaches")
		require.Equal(t, boundaries.Replay, w.claim("first "+reference, paid(reference, 1000)).Outcome, "the first attempt keeps its answer")
	}
}

// A claim that met a key just as it was being made reads it again: the insert decides, never the read.
func TestAKeyThatAppearsBetweenReadAndInsertIsMet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.claim("K0", paid("order-0", 1000))
	gate, err := w.owner.Begin(t.Context())
	require.NoError(t, err)
	defer gate.Rollback(context.Background())
	_, err = gate.Exec(t.Context(), `LOCK TABLE payonce.idempotency_keys IN SHARE MODE`)
	require.NoError(t, err)
	var late errgroup.Group
	var claim boundaries.Claim
	late.Go(func() (err error) {
		claim, err = w.create(t.Context(), 0, "K", paid("order-1", 1000))
		return err
	})
	w.awaitWaiting(1)
	_, err = gate.Exec(t.Context(), `INSERT INTO payonce.idempotency_keys
			(tenant, operation, caller_key, request_hash, request_hash_version, record, created_at, expires_at)
		SELECT tenant, operation, 'K', request_hash, request_hash_version, record, created_at, expires_at
		FROM payonce.idempotency_keys WHERE caller_key = 'K0'`)
	require.NoError(t, err)
	require.NoError(t, gate.Commit(t.Context()))
	require.NoError(t, late.Wait())
	require.Equal(t, boundaries.Mismatch, claim.Outcome)
	require.Equal(t, 1, w.payments())
}

func TestAnEndedWaitIsNoAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	claim := w.claim("K", paid("order-1", 1000))
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the caller hung up"))
	answer, err := w.commands.Await(ended, claim, nothing)
	require.NoError(t, err)
	require.Nil(t, answer)
}
