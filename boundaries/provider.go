package boundaries

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/internal/seal"
	"payonce/internal/timing"
	"payonce/payments"
)

// ColumnCallBody is the sealed column of the frozen bytes.
const ColumnCallBody = "provider_calls.body"

// CallStatus is where a call to Stripe stands.
type CallStatus string

// The statuses of a call.
const (
	CallSent     CallStatus = "sent"     // frozen and sent at least once, no definite answer yet
	CallAnswered CallStatus = "answered" // an object or a definite refusal
	CallAbsent   CallStatus = "absent"   // proven to have had no effect: the next generation may go
	CallUnknown  CallStatus = "unknown"  // nothing more can be learnt by machine
)

// Call is a frozen request and what is known of its sends.
type Call struct {
	Key         uuid.UUID
	Operation   payments.Operation
	Generation  int
	Path        string
	Body        []byte
	Version     string // Stripe-Version
	Account     payments.Account
	Status      CallStatus
	Sends       int
	FirstSentAt time.Time
	LastSentAt  time.Time
	EndedAt     *time.Time // nil: the newest send has not been seen to end
	HTTPStatus  *int
	Code        string // of the newest answer that was no result
	Replayed    bool   // that answer came from Stripe's memory of the key
	Fence       int64
}

// LastSendEnd is when the newest send certainly had ended: at its answer, else after the HTTP time-out.
func (c Call) LastSendEnd(timeout time.Duration) time.Time {
	if c.EndedAt != nil {
		return *c.EndedAt
	}
	return c.LastSentAt.Add(timeout)
}

// Calls is the command boundary towards Stripe: it freezes what is sent before it is sent.
type Calls struct {
	pool   *pgxpool.Pool
	sealer *seal.Sealer
	timing timing.Timing
}

// NewCalls makes the boundary on a pool with the system role.
func NewCalls(pool *pgxpool.Pool, sealer *seal.Sealer, durations timing.Timing) *Calls {
	return &Calls{pool: pool, sealer: sealer, timing: durations}
}

// Freeze is what a call is frozen from.
type Freeze struct {
	Key     ProviderKey
	Record  payments.RecordID
	Payment payments.PaymentID // zero: the call is about none
	Owner   string             // the workflow: another try of it re-enters at once
	Account payments.Account
	Path    string
	Body    []byte
	Version string // Stripe-Version
}

// ErrLeased says that another owner holds the record's lease.
var ErrLeased = errors.New("the record is leased to another owner")

// ErrUnsent says that the record's deadline passed before its call was frozen: nothing was sent and nothing will be.
var ErrUnsent = errors.New("the command's deadline passed before it was sent")

// ErrSettled says that the record no longer waits for a call.
var ErrSettled = errors.New("the record is settled")

// ErrBlind says that the call was first sent so long ago that Stripe may have forgotten its key.
var ErrBlind = errors.New("the call is too old to be sent again: look first")

// Begin takes the record's lease with the next fence, freezes the call if no earlier try did, and notes the send: one statement, committed
// before anything leaves. What is sent is what the row says, also after a deploy: the body that is given counts only the first time.
func (c *Calls) Begin(ctx context.Context, freeze Freeze) (Call, error) {
	batch, call := &pgx.Batch{}, &Call{}
	if err := c.QueueBegin(batch, freeze, call); err != nil {
		return Call{}, err
	}
	if err := c.pool.SendBatch(ctx, batch).Close(); err != nil {
		return Call{}, fmt.Errorf("freeze call: %w", err)
	}
	if call.Sends == 0 {
		return Call{}, c.whyNotBegun(ctx, freeze)
	}
	return *call, nil
}

// QueueBegin queues what Begin does, for a transaction whose commit is to freeze the call too. Call.Sends stays 0 when nothing may be sent now: Begin
// says why.
func (c *Calls) QueueBegin(batch *pgx.Batch, freeze Freeze, call *Call) error {
	sealed, err := c.sealer.Seal(ColumnCallBody, freeze.Body)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(freeze.Body)
	*call = Call{Operation: freeze.Key.Operation}
	batch.Queue(beginCall,
		freeze.Record.UUID, freeze.Owner, c.timing.Lease, freeze.Key.IdempotencyKey(), freeze.Key.Tenant.UUID, // 1-5
		paymentOf(freeze.Payment), freeze.Key.ResourceKind, freeze.Key.ResourceID, freeze.Key.Operation, freeze.Key.Attempt, // 6-10
		freeze.Key.Generation, freeze.Path, sealed, sum[:], freeze.Version, freeze.Account.ID, freeze.Account.Livemode, // 11-17
		c.timing.BlindResend, // 18
	).QueryRow(func(row pgx.Row) error {
		var stored []byte
		err := row.Scan(&call.Fence, &call.Key, &call.Generation, &call.Path, &stored, &call.Version, &call.Account.ID, &call.Account.Livemode,
			&call.Status, &call.Sends, &call.FirstSentAt, &call.LastSentAt)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err == nil {
			call.Body, err = c.sealer.Open(ColumnCallBody, stored)
		}
		return err
	})
	return nil
}

