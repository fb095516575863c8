package boundaries_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"payonce/boundaries"
	"payonce/payments"
)

func (w *world) sweep() int {
	w.t.Helper()
	touched, err := boundaries.Sweep(w.t.Context(), w.system, w.timing)
	require.NoError(w.t, err)
	return touched
}

func TestARepeatAfterTheWindowNeverExecutesAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	command := paid("order-1", 1000)
	first := w.claim("K", command)
	w.succeed("order-1", 1000)
	w.advance(w.timing.ReplayWindow - time.Minute)
	require.Zero(t, w.sweep(), "the window is not over")
	w.replay("K", command)
	w.advance(2 * time.Minute)

	for _, when := range []string{"before the sweep", "after the sweep", "after the key was attached again"} {
		if when == "after the sweep" {
			require.Equal(t, 1, w.sweep())
			require.Zero(t, w.count(`SELECT count(*) FROM payonce.idempotency_keys`))
			conflict := w.conflict("K", paid("order-1", 2000))
			require.Equal(t, boundaries.ConflictError{Code: boundaries.ConflictReference, Payment: first.Payment}, conflict)
		} else {
			require.Equal(t, boundaries.Mismatch, w.claim("K", paid("order-1", 2000)).Outcome, when)
		}
		repeat := w.claim("K", command)
		require.Equal(t, boundaries.Replay, repeat.Outcome, when)
		require.Nil(t, repeat.Answer, "the answer is gone: the resource is shown as it is now")
		require.Equal(t, first.Payment, repeat.Payment)
		require.Equal(t, 1, w.payments())
	}
	require.Empty(t, w.queue("order-1"), "nothing waits to be executed")
}

func TestTheSweepKeepsWhatIsOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	open, unknown := w.claim("K1", paid("open", 1000)), w.claim("K2", paid("unknown", 1000))
	w.exec(`UPDATE payonce.idempotency_records SET status = 'unknown' WHERE id = $1`, unknown.Record.UUID)
	w.advance(w.timing.ReplayWindow + time.Hour)
	require.Equal(t, 2, w.sweep(), "both are put off")
	require.Zero(t, w.sweep())
	require.Equal(t, 2, w.count(`SELECT count(*) FROM payonce.idempotency_keys WHERE expires_at > payonce.clock()`))
	require.Equal(t, boundaries.Mismatch, w.claim("K1", paid("open", 2000)).Outcome)
	require.Equal(t, boundaries.Mismatch, w.claim("K2", paid("unknown", 2000)).Outcome)
	require.Equal(t, open.Record, w.claim("K1", paid("open", 1000)).Record)
	w.succeed("open", 1000)
	w.replay("K1", paid("open", 1000))
}

// A key whose owner key is no business reference keeps its name for ever and loses its answer alone.
func TestTheSweepKeepsTheNameOfAConfirmsKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.claim("K", paid("order-1", 1000))
	w.succeed("order-1", 1000)
	w.exec(`INSERT INTO payonce.idempotency_keys (tenant, operation, caller_key, request_hash, request_hash_version, record,
			response_code, response_headers, response_body, created_at, expires_at)
		SELECT tenant, 'confirm_payment', 'C', request_hash, 1, id, 200, '{}', 'sealed', payonce.clock(), payonce.clock()
		FROM payonce.idempotency_records WHERE operation = 'confirm_payment'`)
	w.advance(time.Second)
	require.Equal(t, 1, w.sweep())
	require.Zero(t, w.sweep(), "it has left the range that is swept")
	require.Equal(t, 1, w.count(`SELECT count(*) FROM payonce.idempotency_keys k JOIN payonce.idempotency_records r ON r.id = k.record
		WHERE caller_key = 'C' AND k.request_hash = r.request_hash
		  AND k.response_code IS NULL AND response_headers IS NULL AND response_body IS NULL AND expires_at = 'infinity'`))
}

// A stripped key takes no answer back from a sibling that still has one: it would keep that for ever.
func TestAStrippedKeyStaysWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	command := paid("order-1", 1000)
	w.claim("K1", command)
	w.succeed("order-1", 1000)
	w.claim("K2", command)
	w.exec(`UPDATE payonce.idempotency_keys SET response_code = NULL, response_headers = NULL, response_body = NULL, expires_at = 'infinity'
		WHERE caller_key = 'K1'`)
	repeat := w.claim("K1", command)
	require.Equal(t, boundaries.Replay, repeat.Outcome)
	require.Nil(t, repeat.Answer)
	require.Equal(t, boundaries.Mismatch, w.claim("K1", paid("order-1", 2000)).Outcome)
	require.Equal(t, 1, w.count(`SELECT count(*) FROM payonce.idempotency_keys WHERE response_code IS NULL AND expires_at = 'infinity'`))
	w.replay("K2", command)
}

