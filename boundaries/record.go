package boundaries

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"payonce/payments"
)

// RecordStatus is where an idempotency record stands.
type RecordStatus string

// The statuses of a record.
const (
	RecordInProgress RecordStatus = "in_progress"
	RecordCompleted  RecordStatus = "completed" // also with a decline
	RecordFailed     RecordStatus = "failed"    // released: the next claim is acquired with a higher fence
	RecordUnknown    RecordStatus = "unknown"   // only a look-up or a person moves it
)

// Kinds of resource that a record or a call can be about.
const (
	ResourcePayment = "payment"
	ResourceCapture = "capture"
	ResourceRefund  = "refund"
	ResourcePayout  = "payout"

	ResourceCustomer         = string(payments.ProvisionCustomer)
	ResourceConnectedAccount = string(payments.ProvisionConnectedAccount)
	ResourceWallet           = string(payments.ProvisionWallet)
)

// Database is a pool, a connection or a transaction.
type Database interface {
	Exec(ctx context.Context, sql string, arguments ...any) (pgconn.CommandTag, error)
	QueryRow(ctx context.Context, sql string, arguments ...any) pgx.Row
}

// Attempt identifies what a record protects, with the content that must not differ.
type Attempt struct {
	Tenant         payments.TenantID
	Operation      payments.Operation
	Owner          OwnerKey
	IdempotencyKey uuid.UUID
	ResourceKind   string
	ResourceID     uuid.UUID
	Hash           RequestHash
	Command        []byte // sealed
}

// Held is what a claim on a record got.
type Held struct {
	Outcome    Outcome
	Record     payments.RecordID
	Fence      int64         // with Acquired: needed to complete or release
	RetryAfter time.Duration // with InProgress
	Summary    map[string]any
}

// ClaimRecord claims a record for an owner that acts outside the database within the lease: the insert decides. The same owner re-enters at once
// with the next fence; a stranger takes over after the lease; a released record is acquired again; content is compared before status, with
// content of the same hash version.
func ClaimRecord(ctx context.Context, db Database, attempt Attempt, owner string, lease time.Duration) (Held, error) {
	held := Held{Record: RecordID(attempt.Tenant, attempt.Operation, attempt.Owner)}
	for range maxClaimTries {
		for _, claim := range []func(context.Context, Database, Attempt, string, time.Duration, *Held) error{insertRecord, takeRecord} {
			err := claim(ctx, db, attempt, owner, lease, &held)
			if err == nil {
				held.Outcome = Acquired
				return held, nil
			}
			if !errors.Is(err, pgx.ErrNoRows) {
				return Held{}, fmt.Errorf("claim record: %w", err)
			}
		}
		if decided, err := heldByOther(ctx, db, attempt, &held); err != nil || decided {
			return held, err
		}
	}
	return Held{}, errors.New("the record changed hands too often: try again")
}

// insertRecord claims a record that is not there, or returns pgx.ErrNoRows. Its conflict names no index: the record's id and its identity are two
// unique indexes of one thing, and a racing insert may meet either first.
func insertRecord(ctx context.Context, db Database, attempt Attempt, owner string, lease time.Duration, held *Held) error {
	return db.QueryRow(ctx, `
		INSERT INTO payonce.idempotency_records
			(id, tenant, operation, owner_key, idempotency_key, request_hash, request_hash_version, command, status,
			 resource_kind, resource_id, fence, lease_owner, lease_until, asked_by, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'in_progress', $9, $10, 1, $11, payonce.clock() + $12::interval, 'caller', payonce.clock())
		ON CONFLICT DO NOTHING
		RETURNING fence`,
		held.Record.UUID, attempt.Tenant.UUID, attempt.Operation, string(attempt.Owner), attempt.IdempotencyKey,
		attempt.Hash.Sum[:], attempt.Hash.Version, attempt.Command, attempt.ResourceKind, attempt.ResourceID,
		owner, lease).Scan(&held.Fence)
}

// takeRecord re-enters, takes over or acquires again a record that is there, or returns pgx.ErrNoRows.
func takeRecord(ctx context.Context, db Database, attempt Attempt, owner string, lease time.Duration, held *Held) error {
	return db.QueryRow(ctx, `
		UPDATE payonce.idempotency_records
		SET fence = fence + 1, lease_owner = $4, lease_until = payonce.clock() + $5::interval, status = 'in_progress', completed_at = NULL
		WHERE id = $1 AND (request_hash_version <> $3 OR request_hash = $2) AND (
			status = 'failed' OR status = 'in_progress' AND
			(lease_owner IS NULL OR lease_owner = $4 OR lease_until < payonce.clock()))
		RETURNING fence`,
		held.Record.UUID, attempt.Hash.Sum[:], attempt.Hash.Version, owner, lease).Scan(&held.Fence)
}

