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
	names     func(ctx context.Context, tx pgx.Tx, at *standing) error // fills in what the command would be named
	judge     func(at standing, normalised Normalised) error
	insert    func(ctx context.Context, tx pgx.Tx, claim Claim, at standing) error // beside a new record; nil: nothing
	deadline  *time.Duration                                                       // not_after; nil: none
}

// standing is what the payment and its commands are, under the payment's lock.
type standing struct {
	tenant       payments.TenantID
	payment      payments.PaymentID
	status       payments.Status
	ending       bool           // it is to end without money
	money        payments.Money // what it is for
	capturable   int64
	captured     int64
	multicapture bool

	operation payments.Operation // of the record; another than the caller's where one command is as good as another
	instead   *Normalised        // that other command
	owner     OwnerKey
	call      ProviderKey // of generation 0
	resource  string      // kind of what the command makes or is about
	held      *heldRecord // the record that the owner key has already
	open      bool        // a command that this one waits for, or contradicts, is open under another owner key

	refundable                    int64                  // what may still be given back; only for refunds
	takenBack                     []payments.Destination // by the refunds that stand, of a payment with destinations; only for refunds
	regained                      *int64                 // of a refund that the database had lost and Stripe brought back: it is made, and is not made again
	shares                        payments.Shares        // among the payment's destinations; only for refunds
	capturedBefore, capturedAfter *int64                 // of a capture: the total before it, and after it unless it takes all that is held
}

// named gives the command the owner key of the payment's n-th of its operation, which acts on the payment itself.
func (at *standing) named(operation payments.Operation, owner OwnerKey, n int) {
	at.owner, at.resource = owner, ResourcePayment
	at.call = ProviderKey{Tenant: at.tenant, ResourceKind: ResourcePayment, ResourceID: at.payment.UUID, Operation: operation, Attempt: n}
}

// makes gives the command an owner key that names what it makes.
func (at *standing) makes(kind string, operation payments.Operation, owner OwnerKey) {
	at.owner, at.resource = owner, kind
	at.call = ProviderKey{Tenant: at.tenant, ResourceKind: kind, ResourceID: ResourceID(at.tenant, operation, owner), Operation: operation, Attempt: 1}
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
		claim.Record = RecordID(asking.Tenant, at.operation, at.owner)
		inserted, err := c.insertFurtherRows(ctx, tx, claim, asking, f, at)
		if err == nil && inserted && at.held == nil && f.insert != nil {
			err = f.insert(ctx, tx, claim, at)
		}
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
	at := standing{tenant: tenant, payment: f.payment, operation: f.operation}
	err := postgres.ForTenant(ctx, tx, tenant.UUID, func(batch *pgx.Batch) {
		batch.Queue(`
			SELECT status, failure IS NOT NULL, amount, currency, amount_capturable, amount_captured, multicapture
			FROM payonce.payments WHERE id = $1 AND tenant = $2 FOR NO KEY UPDATE`,
			f.payment.UUID, tenant.UUID).QueryRow(func(row pgx.Row) error {
			return row.Scan(&at.status, &at.ending, &at.money.Amount, &at.money.Currency, &at.capturable, &at.captured, &at.multicapture)
		})
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return standing{}, paymentstore.ErrNotFound
	}
	if err == nil {
		err = f.names(ctx, tx, &at)
	}
	if err != nil {
		return standing{}, fmt.Errorf("lock payment %s: %w", f.payment, err)
	}
	return at, nil
}

// numbered names a command that can be asked for again once the one before it is behind it: a settled confirm, a refused cancel. The next number is
// the open command's, or free.
func numbered(operation payments.Operation, owner func(payments.PaymentID, int) OwnerKey) func(context.Context, pgx.Tx, *standing) error {
	return func(ctx context.Context, tx pgx.Tx, at *standing) error {
		var n int
		var held heldRecord
		var status *RecordStatus
		var version *int16
		err := tx.QueryRow(ctx, `
			WITH commands AS (
				SELECT number, request_hash, request_hash_version, status,
				       status = 'completed' AND ($2 <> $3 OR response_code = 409) AS settled
				FROM payonce.idempotency_records WHERE payment = $1 AND operation = $2)
			SELECT settled.n + 1, held.request_hash, held.request_hash_version, held.status
			FROM (SELECT count(*)::int AS n FROM commands WHERE settled) settled
			LEFT JOIN LATERAL (
				SELECT c.request_hash, c.request_hash_version, c.status FROM commands c WHERE NOT c.settled ORDER BY c.number LIMIT 1) held ON true`,
			at.payment.UUID, operation, payments.OperationCancel).Scan(&n, &held.hash, &version, &status)
		if err != nil {
			return fmt.Errorf("read commands: %w", err)
		}
		if status != nil {
			held.version, held.status = *version, *status
			at.held = &held
		}
		at.named(operation, owner(at.payment, n), n)
		return nil
	}
}

// insertFurtherRows inserts the key, and the record where there is none; false when the key is there already.
func (c *Commands) insertFurtherRows(ctx context.Context, tx pgx.Tx, claim Claim, asking Asking, f further, at standing) (inserted bool, err error) {
	command := asking.Normalised
	if at.instead != nil {
		command = *at.instead
	}
	sealed, err := c.sealer.Seal(ColumnCommand, command.JSON)
	if err != nil {
		return false, err
	}
	err = postgres.ForTenant(ctx, tx, asking.Tenant.UUID, func(batch *pgx.Batch) {
		batch.Queue(claimFurther,
			asking.Tenant.UUID, f.operation, string(asking.Key), asking.Normalised.Hash.Sum[:], asking.Normalised.Hash.Version, // 1-5
			claim.Record.UUID, string(at.owner), at.call.IdempotencyKey(), sealed, f.payment.UUID, // 6-10
			at.held == nil, c.timing.ReplayWindow, f.deadline, asking.AttendedFor, c.timing.WakeAfter, // 11-15
			at.resource, at.call.ResourceID, at.capturedBefore, at.capturedAfter, // 16-19
			at.operation, command.Hash.Sum[:], command.Hash.Version, // 20-22
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
			 resource_kind, resource_id, payment, number, not_after, attended_until, asked_by, next_wake_at, created_at, captured_before,
			 captured_after)
		SELECT $6, $1, $20, $7, $8, $21, $22, $9, 'in_progress',
			$16, $17, $10, last_command, now + $13::interval, now + $14::interval, 'caller', now + $15::interval, now, $18, $19
		FROM at, numbered)
	SELECT EXISTS (SELECT FROM key)`
