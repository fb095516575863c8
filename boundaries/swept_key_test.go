package boundaries_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"payonce/boundaries"
)

// conflictedKey is what a claim finds when it reads the key that its insert has met: what the sweep and a third caller left meanwhile.
type conflictedKey struct {
	swept  string // what happens to the key between the two
	claims func(t *testing.T, w *world, claim boundaries.Claim)
}

// A claim's insert meets a key, and before the claim can read it the sweep removes it: the claim begins again, and its answer is the true one of the
// row that is there then. Nobody executes without a row, and nobody is told of one that is gone.
func TestAKeyThatIsSweptBetweenInsertAndReadIsClaimedAgain(t *testing.T) {
	const removed = `DELETE FROM payonce.idempotency_keys WHERE caller_key = 'K'`
	for name, met := range map[string]conflictedKey{
		"the key is free": {removed, func(t *testing.T, w *world, claim boundaries.Claim) {
			t.Helper()
			require.Equal(t, boundaries.Acquired, claim.Outcome)
			require.Equal(t, 1, w.count(`SELECT count(*) FROM payonce.idempotency_keys WHERE caller_key = 'K' AND record = $1`, claim.Record.UUID))
			require.Equal(t, 1, w.count(`SELECT count(*) FROM payonce.payments WHERE id = $1`, claim.Payment.UUID))
		}},
		"a third caller took it for another order": {removed + ` OR caller_key = 'K2';
			UPDATE payonce.idempotency_keys SET caller_key = 'K' WHERE caller_key = 'K3'`, func(t *testing.T, w *world, claim boundaries.Claim) {
			t.Helper()
			require.Equal(t, boundaries.Mismatch, claim.Outcome)
			require.Equal(t, boundaries.PaymentID(w.Tenants[0], "order-3", 1), claim.Payment)
			require.Zero(t, w.count(`SELECT count(*) FROM payonce.payments WHERE reference = 'order-1'`))
		}},
		"a third caller took it for the same order": {removed + `;
			UPDATE payonce.idempotency_keys SET caller_key = 'K' WHERE caller_key = 'K1'`, func(t *testing.T, w *world, claim boundaries.Claim) {
			t.Helper()
			require.Equal(t, boundaries.InProgress, claim.Outcome, "it is attended")
			require.Equal(t, boundaries.PaymentID(w.Tenants[0], "order-1", 1), claim.Payment)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if name == "a third caller took it for the same order" {
				w.claim("K1", paid("order-1", 1000))
			}
			w.claim("K3", paid("order-3", 1000))
			met.claims(t, w, w.claimAcrossASweep(met.swept))
		})
	}
}

// claimAcrossASweep claims K for order-1, where K is inserted under its insert's nose, and changes the keys before the claim reads what it has met.
func (w *world) claimAcrossASweep(sweep string) boundaries.Claim {
	w.t.Helper()
	inserting := w.transaction()
	_, err := inserting.Exec(w.t.Context(), `INSERT INTO payonce.idempotency_keys
			(tenant, operation, caller_key, request_hash, request_hash_version, record, created_at, expires_at)
		SELECT tenant, operation, 'K', request_hash, request_hash_version, record, created_at, created_at FROM payonce.idempotency_keys WHERE caller_key = 'K3'`)
	require.NoError(w.t, err)
	var claim boundaries.Claim
	var claiming errgroup.Group
	claiming.Go(func() (err error) {
		claim, err = w.create(w.t.Context(), 0, "K", paid("order-1", 1000))
		return err
	})
	w.awaitWaiting(1) // its insert waits for ours
	sweeping := w.transaction()
	var swept errgroup.Group
	swept.Go(func() error {
		// In line before the claim's read, since it was waiting for the claim's insert.
		if _, err := sweeping.Exec(w.t.Context(), `LOCK TABLE payonce.idempotency_keys IN ACCESS EXCLUSIVE MODE`); err != nil {
			return err
		}
		if _, err := sweeping.Exec(w.t.Context(), sweep); err != nil {
			return err
		}
		return sweeping.Commit(w.t.Context())
	})
	w.awaitWaiting(2)
	require.NoError(w.t, inserting.Commit(w.t.Context()))
	require.NoError(w.t, swept.Wait())
	require.NoError(w.t, claiming.Wait())
	return claim
}

func (w *world) transaction() pgx.Tx {
	w.t.Helper()
	tx, err := w.owner.Begin(w.t.Context())
	require.NoError(w.t, err)
	w.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = tx.Rollback(ctx)
	})
	return tx
}
