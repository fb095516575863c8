package boundaries

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"payonce/internal/paymentstore"
	"payonce/internal/postgres"
	"payonce/payments"
)

// ClaimCreate claims the create command of a reference for a caller's key, or says what the key or the reference already names.
// The caller is attended, and repeats of its key get InProgress, until Leave, the answer or AttendedFor has passed.
// It returns *ConflictError when the reference is taken, *DestinationError for a wallet that is not there and *CustomerError for a
// customer that is not linked.
func (c *Commands) ClaimCreate(ctx context.Context, asking Asking, command payments.CreateCommand) (Claim, error) {
	claim := Claim{Tenant: asking.Tenant, Operation: payments.OperationCreate}
	first := RecordID(asking.Tenant, payments.OperationCreate, CreateOwnerKey(command.Reference, 1))
	return c.claim(ctx, claim, asking, first, func(taken bool) (*Claim, error) {
		return c.insertCreate(ctx, claim, asking, command, taken)
	})
}

// insertCreate inserts key, record, payment and, with a method, the first confirm in one transaction; taken says that the reference has a record. It
// returns nil when the key exists after all.
func (c *Commands) insertCreate(ctx context.Context, claim Claim, asking Asking, command payments.CreateCommand, taken bool) (*Claim, error) {
	if err := c.checkDestinations(ctx, claim.Tenant, command); err != nil {
		return nil, err
	}
	if err := c.checkCustomer(ctx, claim.Tenant, command); err != nil {
		return nil, err
	}
	if command.Replaces == nil && !taken {
		claimed, taken, err := c.claimAlone(ctx, claim, asking, command)
		if err != nil || !taken {
			return claimed, err
		}
	}
	var claimed *Claim
	err := postgres.InTransaction(ctx, c.pool, func(tx pgx.Tx) error {
		claimed = nil
		attempt, err := c.nextAttempt(ctx, tx, claim.Tenant, command)
		if err != nil {
			return err
		}
		rows, err := c.newCreate(claim.Tenant, command, asking.Normalised, attempt)
		if err != nil {
			return err
		}
		claim := claim
		claim.Record, claim.Payment = rows.record, rows.payment
		keyInserted, recordInserted, err := c.insertRows(ctx, tx, claim, asking, command, rows)
		switch {
		case err != nil:
			return err
		case !keyInserted:
			return nil
		case recordInserted:
			claim.Outcome = Acquired
		default:
			if claim, err = c.attach(ctx, tx, claim, asking.Normalised); err != nil {
				return err
			}
		}
		claimed = &claim
		return nil
	})
	return claimed, err
}

// claimAlone claims the first attempt of a reference in one statement and one round trip. taken tells that the reference has a record already: that
// one is met in a transaction. A nil claim says that the key exists after all.
func (c *Commands) claimAlone(ctx context.Context, claim Claim, asking Asking, command payments.CreateCommand) (claimed *Claim, taken bool, err error) {
	rows, err := c.newCreate(claim.Tenant, command, asking.Normalised, 1)
	if err != nil {
		return nil, false, err
	}
	claim.Record, claim.Payment, claim.Outcome = rows.record, rows.payment, Acquired
	keyInserted, _, err := c.insertRows(ctx, c.pool, claim, asking, command, rows)
	var refused *pgconn.PgError
	switch {
	case errors.As(err, &refused) && refused.Code == errClaimTaken:
		return nil, true, nil
	case err != nil || !keyInserted:
		return nil, false, err
	default:
		return &claim, false, nil
	}
}

// nextAttempt is 1, or one more than that of the payment which the command replaces: that one is locked, has the same reference and
// ended without money.
func (c *Commands) nextAttempt(ctx context.Context, tx pgx.Tx, tenant payments.TenantID, command payments.CreateCommand) (int, error) {
	if command.Replaces == nil {
		return 1, nil
	}
	var (
		attempt   int
		reference string
		status    payments.Status
	)
	err := tx.QueryRow(ctx, `SELECT attempt, reference, status FROM payonce.payments WHERE id = $1 AND tenant = $2 FOR NO KEY UPDATE`,
		command.Replaces.UUID, tenant.UUID).Scan(&attempt, &reference, &status)
	switch {
	case errors.Is(err, pgx.ErrNoRows), err == nil && reference != command.Reference:
		return 0, &ConflictError{Code: ConflictReplacesUnknown}
	case err != nil:
		return 0, fmt.Errorf("read replaced payment: %w", err)
	case status == payments.StatusSucceeded:
		return 0, &ConflictError{Code: ConflictReferenceEnded, Payment: *command.Replaces}
	case !status.EndedWithoutMoney():
		return 0, &ConflictError{Code: ConflictReference, Payment: *command.Replaces}
	default:
		return attempt + 1, nil
	}
}

