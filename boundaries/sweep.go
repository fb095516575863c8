package boundaries

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/internal/timing"
)

// SweepBatch is how many keys one statement of the sweep touches at most.
const SweepBatch = 200

// Sweep ends the replay window of at most SweepBatch expired keys and returns how many it touched. It walks the expiry index up to a bound time and
// skips what is locked. A create's key goes whole: its reference names the record. Any other key keeps (caller key, hash, record) and loses its
// answer. What is in progress or unknown is put off, never touched.
func Sweep(ctx context.Context, pool *pgxpool.Pool, durations timing.Timing) (int, error) {
	var touched int
	err := pool.QueryRow(ctx, sweepKeys, SweepBatch, durations.ReplayWindow).Scan(&touched)
	if err != nil {
		return 0, fmt.Errorf("sweep keys: %w", err)
	}
	return touched, nil
}

const sweepKeys = `
	WITH due AS MATERIALIZED (
		SELECT k.tenant, k.operation, k.caller_key, r.status IN ('completed', 'failed') AS settled,
		       k.operation = 'create_payment' AS by_reference
		FROM payonce.idempotency_keys k JOIN payonce.idempotency_records r ON r.id = k.record
		WHERE k.expires_at < (SELECT payonce.clock())
		ORDER BY k.expires_at LIMIT $1
		FOR UPDATE OF k SKIP LOCKED),
	removed AS (
		DELETE FROM payonce.idempotency_keys k USING due d
		WHERE (k.tenant, k.operation, k.caller_key) = (d.tenant, d.operation, d.caller_key) AND d.settled AND d.by_reference
		RETURNING 1),
	stripped AS (
		UPDATE payonce.idempotency_keys k
		SET response_code = NULL, response_headers = NULL, response_body = NULL, expires_at = 'infinity'
		FROM due d
		WHERE (k.tenant, k.operation, k.caller_key) = (d.tenant, d.operation, d.caller_key) AND d.settled AND NOT d.by_reference
		RETURNING 1),
	put_off AS (
		UPDATE payonce.idempotency_keys k SET expires_at = payonce.clock() + $2::interval FROM due d
		WHERE (k.tenant, k.operation, k.caller_key) = (d.tenant, d.operation, d.caller_key) AND NOT d.settled
		RETURNING 1)
	SELECT (SELECT count(*) FROM removed) + (SELECT count(*) FROM stripped) + (SELECT count(*) FROM put_off)`
