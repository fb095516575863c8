package boundaries

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"payonce/internal/postgres"
	"payonce/payments"
)

// ClaimProvision claims a customer, a connected account or a wallet for a caller's key, or says what the key already names. It is named by its owner, with
// currency and network where it has them, and linked for ever: the same content under whatever key meets it, other content is a *ConflictError. Only what
// Stripe has refused may be asked for anew, with other content too. A wallet needs nobody else, so its claim is the whole of it: Acquired has the answer.
func (c *Commands) ClaimProvision(ctx context.Context, asking Asking, command payments.ProvisionCommand) (Claim, error) {
	claim := Claim{Tenant: asking.Tenant, Operation: command.Kind.Operation()}
	return c.claim(ctx, claim, asking, payments.RecordID{}, func(bool) (*Claim, error) {
		return c.insertProvision(ctx, claim, asking, command)
	})
}

// linking is what is to be linked to an owner, under its lock.
type linking struct {
	provision payments.Provision
	owner     OwnerKey
	held      *heldRecord // the record of what is linked or on its way already
	now       time.Time
}

// insertProvision decides under the lock, then inserts the key and, unless the owner has or awaits it already, the record and the provision. It returns nil
// when the key exists after all.
func (c *Commands) insertProvision(ctx context.Context, claim Claim, asking Asking, command payments.ProvisionCommand) (*Claim, error) {
	var claimed *Claim
	err := postgres.InTransaction(ctx, c.pool, func(tx pgx.Tx) error {
		claimed = nil
		at, err := lockOwner(ctx, tx, asking.Tenant, command)
		if err != nil {
			return err
		}
		if at.held != nil && at.held.differs(asking.Normalised) {
			return &ConflictError{Code: ConflictOwner}
		}
		claim := claim
		claim.Record, claim.Outcome = at.provision.Record, Acquired
		answer, err := at.answer()
		if err != nil {
			return err
		}
		inserted, err := c.insertProvisionRows(ctx, tx, claim, asking, at, answer)
		switch {
		case err != nil || !inserted:
			return err
		case at.held == nil:
			claim.Answer = answer
		default:
			c.repeats.Count(claim.Record)
			if at.held.status == RecordCompleted {
				claim.Outcome = Replay
			}
		}
		claimed = &claim
		return nil
	})
	return claimed, err
}

// lockOwner takes the lock of what is to be linked, before the transaction's first write, and reads whether it is there: in a statement of its own, since
// what was committed while the lock was waited for is invisible to the one that waited.
func lockOwner(ctx context.Context, tx pgx.Tx, tenant payments.TenantID, command payments.ProvisionCommand) (linking, error) {
	at := linking{provision: payments.Provision{
		ID: ProvisionID(tenant, command), Tenant: tenant, Kind: command.Kind, Owner: command.Owner, Currency: command.Currency, Network: command.Network,
		Country: command.Country, Attempt: 1, Status: payments.ProvisionSubmitted,
	}}
	p := &at.provision
	err := postgres.ForTenant(ctx, tx, tenant.UUID, func(batch *pgx.Batch) {
		batch.Queue(`SELECT pg_advisory_xact_lock($1)`, int64(binary.BigEndian.Uint64(p.ID.UUID[:8])))
		batch.Queue(`SELECT account, livemode FROM payonce.tenants WHERE id = $1`, tenant.UUID).QueryRow(func(row pgx.Row) error {
			return row.Scan(&p.Account.ID, &p.Account.Livemode)
		})
	})
	if err != nil {
		return linking{}, fmt.Errorf("lock the owner: %w", err)
	}
	var (
		held    heldRecord
		attempt int
		status  payments.ProvisionStatus
	)
	err = tx.QueryRow(ctx, `
		SELECT p.attempt, p.status, r.request_hash, r.request_hash_version, r.status
		FROM payonce.provisions p JOIN payonce.idempotency_records r ON r.id = p.record WHERE p.id = $1 AND p.tenant = $2`,
		p.ID.UUID, tenant.UUID).Scan(&attempt, &status, &held.hash, &held.version, &held.status)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
	case err != nil:
		return linking{}, fmt.Errorf("read what the owner has: %w", err)
	case status == payments.ProvisionRefused:
		p.Attempt = attempt + 1
	default:
		at.held, p.Attempt = &held, attempt
	}
	if err := tx.QueryRow(ctx, `SELECT payonce.clock()`).Scan(&at.now); err != nil {
		return linking{}, fmt.Errorf("read clock: %w", err)
	}
	at.owner = ProvisioningOwnerKey(command.Owner, command.Currency, command.Network, p.Attempt)
	p.Record, p.CreatedAt = RecordID(tenant, command.Kind.Operation(), at.owner), at.now.UTC()
	if !p.Kind.AtStripe() {
		p.Status = payments.ProvisionLinked
	}
	return at, nil
}

// answer is the outcome of a claim that is the whole of its command; nil where Stripe has to be asked, and where the record is there already.
func (at linking) answer() (*Answer, error) {
	if at.provision.Kind.AtStripe() || at.held != nil {
		return nil, nil
	}
	code, contentType, body, err := at.provision.Outcome()
	headers := map[string]string{"Content-Type": contentType, "Location": at.provision.Kind.Path() + "/" + at.provision.ID.String()}
	return &Answer{Code: code, Headers: headers, Body: body}, err
}