// createRows are the derived ids and sealed values of a create.
type createRows struct {
	attempt        int
	record         payments.RecordID
	payment        payments.PaymentID
	owner          OwnerKey
	key            uuid.UUID
	confirmRecord  *uuid.UUID // nil: no method was sent
	confirmOwner   *string
	confirmKey     *uuid.UUID
	confirmHash    []byte
	sealedCommand  []byte
	sealedConfirm  []byte
	sealedEmail    []byte
	captureMethod  payments.CaptureMethod
	multicapture   bool
	holdExpiry     payments.HoldExpiry
	lastCommand    int
	confirmVersion int16
}

func (c *Commands) newCreate(tenant payments.TenantID, command payments.CreateCommand, normalised Normalised, attempt int) (createRows, error) {
	rows := createRows{attempt: attempt, owner: CreateOwnerKey(command.Reference, attempt), lastCommand: 1}
	rows.record = RecordID(tenant, payments.OperationCreate, rows.owner)
	rows.payment = PaymentID(tenant, command.Reference, attempt)
	rows.key = paymentCallKey(tenant, rows.payment, payments.OperationCreate, attempt)
	rows.capturing(command)
	var err error
	if rows.sealedCommand, err = c.sealer.Seal(ColumnCommand, normalised.JSON); err != nil {
		return rows, err
	}
	if command.ReceiptEmail != nil {
		if rows.sealedEmail, err = c.sealer.Seal(ColumnReceiptEmail, []byte(*command.ReceiptEmail)); err != nil {
			return rows, err
		}
	}
	if command.PaymentMethod == nil {
		return rows, nil
	}
	return rows, c.addConfirm(tenant, command, &rows)
}

// capturing fills in how the money is to be taken: what the caller said, else our defaults.
func (r *createRows) capturing(command payments.CreateCommand) {
	r.captureMethod, r.holdExpiry = payments.CaptureAutomatic, payments.HoldVoid
	if command.CaptureMethod != nil {
		r.captureMethod = *command.CaptureMethod
	}
	if command.HoldExpiry != nil {
		r.holdExpiry = *command.HoldExpiry
	}
	r.multicapture = command.Multicapture != nil && *command.Multicapture
}

// addConfirm derives confirm #1 of a create that carries a method.
func (c *Commands) addConfirm(tenant payments.TenantID, command payments.CreateCommand, rows *createRows) error {
	confirm := payments.ConfirmCommand{
		Payment: rows.payment, PaymentMethod: *command.PaymentMethod, ReturnURL: command.ReturnURL, OffSession: command.OffSession,
	}
	normalised, err := Normalise(payments.OperationConfirm, "/v1/payments/"+rows.payment.String()+"/confirm", confirm)
	if err != nil {
		return err
	}
	if rows.sealedConfirm, err = c.sealer.Seal(ColumnCommand, normalised.JSON); err != nil {
		return err
	}
	owner := ConfirmOwnerKey(rows.payment, 1)
	record := RecordID(tenant, payments.OperationConfirm, owner).UUID
	key := paymentCallKey(tenant, rows.payment, payments.OperationConfirm, 1)
	rows.confirmRecord, rows.confirmOwner, rows.confirmKey = &record, (*string)(&owner), &key
	rows.confirmHash, rows.confirmVersion, rows.lastCommand = normalised.Hash.Sum[:], normalised.Hash.Version, 2
	return nil
}

// paymentCallKey is the generation-0 key of an operation on a payment.
func paymentCallKey(tenant payments.TenantID, payment payments.PaymentID, operation payments.Operation, attempt int) uuid.UUID {
	return ProviderKey{Tenant: tenant, ResourceKind: ResourcePayment, ResourceID: payment.UUID, Operation: operation, Attempt: attempt}.IdempotencyKey()
}

