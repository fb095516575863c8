package boundaries

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"payonce/internal/paymentstore"
	"payonce/internal/postgres"
	"payonce/payments"
)

// further is a command on a payment that exists: what names it and what rules it out.
type further struct {
	payment   payments.PaymentID
	operation payments.Operation
	judge     func(at standing, normalised Normalised) error
	owner     func(payment payments.PaymentID, n int) OwnerKey
	deadline  *time.Duration // not_after; nil: none
}

// standing is what the payment and its commands are, under the payment's lock.
type standing struct {
	payment payments.PaymentID
	status  payments.Status
	ending  bool // it is to end without money
	n       int  // of the command's owner key
	held    *heldRecord
}

// heldRecord is the record that the owner key has already.
type heldRecord struct {
	hash    []byte
	version int16
	status  RecordStatus
}

func (h heldRecord) differs(normalised Normalised) bool {
	return h.version == normalised.Hash.Version && string(h.hash) != string(normalised.Hash.Sum[:])
}

// claimFurther claims a command on a payment that exists for a caller's key, or says what the key names.
func (c *Commands) claimFurther(ctx context.Context, asking Asking, f further) (Claim, error) {
	claim := Claim{Tenant: asking.Tenant, Operation: f.operation, Payment: f.payment}
	return c.claim(ctx, claim, asking, payments.RecordID{}, func(bool) (*Claim, error) {
		return c.insertFurther(ctx, claim, asking, f)
	})
}

// insertFurther decides under the payment's lock, then inserts the key and, unless the owner key has a record already, the record with the payment's
// next number. It returns nil when the key exists after all.
func (c *Commands) insertFurther(ctx context.Context, claim Claim, asking Asking, f further) (*Claim, error) {
	var claimed *Claim
	err := postgres.InTransaction(ctx, c.pool, func(tx pgx.Tx) error {
		claimed = nil
		at, err := lockStanding(ctx, tx, asking.Tenant, f)
		if err != nil {
			return err
		}
		if err := f.judge(at, asking.Normalised); err != nil {
			return err
		}
		claim := claim
		claim.Record = RecordID(asking.Tenant, f.operation, f.owner(f.payment, at.n))
		inserted, err := c.insertFurtherRows(ctx, tx, claim, asking, f, at)
		switch {
		case err != nil:
			return err
		case !inserted:
			return nil
		case at.held == nil:
			claim.Outcome, claim.Over = Acquired, at.status.Terminal()
		case at.held.status == RecordCompleted:
			claim.Outcome = Replay
		default:
			claim.Outcome, claim.Over = Acquired, at.status.Terminal()
		}
		if at.held != nil {
			c.repeats.Count(claim.Record)
		}
		claimed = &claim
		return nil
	})
	return claimed, err
}

// lockStanding locks the payment's row, before the transaction's first write, and reads where its commands stand: in a statement of its own, since
// what was committed while the lock was waited for is invisible to the one that waited.
func lockStanding(ctx context.Context, tx pgx.Tx, tenant payments.TenantID, f further) (standing, error) {
	at := standing{payment: f.payment}
	held := heldRecord{}
	var status *RecordStatus
	var version *int16
	err := postgres.ForTenant(ctx, tx, tenant.UUID, func(batch *pgx.Batch) {
		batch.Queue(`SELECT status, failure IS NOT NULL FROM payonce.payments WHERE id = $1 AND tenant = $2 FOR NO KEY UPDATE`,
			f.payment.UUID, tenant.UUID).QueryRow(func(row pgx.Row) error { return row.Scan(&at.status, &at.ending) })
		// Settled confirms and refused cancels are behind us; the next number is the open command's, or free.
		batch.Queue(`
			WITH commands AS (
				SELECT number, request_hash, request_hash_version, status,
				       status = 'completed' AND ($2 <> $3 OR response_code = 409) AS settled
				FROM payonce.idempotency_records WHERE payment = $1 AND operation = $2)
			SELECT settled.n + 1, held.request_hash, held.request_hash_version, held.status
			FROM (SELECT count(*)::int AS n FROM commands WHERE settled) settled
			LEFT JOIN LATERAL (SELECT * FROM commands c WHERE NOT c.settled ORDER BY number LIMIT 1) held ON true`,
			f.payment.UUID, f.operation, payments.OperationCancel,
		).QueryRow(func(row pgx.Row) error { return row.Scan(&at.n, &held.hash, &version, &status) })
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return standing{}, paymentstore.ErrNotFound
	}
	if err != nil {
		return standing{}, fmt.Errorf("lock payment %s: %w", f.payment, err)
	}
	if status != nil {
		held.version, held.status = *version, *status
		at.held = &held
	}
	return at, nil
}

// insertFurtherRows inserts the key, and the record where there is none; false when the key is there already.
func (c *Commands) insertFurtherRows(ctx context.Context, tx pgx.Tx, claim Claim, asking Asking, f further, at standing) (inserted bool, err error) {
	sealed, err := c.sealer.Seal(ColumnCommand, asking.Normalised.JSON)
	if err != nil {
		return false, err
	}
	owner := f.owner(f.payment, at.n)
	err = postgres.ForTenant(ctx, tx, asking.Tenant.UUID, func(batch *pgx.Batch) {
		batch.Queue(claimFurther,
			asking.Tenant.UUID, f.operation, string(asking.Key), asking.Normalised.Hash.Sum[:], asking.Normalised.Hash.Version, // 1-5
			claim.Record.UUID, string(owner), paymentCallKey(asking.Tenant, f.payment, f.operation, at.n), sealed, f.payment.UUID, // 6-10
			at.held == nil, c.timing.ReplayWindow, f.deadline, asking.AttendedFor, c.timing.WakeAfter, // 11-15
		).QueryRow(func(row pgx.Row) error { return row.Scan(&inserted) })
	})
	if err != nil {
		return false, fmt.Errorf("claim %s: %w", f.operation, err)
	}
	return inserted, nil
}

// claimFurther also takes the payment off the list of what is given up when nobody moves it: a command moves it.
const claimFurther = `
	WITH at AS MATERIALIZED (SELECT payonce.clock() AS now),
	key AS (
		INSERT INTO payonce.idempotency_keys
			(tenant, operation, caller_key, request_hash, request_hash_version, record, created_at, expires_at)
		SELECT $1, $2, $3, $4, $5, $6, now, now + $12::interval FROM at
		ON CONFLICT DO NOTHING RETURNING record),
	numbered AS (
		UPDATE payonce.payments p SET last_command = last_command + 1, abandon_at = NULL
		FROM key WHERE p.id = $10 AND $11 RETURNING p.last_command),
	record AS (
		INSERT INTO payonce.idempotency_records
			(id, tenant, operation, owner_key, idempotency_key, request_hash, request_hash_version, command, status,
			 resource_kind, resource_id, payment, number, not_after, attended_until, asked_by, next_wake_at, created_at)
		SELECT $6, $1, $2, $7, $8, $4, $5, $9, 'in_progress',
			'payment', $10, $10, last_command, now + $13::interval, now + $14::interval, 'caller', now + $15::interval, now
		FROM at, numbered)
	SELECT EXISTS (SELECT FROM key)`