// insertProvisionRows inserts the key, and the record and the provision where there is none; false when the key is there already.
func (c *Commands) insertProvisionRows(ctx context.Context, tx pgx.Tx, claim Claim, asking Asking, at linking, answer *Answer) (inserted bool, err error) {
	sealed, err := c.sealer.Seal(ColumnCommand, asking.Normalised.JSON)
	if err != nil {
		return false, err
	}
	p := at.provision
	call := ProviderKey{Tenant: p.Tenant, ResourceKind: string(p.Kind), ResourceID: p.ID.UUID, Operation: claim.Operation, Attempt: p.Attempt}
	var (
		done    Answer
		body    []byte
		code    *int
		summary map[string]any
	)
	if answer != nil {
		if body, err = c.sealer.Seal(ColumnResponseBody, answer.Body); err != nil {
			return false, err
		}
		done, code, summary = *answer, &answer.Code, map[string]any{string(p.Kind): p.ID, "status": p.Status}
	}
	err = postgres.ForTenant(ctx, tx, p.Tenant.UUID, func(batch *pgx.Batch) {
		batch.Queue(claimProvision,
			p.Tenant.UUID, claim.Operation, string(asking.Key), asking.Normalised.Hash.Sum[:], asking.Normalised.Hash.Version, // 1-5
			p.Record.UUID, string(at.owner), call.IdempotencyKey(), sealed, p.ID.UUID, // 6-10
			at.held == nil, c.timing.ReplayWindow, asking.AttendedFor, c.timing.WakeAfter, at.now, // 11-15
			p.Kind, p.Owner, p.Currency, p.Network, p.Country, // 16-20
			p.Account.ID, p.Account.Livemode, p.Attempt, p.Status, // 21-24
			code, done.Headers, body, summary, // 25-28
			LedgerAccountID(p.Tenant, p.LedgerAccount(), p.Currency), p.LedgerAccount(), // 29-30
		).QueryRow(func(row pgx.Row) error { return row.Scan(&inserted) })
	})
	if err != nil {
		return false, fmt.Errorf("claim %s: %w", claim.Operation, err)
	}
	return inserted, nil
}

// claimProvision inserts what is whole with its answer ($25 to $28), and anything else to be woken. What Stripe refused is taken up again in its row. A
// wallet's account is made with it.
const claimProvision = `
	WITH key AS (
		INSERT INTO payonce.idempotency_keys
			(tenant, operation, caller_key, request_hash, request_hash_version, record, response_code, response_headers, response_body, created_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $25, $26, $27, $15::timestamptz, $15::timestamptz + $12::interval)
		ON CONFLICT DO NOTHING RETURNING record),
	record AS (
		INSERT INTO payonce.idempotency_records
			(id, tenant, operation, owner_key, idempotency_key, request_hash, request_hash_version, command,
			 status, resource_kind, resource_id, response_code, response_summary, completed_at, attended_until, next_wake_at, asked_by, created_at)
		SELECT $6, $1, $2, $7, $8, $4, $5, $9,
			CASE WHEN $25::smallint IS NULL THEN 'in_progress' ELSE 'completed' END, $16, $10, $25, $28,
			CASE WHEN $25::smallint IS NOT NULL THEN $15::timestamptz END,
			CASE WHEN $25::smallint IS NULL THEN $15::timestamptz + $13::interval END,
			CASE WHEN $25::smallint IS NULL THEN $15::timestamptz + $14::interval END, 'caller', $15
		FROM key WHERE $11),
	provision AS (
		INSERT INTO payonce.provisions AS p
			(id, tenant, kind, owner, currency, network, country, account, livemode, record, attempt, status, created_at, updated_at)
		SELECT $10, $1, $16, $17, $18, $19, $20, $21, $22, $6, $23, $24, $15, $15
		FROM key WHERE $11
		ON CONFLICT (id) DO UPDATE
		SET country = excluded.country, account = excluded.account, livemode = excluded.livemode, record = excluded.record, attempt = excluded.attempt,
		    status = excluded.status, last_error = NULL, updated_at = excluded.updated_at
		WHERE p.status = 'refused'),
	account AS (
		INSERT INTO payonce.ledger_accounts (id, tenant, name, currency, kind, created_at)
		SELECT $29::uuid, $1, $30::text, $18, 'guarded', $15 FROM key WHERE $11 AND $30::text <> ''
		ON CONFLICT DO NOTHING)
	SELECT EXISTS (SELECT FROM key)`

// ProvisionID is the id of what is linked to the command's owner, whichever attempt made it.
func ProvisionID(tenant payments.TenantID, command payments.ProvisionCommand) payments.ProvisionID {
	owner := ProvisioningOwnerKey(command.Owner, command.Currency, command.Network, 1)
	return payments.ProvisionID{UUID: ResourceID(tenant, command.Kind.Operation(), owner)}
}

// ProvisionWorkflowID is the workflow that runs one attempt at a provision: the record's. One that ended is not run again.
func ProvisionWorkflowID(record payments.RecordID) string { return "provision/" + record.String() }
