package boundaries

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"payonce/internal/postgres"
	"payonce/payments"
)

// receivable is the ledger's account of what Stripe holds for a tenant, which payouts are taken from.
const receivable = "stripe:receivable"

// ClaimPayout claims a payout for a caller's key, or says what the key already names. The payout is named by the tenant's account, its currency and its
// own reference. Its amount is reserved in the same commit, under a lock of what the tenant has in the currency, so that concurrent payouts never take
// more than there is: what Stripe holds by our ledger, less what payouts that are not posted yet reserve. It returns *ConflictError when there is less,
// and when the reference has other content.
func (c *Commands) ClaimPayout(ctx context.Context, asking Asking, command payments.PayoutCommand) (Claim, error) {
	claim := Claim{Tenant: asking.Tenant, Operation: payments.OperationPayout}
	return c.claim(ctx, claim, asking, payments.RecordID{}, func(bool) (*Claim, error) {
		return c.insertPayout(ctx, claim, asking, command)
	})
}

// payable is what the tenant's payouts of a currency are decided by, under their lock.
type payable struct {
	account   payments.Account
	owner     OwnerKey
	held      *heldRecord // the record that the owner key has already
	available int64
	regained  *int64 // of one that the database had lost and Stripe brought back: its amount
}

// insertPayout decides under the lock, then inserts the key and, unless the owner key has a record already, the record and the payout. It returns nil
// when the key exists after all.
func (c *Commands) insertPayout(ctx context.Context, claim Claim, asking Asking, command payments.PayoutCommand) (*Claim, error) {
	var claimed *Claim
	err := postgres.InTransaction(ctx, c.pool, func(tx pgx.Tx) error {
		claimed = nil
		at, err := lockPayable(ctx, tx, asking.Tenant, command)
		if err != nil {
			return err
		}
		if err := at.judge(command, asking.Normalised); err != nil {
			return err
		}
		claim := claim
		claim.Record, claim.Outcome = RecordID(asking.Tenant, payments.OperationPayout, at.owner), Acquired
		inserted, err := c.insertPayoutRows(ctx, tx, claim, asking, command, at)
		if err != nil || !inserted {
			return err
		}
		if at.held != nil {
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

// lockPayable takes the lock of what the tenant has in the currency, before the transaction's first write, and reads how much that is: in a statement
// of its own, since what was committed while the lock was waited for is invisible to the one that waited. Ledger and reservations are read in one
// statement: a payout that is posted meanwhile leaves the one and enters the other in one commit.
func lockPayable(ctx context.Context, tx pgx.Tx, tenant payments.TenantID, command payments.PayoutCommand) (payable, error) {
	var at payable
	account := LedgerAccountID(tenant, receivable, command.Currency)
	err := postgres.ForTenant(ctx, tx, tenant.UUID, func(batch *pgx.Batch) {
		batch.Queue(`SELECT pg_advisory_xact_lock($1)`, int64(binary.BigEndian.Uint64(account[:8])))
		batch.Queue(`SELECT account, livemode FROM payonce.tenants WHERE id = $1`, tenant.UUID).QueryRow(func(row pgx.Row) error {
			return row.Scan(&at.account.ID, &at.account.Livemode)
		})
	})
	if err != nil {
		return payable{}, fmt.Errorf("lock what can be paid out: %w", err)
	}
	at.owner = PayoutOwnerKey(at.account.ID, command.Currency, command.Reference)
	var held heldRecord
	err = tx.QueryRow(ctx, `SELECT request_hash, request_hash_version, status FROM payonce.idempotency_records WHERE id = $1`,
		RecordID(tenant, payments.OperationPayout, at.owner).UUID).Scan(&held.hash, &held.version, &held.status)
	switch {
	case err == nil:
		at.held = &held
		return at, nil
	case !errors.Is(err, pgx.ErrNoRows):
		return payable{}, fmt.Errorf("read record: %w", err)
	}
	err = tx.QueryRow(ctx, selectPayable, account, tenant.UUID, command.Currency, PayoutID(tenant, at.owner).UUID).Scan(&at.available, &at.regained)
	if err != nil {
		return payable{}, fmt.Errorf("read what can be paid out: %w", err)
	}
	return at, nil
}

// selectPayable is the account's balance, from its roll-up and the entries after it, less what is reserved and not posted; and the amount of a payout of the
// command's own id that no command holds: it was made before the database was restored.
const selectPayable = `
	SELECT (coalesce(r.balance, 0)
		+ coalesce((SELECT sum(e.amount) FROM payonce.ledger_entries e
			WHERE e.account = a.id AND (e.epoch, e.xid) >= (coalesce(r.epoch, 0), coalesce(r.xid, '0'::xid8))), 0)
		- coalesce((SELECT sum(p.amount) FROM payonce.payouts p
			WHERE p.tenant = $2 AND p.currency = $3 AND NOT p.moved AND p.status NOT IN ('failed', 'canceled')), 0))::bigint,
		(SELECT p.amount FROM payonce.payouts p WHERE p.id = $4 AND p.record IS NULL)
	FROM (SELECT $1::uuid AS id) a LEFT JOIN payonce.ledger_rollups r ON r.account = a.id`

// judge says whether the payout may be claimed.
func (at payable) judge(command payments.PayoutCommand, normalised Normalised) error {
	switch {
	case at.held != nil && at.held.differs(normalised):
		return &ConflictError{Code: ConflictReference, Detail: "Another payout has this reference: read the list of payouts."}
	case at.regained != nil && command.Amount != *at.regained:
		return &ConflictError{Code: ConflictReference, Detail: fmt.Sprintf("It was made at Stripe before, of %d.", *at.regained)}
	case at.held == nil && at.regained == nil && command.Amount > at.available:
		return &ConflictError{Code: ConflictAmountTooLarge, Detail: fmt.Sprintf("%d can be paid out.", max(at.available, 0))}
	default:
		return nil
	}
}

// insertPayoutRows inserts the key, and the record and the payout where there is none; false when the key is there already.
func (c *Commands) insertPayoutRows(ctx context.Context, tx pgx.Tx, claim Claim, asking Asking, command payments.PayoutCommand, at payable,
) (inserted bool, err error) {
	sealed, err := c.sealer.Seal(ColumnCommand, asking.Normalised.JSON)
	if err != nil {
		return false, err
	}
	metadata := command.Metadata
	if metadata == nil {
		metadata = map[string]string{}
	}
	id := PayoutID(asking.Tenant, at.owner)
	call := ProviderKey{Tenant: asking.Tenant, ResourceKind: ResourcePayout, ResourceID: id.UUID, Operation: payments.OperationPayout, Attempt: 1}
	err = postgres.ForTenant(ctx, tx, asking.Tenant.UUID, func(batch *pgx.Batch) {
		batch.Queue(claimPayout,
			asking.Tenant.UUID, claim.Operation, string(asking.Key), asking.Normalised.Hash.Sum[:], asking.Normalised.Hash.Version, // 1-5
			claim.Record.UUID, string(at.owner), call.IdempotencyKey(), sealed, id.UUID, // 6-10
			at.held == nil, c.timing.ReplayWindow, asking.AttendedFor, c.timing.WakeAfter, // 11-14
			command.Reference, command.Amount, command.Currency, command.Description, metadata, // 15-19
			at.account.ID, at.account.Livemode, ResourcePayout, at.regained != nil, // 20-23
		).QueryRow(func(row pgx.Row) error { return row.Scan(&inserted) })
	})
	if err != nil {
		return false, fmt.Errorf("claim %s: %w", claim.Operation, err)
	}
	return inserted, nil
}

const claimPayout = `
	WITH at AS MATERIALIZED (SELECT payonce.clock() AS now),
	key AS (
		INSERT INTO payonce.idempotency_keys
			(tenant, operation, caller_key, request_hash, request_hash_version, record, created_at, expires_at)
		SELECT $1, $2, $3, $4, $5, $6, now, now + $12::interval FROM at
		ON CONFLICT DO NOTHING RETURNING record),
	record AS (
		INSERT INTO payonce.idempotency_records
			(id, tenant, operation, owner_key, idempotency_key, request_hash, request_hash_version, command, status,
			 resource_kind, resource_id, attended_until, asked_by, next_wake_at, created_at)
		SELECT $6, $1, $2, $7, $8, $4, $5, $9, 'in_progress',
			$22, $10, now + $13::interval, 'caller', now + $14::interval, now
		FROM at, key WHERE $11),
	taken_up AS (
		UPDATE payonce.payouts p SET record = $6, reference = $15, description = $18, metadata = $19
		FROM key WHERE p.id = $10 AND p.record IS NULL AND $11 AND $23),
	payout AS (
		INSERT INTO payonce.payouts
			(id, tenant, record, reference, amount, currency, description, metadata, status, stage, submitted_at, account, livemode, created_at, updated_at)
		SELECT $10, $1, $6, $15, $16, $17, $18, $19, 'submitted', 'submitted', now, $20, $21, now, now
		FROM at, key WHERE $11 AND NOT $23)
	SELECT EXISTS (SELECT FROM key)`

// PayoutID is the id of the payout that the command of an owner key makes.
func PayoutID(tenant payments.TenantID, owner OwnerKey) payments.PayoutID {
	return payments.PayoutID{UUID: ResourceID(tenant, payments.OperationPayout, owner)}
}

// ExternalPayoutID is the id of a payout that was made elsewhere.
func ExternalPayoutID(tenant payments.TenantID, account payments.Account, payout string) payments.PayoutID {
	return payments.PayoutID{UUID: derive("external payout", tenant.String(), account.ID, mode(account.Livemode), payout)}
}

// PayoutWorkflowID is the workflow that runs a payout.
func PayoutWorkflowID(payout payments.PayoutID) string { return "payout/" + payout.String() }

// paymentOf is the payment's id for a column that is null where there is none.
func paymentOf(payment payments.PaymentID) *uuid.UUID {
	if payment == (payments.PaymentID{}) {
		return nil
	}
	return &payment.UUID
}
