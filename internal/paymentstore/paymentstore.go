// Package paymentstore reads the payments table into payments.Payment.
//
// It may import payments, internal/postgres, internal/seal and pgx. It changes nothing: the create command's claim inserts a
// payment and activities/apply.go changes it.
package paymentstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"payonce/internal/seal"
	"payonce/payments"
)

// Sealed columns, as seal names them.
const (
	ColumnReceiptEmail = "payments.receipt_email"
	ColumnClientSecret = "payments.client_secret"
	ColumnNextAction   = "payments.next_action"
)

// ErrNotFound says that the tenant has no such payment.
var ErrNotFound = errors.New("no such payment")

// Querier is a pool, a connection or a transaction.
type Querier interface {
	QueryRow(ctx context.Context, sql string, arguments ...any) pgx.Row
}

const columns = openColumns + `, p.receipt_email, p.client_secret, p.next_action`

// openColumns are those that are not sealed.
const openColumns = `p.id, p.tenant, p.reference, p.attempt, p.replaces, p.account, p.livemode, p.amount, p.currency, p.capture_method,
	p.description, p.metadata, p.status, p.stage, p.submitted_at, p.external_resource_created_at,
	p.processing_at, p.terminal_at, p.ledger_applied_at, coalesce(p.intent_id, ''),
	coalesce(p.latest_charge, ''), p.amount_capturable, p.amount_captured, p.amount_refunded, p.last_error, p.failure,
	p.read_begun_at, p.last_command, p.last_message, p.review_reason, p.review_since, p.review_evidence, p.created_at, p.updated_at,
	p.abandon_at, p.multicapture, p.hold_expiry, p.amount_held, p.capture_before, p.hold_due_at, p.hold_warned, p.destinations`

// SelectByID reads one payment by $1, its id; the caller appends a tenant filter or a lock.
const SelectByID = `SELECT ` + columns + ` FROM payonce.payments p WHERE p.id = $1`

// Get reads the tenant's payment, or ErrNotFound.
func Get(ctx context.Context, db Querier, sealer *seal.Sealer, tenant payments.TenantID, id payments.PaymentID) (payments.Payment, error) {
	return Scan(db.QueryRow(ctx, SelectByID+` AND p.tenant = $2`, id.UUID, tenant.UUID), sealer)
}

// ByID reads a payment of any tenant, or ErrNotFound; for the system role.
func ByID(ctx context.Context, db Querier, sealer *seal.Sealer, id payments.PaymentID) (payments.Payment, error) {
	return Scan(db.QueryRow(ctx, SelectByID, id.UUID), sealer)
}

// Lock reads a payment and locks its row to the end of the transaction, or ErrNotFound.
func Lock(ctx context.Context, tx pgx.Tx, sealer *seal.Sealer, id payments.PaymentID) (payments.Payment, error) {
	return Scan(tx.QueryRow(ctx, SelectByID+` FOR NO KEY UPDATE`, id.UUID), sealer)
}

// ByIntent reads the payment that an intent of the account is bound to, or ErrNotFound.
func ByIntent(ctx context.Context, db Querier, sealer *seal.Sealer, account payments.Account, intent string) (payments.Payment, error) {
	return Scan(db.QueryRow(ctx, `SELECT `+columns+` FROM payonce.payments p
		WHERE p.provider = $1 AND p.account = $2 AND p.livemode = $3 AND p.intent_id = $4`,
		payments.Provider, account.ID, account.Livemode, intent), sealer)
}

// Scan reads one row of the columns that SelectByID selects, or ErrNotFound.
func Scan(row pgx.Row, sealer *seal.Sealer) (payments.Payment, error) {
	var email, clientSecret, nextAction []byte
	p, err := scan(row, &email, &clientSecret, &nextAction)
	if err != nil {
		return payments.Payment{}, err
	}
	return p, unseal(&p, sealer, email, clientSecret, nextAction)
}

// scan reads one row of openColumns and of further columns, or ErrNotFound.
func scan(row pgx.Row, further ...any) (payments.Payment, error) {
	var (
		p                       payments.Payment
		replaces                *uuid.UUID
		submitted               time.Time
		external, processing    *time.Time
		terminal, ledgerApplied *time.Time
		reviewReason            *string
		reviewSince             *time.Time
		reviewFacts             map[string]any
	)
	err := row.Scan(append([]any{&p.ID.UUID, &p.Tenant.UUID, &p.Reference, &p.Attempt, &replaces, &p.Account.ID, &p.Account.Livemode,
		&p.Money.Amount, &p.Money.Currency, &p.CaptureMethod, &p.Description, &p.Metadata, &p.Status, &p.Stage,
		&submitted, &external, &processing, &terminal, &ledgerApplied, &p.IntentID, &p.LatestCharge,
		&p.AmountCapturable, &p.AmountCaptured, &p.AmountRefunded, &p.LastError, &p.Failure, &p.ReadBegunAt, &p.LastCommand,
		&p.LastMessage, &reviewReason, &reviewSince, &reviewFacts, &p.CreatedAt, &p.UpdatedAt, &p.AbandonAt,
		&p.Multicapture, &p.HoldExpiry, &p.AmountHeld, &p.CaptureBefore, &p.HoldDueAt, &p.HoldWarned, &p.Destinations}, further...)...)
	if errors.Is(err, pgx.ErrNoRows) {
		return payments.Payment{}, ErrNotFound
	}
	if err != nil {
		return payments.Payment{}, fmt.Errorf("read payment: %w", err)
	}
	if replaces != nil {
		p.Replaces = &payments.PaymentID{UUID: *replaces}
	}
	p.Reached = reached(map[payments.Stage]*time.Time{
		payments.StageSubmitted: &submitted, payments.StageExternalResourceCreated: external,
		payments.StageProcessing: processing, payments.StageTerminal: terminal, payments.StageLedgerApplied: ledgerApplied,
	})
	if reviewReason != nil {
		p.Review = &payments.Review{Reason: *reviewReason, Since: *reviewSince, Facts: reviewFacts}
	}
	return p, nil
}

func reached(at map[payments.Stage]*time.Time) map[payments.Stage]time.Time {
	times := make(map[payments.Stage]time.Time, len(at))
	for stage, when := range at {
		if when != nil {
			times[stage] = when.UTC()
		}
	}
	return times
}

func unseal(p *payments.Payment, sealer *seal.Sealer, email, clientSecret, nextAction []byte) error {
	plain, err := sealer.Open(ColumnReceiptEmail, email)
	if err != nil {
		return err
	}
	if plain != nil {
		text := string(plain)
		p.ReceiptEmail = &text
	}
	secret, err := sealer.Open(ColumnClientSecret, clientSecret)
	if err != nil {
		return err
	}
	p.ClientSecret = string(secret)
	action, err := sealer.Open(ColumnNextAction, nextAction)
	if err != nil || action == nil {
		return err
	}
	if err := json.Unmarshal(action, &p.NextAction); err != nil {
		return fmt.Errorf("payment %s: decode next action: %w", p.ID, err)
	}
	return nil
}