// A sweep may remove a key at any moment of a claim: the claim then finds the record by its reference. Every answer is true of a row that is there.
func TestASweepRacingWithClaimsExecutesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	same, other := paid("order-1", 1000), paid("order-1", 2000)
	first := w.claim("K", same)
	w.succeed("order-1", 1000)
	for range 40 {
		w.exec(`UPDATE payonce.idempotency_keys SET expires_at = payonce.clock() - interval '1 second'`)
		var race errgroup.Group
		for i := range 3 {
			race.Go(func() error {
				claim, err := w.create(t.Context(), 0, "K", same)
				if err == nil && (claim.Outcome != boundaries.Replay || claim.Record != first.Record) {
					err = fmt.Errorf("same content, claim %d: %s of %s", i, claim.Outcome, claim.Record)
				}
				return err
			})
		}
		race.Go(func() error { return refused(w.create(t.Context(), 0, "K", other)) })
		race.Go(func() error {
			_, err := boundaries.Sweep(t.Context(), w.system, w.timing)
			return err
		})
		require.NoError(t, race.Wait())
	}
	require.Equal(t, 1, w.payments())
	require.Empty(t, w.queue("order-1"))
}

// A sweep may free a key that another command takes: of two commands one acts, the other is told so.
func TestASweepRacingWithTwoCommandsForOneKeyLeavesOneOwner(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.claim("K", paid("order", 1000))
	w.succeed("order", 1000)
	for round := range 20 {
		w.exec(`UPDATE payonce.idempotency_keys SET expires_at = payonce.clock() - interval '1 second'`)
		commands := []payments.CreateCommand{paid(fmt.Sprintf("order-%d-a", round), 1000), paid(fmt.Sprintf("order-%d-b", round), 1000)}
		before := w.payments()
		var race errgroup.Group
		claims := make([]boundaries.Claim, len(commands))
		for i, command := range commands {
			race.Go(func() (err error) {
				claims[i], err = w.create(t.Context(), 0, "K", command)
				return err
			})
		}
		race.Go(func() error {
			_, err := boundaries.Sweep(t.Context(), w.system, w.timing)
			return err
		})
		require.NoError(t, race.Wait())
		acquired := 0
		for i, claim := range claims {
			if claim.Outcome == boundaries.Acquired {
				acquired++
				require.Equal(t, 1, w.count(`SELECT count(*) FROM payonce.idempotency_records WHERE id = $1 AND owner_key = $2`,
					claim.Record.UUID, commands[i].Reference+"#1"), "who may act has a record")
				w.succeed(commands[i].Reference, 1000)
			} else {
				require.Equal(t, boundaries.Mismatch, claim.Outcome)
			}
		}
		require.LessOrEqual(t, acquired, 1)
		require.Equal(t, before+acquired, w.payments(), "nobody executes without a record")
	}
}

// refused requires a mismatch, or the conflict that a swept key leaves.
func refused(claim boundaries.Claim, err error) error {
	var conflict *boundaries.ConflictError
	switch {
	case errors.As(err, &conflict) && conflict.Code == boundaries.ConflictReference:
		return nil
	case err == nil && claim.Outcome != boundaries.Mismatch:
		return fmt.Errorf("other content: %s", claim.Outcome)
	default:
		return err
	}
}

func TestTheSweepWalksTheExpiryIndex(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.claim("K", paid("order-1", 1000))
	w.exec(`INSERT INTO payonce.idempotency_keys (tenant, operation, caller_key, request_hash, request_hash_version, record, created_at, expires_at)
		SELECT tenant, operation, 'K' || n, request_hash, 1, record, created_at, created_at + n * interval '1 minute'
		FROM payonce.idempotency_keys, generate_series(1, 20000) n WHERE caller_key = 'K'`)
	w.exec(`ANALYZE payonce.idempotency_keys`)
	rows, err := w.system.Query(t.Context(), `EXPLAIN `+boundaries.SweepKeys, boundaries.SweepBatch, w.timing.ReplayWindow)
	require.NoError(t, err)
	plan := ""
	for rows.Next() {
		var line string
		require.NoError(t, rows.Scan(&line))
		plan += line + "\n"
	}
	require.NoError(t, rows.Err())
	require.Regexp(t, `Index Scan using idempotency_keys_expiry on idempotency_keys k.*\n\s+Index Cond: \(expires_at < \$`, plan)
	require.NotContains(t, plan, "Seq Scan on idempotency_keys")
}

func TestKnownEventsAreFoundByTheirIdentity(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.exec(`INSERT INTO payonce.provider_events (id, account, livemode, event_id, type, created, body, source, status, received_at, settled_at)
		SELECT gen_random_uuid(), 'acct_merchant', false, 'evt_' || n, 'charge.succeeded', now(), '', 'webhook', 'stale', now(), now()
		FROM generate_series(1, 20000) n`)
	w.exec(`ANALYZE payonce.provider_events`)
	rows, err := w.system.Query(t.Context(), `EXPLAIN `+boundaries.SelectKnownEvents, "acct_merchant", false, []string{"evt_1", "evt_2", "evt_0"})
	require.NoError(t, err)
	plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Regexp(t, `using provider_events_identity .*\n\s+Index Cond: \(\(provider = .*event_id = ANY`, strings.Join(plan, "\n"))
	known, err := boundaries.KnownEvents(t.Context(), w.system, payments.Account{ID: "acct_merchant"}, []string{"evt_1", "evt_2", "evt_0"})
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"evt_1", "evt_2"}, known)
}