// heldByOther says why a claim was refused; false when it would be granted by now.
func heldByOther(ctx context.Context, db Database, attempt Attempt, held *Held) (bool, error) {
	var (
		hash      []byte
		version   int16
		status    RecordStatus
		remaining *time.Duration
	)
	err := db.QueryRow(ctx, `SELECT request_hash, request_hash_version, status, lease_until - payonce.clock(), response_summary
		FROM payonce.idempotency_records WHERE id = $1`, held.Record.UUID).Scan(&hash, &version, &status, &remaining, &held.Summary)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read record: %w", err)
	}
	switch {
	case version == attempt.Hash.Version && string(hash) != string(attempt.Hash.Sum[:]):
		held.Outcome = Mismatch
	case status == RecordCompleted:
		held.Outcome = Replay
	case status == RecordUnknown:
		held.Outcome, held.RetryAfter = InProgress, time.Minute
	case status == RecordInProgress && remaining != nil && *remaining > 0:
		held.Outcome, held.RetryAfter = InProgress, *remaining
	default:
		return false, nil
	}
	return true, nil
}

// Complete stores the result of the owner that holds the fence. It reports false, and changes nothing, when another has taken over or the record is
// settled: what the late owner learnt enters as a fact instead.
func Complete(ctx context.Context, db Database, record payments.RecordID, fence int64, external string, code int, summary map[string]any) (bool, error) {
	tag, err := db.Exec(ctx, `
		UPDATE payonce.idempotency_records
		SET status = 'completed', completed_at = payonce.clock(), external_resource_id = nullif($3, ''), response_code = $4,
		    response_summary = $5, lease_until = NULL, next_wake_at = NULL, attended_until = NULL
		WHERE id = $1 AND fence = $2 AND status IN ('in_progress', 'unknown')`,
		record.UUID, fence, external, code, summary)
	if err != nil {
		return false, fmt.Errorf("complete record: %w", err)
	}
	return tag.RowsAffected() == 1, nil
}

// Release gives a claim back, only when it is certain that nothing happened outside: refused before sending, no connection; never after
// a 429 or a time-out. The row stays. It reports false when another has taken over or the record is settled.
func Release(ctx context.Context, db Database, record payments.RecordID, fence int64) (bool, error) {
	tag, err := db.Exec(ctx, `
		UPDATE payonce.idempotency_records
		SET status = 'failed', completed_at = payonce.clock(), lease_until = NULL, lease_owner = NULL
		WHERE id = $1 AND fence = $2 AND status = 'in_progress'`, record.UUID, fence)
	if err != nil {
		return false, fmt.Errorf("release record: %w", err)
	}
	return tag.RowsAffected() == 1, nil
}

// NotReleasableError says why a claim is not given back by hand.
type NotReleasableError struct{ Why string }

func (e *NotReleasableError) Error() string { return "the claim is not released: " + e.Why }

// ReleaseByHand releases the claim of a caller without a workflow whose process is gone: nothing was sent for it, and its lease has run out. It refuses
// with *NotReleasableError: an unknown record is moved by a look or a person's resolution alone, and a workflow keeps its claim.
func ReleaseByHand(ctx context.Context, db Database, record payments.RecordID) error {
	var (
		status   RecordStatus
		fence    int64
		workflow bool
		leased   bool
		sent     bool
	)
	err := db.QueryRow(ctx, `
		SELECT r.status, r.fence, r.payment IS NOT NULL, coalesce(r.lease_until > payonce.clock(), false),
		       EXISTS (SELECT FROM payonce.provider_calls c WHERE c.record = r.id)
		FROM payonce.idempotency_records r WHERE r.id = $1`, record.UUID).Scan(&status, &fence, &workflow, &leased, &sent)
	why := ""
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		why = "there is no such record"
	case err != nil:
		return fmt.Errorf("read record: %w", err)
	case status == RecordUnknown:
		why = "its outcome is unknown: `payonce payments resolve` settles it"
	case status != RecordInProgress:
		why = "it is " + string(status)
	case sent:
		why = "something was sent for it, which may have taken effect"
	case workflow:
		why = "a workflow holds it, and the relay wakes that"
	case leased:
		why = "its lease has not run out: its owner may be at work"
	}
	if why != "" {
		return &NotReleasableError{Why: why}
	}
	released, err := Release(ctx, db, record, fence)
	if err == nil && !released {
		err = &NotReleasableError{Why: "somebody took it meanwhile"}
	}
	return err
}