const beginCall = `
	WITH at AS MATERIALIZED (SELECT payonce.clock() AS now),
	leased AS (
		UPDATE payonce.idempotency_records r
		SET fence = fence + 1, lease_owner = $2, lease_until = now + $3::interval
		FROM at
		WHERE r.id = $1 AND r.status = 'in_progress'
		  AND (r.lease_owner IS NULL OR r.lease_owner = $2 OR r.lease_until IS NULL OR r.lease_until < now)
		  AND (r.not_after IS NULL OR r.not_after > now
		       OR EXISTS (SELECT FROM payonce.provider_calls f WHERE f.record = $1))
		RETURNING r.fence),
	call AS (
		INSERT INTO payonce.provider_calls AS c
			(idempotency_key, tenant, record, payment, resource_kind, resource_id, operation, attempt, generation, method, path, body,
			 body_sha256, api_version, account, livemode, status, first_sent_at, last_sent_at)
		SELECT $4, $5, $1, $6, $7, $8, $9, $10, $11, 'POST', $12, $13, $14, $15, $16, $17, 'sent', now, now FROM at, leased
		ON CONFLICT (idempotency_key) DO UPDATE
		SET sends = c.sends + 1, last_sent_at = excluded.last_sent_at, ended_at = NULL
		WHERE c.status = 'sent' AND c.first_sent_at + $18::interval > excluded.first_sent_at
		RETURNING c.*)
	SELECT leased.fence, call.idempotency_key, call.generation, call.path, call.body, call.api_version, call.account, call.livemode,
	       call.status, call.sends, call.first_sent_at, call.last_sent_at
	FROM leased, call`

// whyNotBegun names the reason in the order of what the caller can do about it.
func (c *Calls) whyNotBegun(ctx context.Context, freeze Freeze) error {
	var (
		status RecordStatus
		leased bool
		frozen bool
		late   bool
		call   *CallStatus
	)
	err := c.pool.QueryRow(ctx, `
		SELECT r.status, coalesce(r.lease_owner <> $3 AND r.lease_until > payonce.clock(), false),
		       EXISTS (SELECT FROM payonce.provider_calls f WHERE f.record = $1),
		       coalesce(r.not_after <= payonce.clock(), false), c.status
		FROM payonce.idempotency_records r LEFT JOIN payonce.provider_calls c ON c.idempotency_key = $2
		WHERE r.id = $1`, freeze.Record.UUID, freeze.Key.IdempotencyKey(), freeze.Owner).Scan(&status, &leased, &frozen, &late, &call)
	switch {
	case err != nil:
		return fmt.Errorf("read record: %w", err)
	case status != RecordInProgress:
		return ErrSettled
	case leased:
		return ErrLeased
	case late && !frozen:
		return ErrUnsent
	case call != nil && *call == CallSent:
		return ErrBlind
	default:
		return ErrSettled
	}
}

// Ended notes that a send ended with an answer that is no result: an error of Stripe's side, a limit, a key in use.
func (c *Calls) Ended(ctx context.Context, key uuid.UUID, httpStatus int, code, requestID string, replayed bool) error {
	_, err := c.pool.Exec(ctx, `
		UPDATE payonce.provider_calls
		SET ended_at = payonce.clock(), http_status = $2, answer = jsonb_build_object('code', $3::text, 'replayed', $5::boolean),
		    request_ids = CASE WHEN $4 = '' OR cardinality(request_ids) >= 50 THEN request_ids ELSE request_ids || $4::text END
		WHERE idempotency_key = $1 AND status = 'sent'`, key, httpStatus, code, requestID, replayed)
	if err != nil {
		return fmt.Errorf("note the end of a send: %w", err)
	}
	return nil
}

// Absent notes the proof that a call had no effect and will have none, so that the next generation may be sent.
func (c *Calls) Absent(ctx context.Context, key uuid.UUID) error {
	_, err := c.pool.Exec(ctx, `UPDATE payonce.provider_calls SET status = 'absent' WHERE idempotency_key = $1 AND status = 'sent'`, key)
	if err != nil {
		return fmt.Errorf("note absence: %w", err)
	}
	return nil
}

// Newest reads the newest generation of a record's call, without its bytes, or nil.
func (c *Calls) Newest(ctx context.Context, record payments.RecordID) (*Call, error) {
	rows, err := c.pool.Query(ctx, `SELECT `+callColumns+` FROM payonce.provider_calls WHERE record = $1 ORDER BY generation DESC LIMIT 1`, record.UUID)
	if err != nil {
		return nil, fmt.Errorf("read call: %w", err)
	}
	newest, err := pgx.CollectRows(rows, scanCall)
	if err != nil || len(newest) == 0 {
		return nil, err
	}
	return &newest[0].Call, nil
}

// RecordCall is the newest call of a record.
type RecordCall struct {
	Record payments.RecordID
	Call   Call
}

// QueueNewest queues the reading of the newest call, without its bytes, of each of the payment's records that is open.
func QueueNewest(batch *pgx.Batch, payment payments.PaymentID, into *[]RecordCall) {
	batch.Queue(`
		SELECT DISTINCT ON (record) `+callColumns+` FROM payonce.provider_calls
		WHERE payment = $1 AND record IN (SELECT id FROM payonce.idempotency_records WHERE payment = $1 AND status IN ('in_progress', 'unknown'))
		ORDER BY record, generation DESC`, payment.UUID).Query(func(rows pgx.Rows) (err error) {
		*into, err = pgx.CollectRows(rows, scanCall)
		return err
	})
}

const callColumns = `record, idempotency_key, operation, generation, path, account, livemode, status, sends, first_sent_at, last_sent_at, ended_at,
	http_status, coalesce(answer->>'code', ''), coalesce((answer->>'replayed')::boolean, false)`

func scanCall(row pgx.CollectableRow) (RecordCall, error) {
	var of RecordCall
	call := &of.Call
	err := row.Scan(&of.Record.UUID, &call.Key, &call.Operation, &call.Generation, &call.Path, &call.Account.ID, &call.Account.Livemode, &call.Status,
		&call.Sends, &call.FirstSentAt, &call.LastSentAt, &call.EndedAt, &call.HTTPStatus, &call.Code, &call.Replayed)
	return of, err
}
