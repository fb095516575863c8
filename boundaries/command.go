package boundaries

import (
	"context"
	"errors"
	"fmt"
	"time"

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

// errClaimTaken is the SQLSTATE of payonce.claimed_alone: another claim of the owner key was first.
const errClaimTaken = "PO001"

// Asking is who asks for a command, under which key and with what content.
type Asking struct {
	Tenant      payments.TenantID
	Key         CallerKey
	Normalised  Normalised
	AttendedFor time.Duration // from now, at most: the caller waits, and a repeat of its key is InProgress
	Peek        *Peek         // what the key was found to name already; nil: it is read
}

// meet reads what the key names, unless a peek has told of an answer that is stored: a read decides nothing by finding nothing, the insert does.
// taken tells that the record is there: then a fresh key is claimed in a transaction, to be compared first.
func (c *Commands) meet(ctx context.Context, operation payments.Operation, asking Asking, record payments.RecordID) (found *met, taken bool, err error) {
	if asking.Peek != nil && asking.Peek.found != nil && asking.Peek.found.code != nil {
		return asking.Peek.found, true, nil
	}
	err = postgres.ForTenant(ctx, c.pool, asking.Tenant.UUID, func(batch *pgx.Batch) {
		if record != (payments.RecordID{}) {
			batch.Queue(`SELECT EXISTS (SELECT FROM payonce.idempotency_records WHERE id = $1)`, record.UUID).QueryRow(
				func(row pgx.Row) error { return row.Scan(&taken) })
		}
		queueMeet(batch, asking.Tenant, operation, asking.Key, &found)
	})
	if err != nil {
		return nil, false, fmt.Errorf("read caller's key: %w", err)
	}
	return found, taken, nil
}

// claim answers a key that exists, and inserts one that does not: insert returns nil when the key exists after all, and a claim that attached to a
// completed record gets the answer of a sibling key. taken tells insert that the record is there. What was just peeked for and not found is inserted
// without another look.
func (c *Commands) claim(ctx context.Context, claim Claim, asking Asking, record payments.RecordID, insert func(taken bool) (*Claim, error)) (Claim, error) {
	peeked := asking.Peek != nil && asking.Peek.found == nil
	for range maxClaimTries {
		taken := false
		if !peeked {
			var found *met
			var err error
			if found, taken, err = c.meet(ctx, claim.Operation, asking, record); err != nil {
				return Claim{}, err
			}
			if found != nil {
				return c.answerMet(ctx, claim, asking, *found)
			}
		}
		peeked = false
		claimed, err := insert(taken)
		if err != nil {
			return Claim{}, err
		}
		if claimed == nil {
			continue
		}
		if claimed.Outcome == Replay {
			claimed.Answer, err = c.copyAnswer(ctx, *claimed, asking.Key)
		}
		return *claimed, err
	}
	return Claim{}, errors.New("the caller's key was swept and made anew too often: try again")
}

// answerMet says what a key that exists gets: content before status.
func (c *Commands) answerMet(ctx context.Context, claim Claim, asking Asking, found met) (Claim, error) {
	claim.Record, claim.Payment = payments.RecordID{UUID: found.record}, payments.PaymentID{UUID: found.payment}
	c.repeats.Count(claim.Record)
	switch {
	case found.version == asking.Normalised.Hash.Version && string(found.hash) != string(asking.Normalised.Hash.Sum[:]):
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
		answer, err := c.copyAnswer(ctx, claim, asking.Key)
		claim.Outcome, claim.Answer = Replay, answer
		return claim, err
	case found.attended:
		claim.Outcome, claim.RetryAfter = InProgress, time.Second
		return claim, nil
	default:
		return c.attend(ctx, claim, asking.AttendedFor)
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