// insertRows is the claim: one statement, in which the key's unique index and then the record's decide.
func (c *Commands) insertRows(ctx context.Context, db postgres.Batcher, claim Claim, asking Asking, command payments.CreateCommand, rows createRows,
) (keyInserted, recordInserted bool, err error) {
	var replaces *uuid.UUID
	if command.Replaces != nil {
		replaces = &command.Replaces.UUID
	}
	metadata := command.Metadata
	if metadata == nil {
		metadata = map[string]string{}
	}
	_, inTransaction := db.(pgx.Tx)
	err = postgres.ForTenant(ctx, db, claim.Tenant.UUID, func(batch *pgx.Batch) {
		batch.Queue(claimCreate,
			claim.Tenant.UUID, claim.Operation, string(asking.Key), asking.Normalised.Hash.Sum[:], asking.Normalised.Hash.Version, // 1-5
			rows.record.UUID, string(rows.owner), rows.key, rows.sealedCommand, rows.payment.UUID, // 6-10
			rows.confirmRecord, rows.confirmOwner, rows.confirmKey, rows.confirmHash, rows.confirmVersion, rows.sealedConfirm, // 11-16
			command.Reference, rows.attempt, replaces, command.Amount, command.Currency, rows.captureMethod, command.Description, // 17-23
			metadata, rows.sealedEmail, rows.lastCommand, // 24-26
			c.timing.ReplayWindow, c.timing.CommandDeadline, asking.AttendedFor, c.timing.WakeAfter, // 27-30
			payments.OperationConfirm, inTransaction, rows.multicapture, rows.holdExpiry, paymentstore.Destinations(command.Destinations), // 31-35
		).QueryRow(func(row pgx.Row) error { return row.Scan(&keyInserted, &recordInserted) })
	})
	if err != nil {
		return false, false, fmt.Errorf("claim create: %w", err)
	}
	return keyInserted, recordInserted, nil
}

const claimCreate = `
	WITH at AS MATERIALIZED (SELECT payonce.clock() AS now),
	key AS (
		INSERT INTO payonce.idempotency_keys
			(tenant, operation, caller_key, request_hash, request_hash_version, record, created_at, expires_at)
		SELECT $1, $2, $3, $4, $5, $6, now, now + $27::interval FROM at
		ON CONFLICT DO NOTHING RETURNING record),
	payment AS (
		INSERT INTO payonce.payments
			(id, tenant, reference, attempt, replaces, account, livemode, amount, currency, capture_method, description, metadata,
			 receipt_email, status, stage, submitted_at, last_command, created_at, updated_at, multicapture, hold_expiry, destinations)
		SELECT $10, $1, $17, $18, $19, t.account, t.livemode, $20, $21, $22, $23, $24,
			$25, 'submitted', 'submitted', now, $26, now, now, $33, $34, $35
		FROM at, key, payonce.tenants t WHERE t.id = $1
		ON CONFLICT DO NOTHING RETURNING id),
	record AS (
		INSERT INTO payonce.idempotency_records
			(id, tenant, operation, owner_key, idempotency_key, request_hash, request_hash_version, command, status,
			 resource_kind, resource_id, payment, number, answered_by, not_after, attended_until, asked_by, next_wake_at, created_at)
		SELECT $6, $1, $2, $7, $8, $4, $5, $9, 'in_progress',
			'payment', $10, $10, 1, $11, now + $28::interval, now + $29::interval, 'caller', now + $30::interval, now
		FROM at, payment
		ON CONFLICT DO NOTHING RETURNING id),
	confirm AS (
		INSERT INTO payonce.idempotency_records
			(id, tenant, operation, owner_key, idempotency_key, request_hash, request_hash_version, command, status,
			 resource_kind, resource_id, payment, number, not_after, asked_by, created_at)
		SELECT $11, $1, $31, $12, $13, $14, $15, $16, 'in_progress',
			'payment', $10, $10, 2, now + $28::interval, 'caller', now
		FROM at, record WHERE $11::uuid IS NOT NULL)
	SELECT CASE WHEN $32 THEN key_inserted ELSE payonce.claimed_alone(key_inserted, record_inserted) END, record_inserted
	FROM (SELECT EXISTS (SELECT FROM key) AS key_inserted, EXISTS (SELECT FROM record) AS record_inserted) inserted`
