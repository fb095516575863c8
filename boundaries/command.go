package boundaries

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/internal/postgres"
	"payonce/internal/seal"
	"payonce/internal/timing"
	"payonce/payments"
)

// Sealed columns, as seal names them.
const (
	ColumnCommand      = "idempotency_records.command"
	ColumnResponseBody = "idempotency_keys.response_body"
	ColumnReceiptEmail = "payments.receipt_email"
)

// maxClaimTries bounds how often a claim starts over because the row it met was swept meanwhile.
const maxClaimTries = 5

// Commands is the command boundary: one request acts once, at our edge and at Stripe.
type Commands struct {
	pool    *pgxpool.Pool
	sealer  *seal.Sealer
	timing  timing.Timing
	settled *Settled
	repeats *Repeats
}

// NewCommands makes the boundary. pool has the tenant role; settled wakes waiters of this process; repeats counts suppressed commands.
func NewCommands(pool *pgxpool.Pool, sealer *seal.Sealer, durations timing.Timing, settled *Settled, repeats *Repeats) *Commands {
	return &Commands{pool: pool, sealer: sealer, timing: durations, settled: settled, repeats: repeats}
}

// met is what a caller's key was found to name.
type met struct {
	record   uuid.UUID
	payment  uuid.UUID
	hash     []byte
	version  int16
	status   RecordStatus
	code     *int
	headers  map[string]string
	body     []byte
	expired  bool
	attended bool
}

// ClaimCreate claims the create command of a reference for a caller's key, or says what the key or the reference already names.
// The caller is attended, and repeats of its key get InProgress, until Leave, the answer or attendedFor has passed.
// It returns *ConflictError when the reference is taken.
func (c *Commands) ClaimCreate(ctx context.Context, tenant payments.TenantID, key CallerKey, command payments.CreateCommand,
	normalised Normalised, attendedFor time.Duration,
) (Claim, error) {
	claim := Claim{Tenant: tenant, Operation: payments.OperationCreate}
	for range maxClaimTries {
		found, err := c.meet(ctx, tenant, payments.OperationCreate, key)
		if err != nil {
			return Claim{}, err
		}
		if found != nil {
			return c.answerMet(ctx, claim, key, normalised, *found, attendedFor)
		}
		claimed, err := c.insertCreate(ctx, claim, key, command, normalised, attendedFor)
		if err != nil {
			return Claim{}, err
		}
		if claimed != nil {
			return *claimed, nil
		}
	}
	return Claim{}, errors.New("the caller's key was swept and made anew too often: try again")
}

// meet reads what the key names. A read decides nothing by finding nothing: the insert does.
func (c *Commands) meet(ctx context.Context, tenant payments.TenantID, operation payments.Operation, key CallerKey) (*met, error) {
	var found *met
	err := postgres.ForTenant(ctx, c.pool, tenant.UUID, func(batch *pgx.Batch) {
		batch.Queue(`
			SELECT k.record, r.payment, k.request_hash, k.request_hash_version, r.status,
			       k.response_code, k.response_headers, k.response_body,
			       k.expires_at < payonce.clock(), coalesce(r.attended_until > payonce.clock(), false)
			FROM payonce.idempotency_keys k JOIN payonce.idempotency_records r ON r.id = k.record
			WHERE k.tenant = $1 AND k.operation = $2 AND k.caller_key = $3`,
			tenant.UUID, operation, string(key)).QueryRow(func(row pgx.Row) error {
			var m met
			err := row.Scan(&m.record, &m.payment, &m.hash, &m.version, &m.status,
				&m.code, &m.headers, &m.body, &m.expired, &m.attended)
			if errors.Is(err, pgx.ErrNoRows) {
				return nil
			}
			found = &m
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read caller's key: %w", err)
	}
	return found, nil
}

// answerMet says what a key that exists gets: content before status.
func (c *Commands) answerMet(ctx context.Context, claim Claim, key CallerKey, normalised Normalised, found met, attendedFor time.Duration) (Claim, error) {
	claim.Record, claim.Payment = payments.RecordID{UUID: found.record}, payments.PaymentID{UUID: found.payment}
	c.repeats.Count(claim.Record)
	switch {
	case found.version == normalised.Hash.Version && string(found.hash) != string(normalised.Hash.Sum[:]):
		claim.Outcome = Mismatch
		return claim, nil
	case found.code != nil && !found.expired:
		answer, err := c.open(*found.code, found.headers, found.body)
		claim.Outcome, claim.Answer = Replay, answer
		return claim, err
	case found.status == RecordCompleted && found.expired:
		claim.Outcome = Replay
		return claim, nil
	case found.status == RecordCompleted:
		answer, err := c.copyAnswer(ctx, claim, key)
		claim.Outcome, claim.Answer = Replay, answer
		return claim, err
	case found.attended:
		claim.Outcome, claim.RetryAfter = InProgress, time.Second
		return claim, nil
	default:
		return c.attend(ctx, claim, attendedFor)
	}
}

// attend takes the place of a caller that was sent away; of several at once one does, the others are told to come back.
func (c *Commands) attend(ctx context.Context, claim Claim, attendedFor time.Duration) (Claim, error) {
	tag, err := c.pool.Exec(ctx, `
		UPDATE payonce.idempotency_records SET attended_until = payonce.clock() + $3
		WHERE id = $1 AND tenant = $2 AND (attended_until IS NULL OR attended_until <= payonce.clock())`,
		claim.Record.UUID, claim.Tenant.UUID, attendedFor)
	if err != nil {
		return Claim{}, fmt.Errorf("attend record: %w", err)
	}
	if tag.RowsAffected() == 0 {
		claim.Outcome, claim.RetryAfter = InProgress, time.Second
		return claim, nil
	}
	claim.Outcome = Acquired
	return claim, nil
}

// insertCreate inserts key, record, payment and, with a method, the first confirm in one transaction. It returns nil when the key exists
// after all.
func (c *Commands) insertCreate(ctx context.Context, claim Claim, key CallerKey, command payments.CreateCommand, normalised Normalised,
	attendedFor time.Duration,
) (*Claim, error) {
	var claimed *Claim
	err := postgres.InTransaction(ctx, c.pool, func(tx pgx.Tx) error {
		claimed = nil
		attempt, err := c.nextAttempt(ctx, tx, claim.Tenant, command)
		if err != nil {
			return err
		}
		rows, err := c.newCreate(claim.Tenant, command, normalised, attempt)
		if err != nil {
			return err
		}
		claim := claim
		claim.Record, claim.Payment = rows.record, rows.payment
		keyInserted, recordInserted, err := c.insertRows(ctx, tx, claim, key, command, normalised, rows, attendedFor)
		switch {
		case err != nil:
			return err
		case !keyInserted:
			return nil
		case recordInserted:
			claim.Outcome = Acquired
		default:
			if claim, err = c.attach(ctx, tx, claim, normalised); err != nil {
				return err
			}
		}
		claimed = &claim
		return nil
	})
	if err != nil || claimed == nil || claimed.Outcome != Replay {
		return claimed, err
	}
	claimed.Answer, err = c.copyAnswer(ctx, *claimed, key)
	return claimed, err
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
	lastCommand    int
	confirmVersion int16
}

func (c *Commands) newCreate(tenant payments.TenantID, command payments.CreateCommand, normalised Normalised, attempt int) (createRows, error) {
	rows := createRows{attempt: attempt, owner: CreateOwnerKey(command.Reference, attempt), lastCommand: 1, captureMethod: payments.CaptureAutomatic}
	rows.record = RecordID(tenant, payments.OperationCreate, rows.owner)
	rows.payment = PaymentID(tenant, command.Reference, attempt)
	rows.key = paymentCallKey(tenant, rows.payment, payments.OperationCreate, 1)
	if command.CaptureMethod != nil {
		rows.captureMethod = *command.CaptureMethod
	}
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
func (c *Commands) insertRows(ctx context.Context, tx pgx.Tx, claim Claim, key CallerKey, command payments.CreateCommand, normalised Normalised,
	rows createRows, attendedFor time.Duration,
) (keyInserted, recordInserted bool, err error) {
	var replaces *uuid.UUID
	if command.Replaces != nil {
		replaces = &command.Replaces.UUID
	}
	metadata := command.Metadata
	if metadata == nil {
		metadata = map[string]string{}
	}
	err = postgres.ForTenant(ctx, tx, claim.Tenant.UUID, func(batch *pgx.Batch) {
		batch.Queue(claimCreate,
			claim.Tenant.UUID, claim.Operation, string(key), normalised.Hash.Sum[:], normalised.Hash.Version, // 1-5
			rows.record.UUID, string(rows.owner), rows.key, rows.sealedCommand, rows.payment.UUID, // 6-10
			rows.confirmRecord, rows.confirmOwner, rows.confirmKey, rows.confirmHash, rows.confirmVersion, rows.sealedConfirm, // 11-16
			command.Reference, rows.attempt, replaces, command.Amount, command.Currency, rows.captureMethod, command.Description, // 17-23
			metadata, rows.sealedEmail, rows.lastCommand, // 24-26
			c.timing.ReplayWindow, c.timing.CommandDeadline, attendedFor, c.timing.WakeAfter, // 27-30
			payments.OperationConfirm, // 31
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
			 receipt_email, status, stage, submitted_at, last_command, created_at, updated_at)
		SELECT $10, $1, $17, $18, $19, t.account, t.livemode, $20, $21, $22, $23, $24,
			$25, 'submitted', 'submitted', now, $26, now, now
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
	SELECT EXISTS (SELECT FROM key), EXISTS (SELECT FROM record)`

// attach binds a fresh caller key to the record that the reference already has, if the content is the same.
func (c *Commands) attach(ctx context.Context, tx pgx.Tx, claim Claim, normalised Normalised) (Claim, error) {
	var (
		hash    []byte
		version int16
		status  RecordStatus
	)
	// A new statement: the insert that beat ours may be invisible to the snapshot of the one that conflicted.
	err := tx.QueryRow(ctx, `SELECT request_hash, request_hash_version, status FROM payonce.idempotency_records WHERE id = $1`,
		claim.Record.UUID).Scan(&hash, &version, &status)
	if err != nil {
		return claim, fmt.Errorf("read record: %w", err)
	}
	if version == normalised.Hash.Version && string(hash) != string(normalised.Hash.Sum[:]) {
		return claim, &ConflictError{Code: ConflictReference, Payment: claim.Payment}
	}
	c.repeats.Count(claim.Record)
	claim.Outcome = Acquired
	if status == RecordCompleted {
		claim.Outcome = Replay
	}
	return claim, nil
}

// copyAnswer gives a key without an answer the answer that a sibling key of the completed record holds; nil when none does any more.
func (c *Commands) copyAnswer(ctx context.Context, claim Claim, key CallerKey) (*Answer, error) {
	var (
		code    int
		headers map[string]string
		body    []byte
	)
	err := c.pool.QueryRow(ctx, `
		UPDATE payonce.idempotency_keys k
		SET response_code = s.response_code, response_headers = s.response_headers, response_body = s.response_body
		FROM (SELECT response_code, response_headers, response_body FROM payonce.idempotency_keys
		      WHERE record = $4 AND response_code IS NOT NULL ORDER BY created_at LIMIT 1) s
		WHERE k.tenant = $1 AND k.operation = $2 AND k.caller_key = $3 AND k.record = $4 AND k.response_code IS NULL
		RETURNING k.response_code, k.response_headers, k.response_body`,
		claim.Tenant.UUID, claim.Operation, string(key), claim.Record.UUID).Scan(&code, &headers, &body)
	if errors.Is(err, pgx.ErrNoRows) {
		return c.storedAnswer(ctx, claim)
	}
	if err != nil {
		return nil, fmt.Errorf("copy answer: %w", err)
	}
	return c.open(code, headers, body)
}

// storedAnswer reads the answer of a completed record, or nil.
func (c *Commands) storedAnswer(ctx context.Context, claim Claim) (*Answer, error) {
	var (
		code    int
		headers map[string]string
		body    []byte
	)
	err := c.pool.QueryRow(ctx, `
		SELECT response_code, response_headers, response_body FROM payonce.idempotency_keys
		WHERE record = $1 AND tenant = $2 AND response_code IS NOT NULL ORDER BY created_at LIMIT 1`,
		claim.Record.UUID, claim.Tenant.UUID).Scan(&code, &headers, &body)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	return c.open(code, headers, body)
}

func (c *Commands) open(code int, headers map[string]string, sealed []byte) (*Answer, error) {
	body, err := c.sealer.Open(ColumnResponseBody, sealed)
	if err != nil {
		return nil, err
	}
	return &Answer{Code: code, Headers: headers, Body: body}, nil
}

// Leave ends a caller's attendance: it is sent away with a 202, and a repeat of its key waits like the first.
func (c *Commands) Leave(ctx context.Context, claim Claim) error {
	_, err := c.pool.Exec(ctx, `UPDATE payonce.idempotency_records SET attended_until = NULL WHERE id = $1 AND tenant = $2`,
		claim.Record.UUID, claim.Tenant.UUID)
	if err != nil {
		return fmt.Errorf("leave record: %w", err)
	}
	return nil
}
