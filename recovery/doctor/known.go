package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"payonce/payments"
	"payonce/stripesim/control"
)

// paymentRow is what our side says of a payment, beside Stripe's books.
type paymentRow struct {
	ID        uuid.UUID
	Tenant    uuid.UUID
	Intent    string
	Status    payments.Status
	Amount    int64
	Currency  string
	UpdatedAt time.Time
	Review    bool
	Position  int64 // on stripe:receivable and, for known fees and what was exchanged, fees:stripe and fx:…; from the entries
	Captured  int64
	Confirms  int   // attempts whose confirm was frozen
	Captures  int   // captures that were frozen
	Held      int64 // on the pending side; from the entries
	SeenTo    bool  // it is noted when Stripe lets the hold go

	Refunds  []refundRow  `db:"-"`
	Disputes []disputeRow `db:"-"`
}

func (p paymentRow) String() string { return "payment " + p.ID.String() }

// known is what this database knows of a page of Stripe's books.
type known struct {
	byIntent map[string]paymentRow
	byID     map[uuid.UUID]paymentRow
	tenants  map[uuid.UUID]bool
}

func (e *examiner) known(ctx context.Context, account payments.Account, books []control.Book) (known, error) {
	k := known{byIntent: map[string]paymentRow{}, byID: map[uuid.UUID]paymentRow{}}
	var intents []string
	var named, tenants []uuid.UUID
	for _, book := range books {
		intents = append(intents, book.ID)
		named = append(named, metadataID(book, payments.MetadataPayment))
		tenants = append(tenants, metadataID(book, payments.MetadataTenant))
	}
	rows, err := collect[paymentRow](ctx, e, `
		SELECT p.id, p.tenant, coalesce(p.intent_id, ''), p.status, p.amount, p.currency, p.updated_at, p.review_reason IS NOT NULL,
			(SELECT coalesce(sum(n.amount), 0)::bigint FROM payonce.ledger_journals j
			 JOIN payonce.ledger_entries n ON n.journal = j.id JOIN payonce.ledger_accounts a ON a.id = n.account
			 WHERE j.payment = p.id AND j.phase = 'posted' AND (a.name IN ('stripe:receivable', 'fees:stripe') OR a.name LIKE 'fx:%') AND n.currency = p.currency),
			p.amount_captured,
			(SELECT count(DISTINCT c.attempt) FROM payonce.provider_calls c WHERE c.payment = p.id AND c.operation = 'confirm_payment'),
			(SELECT count(DISTINCT (c.resource_id, c.attempt)) FROM payonce.provider_calls c WHERE c.payment = p.id AND c.operation = 'capture_payment'),
			(SELECT coalesce(sum(n.amount), 0)::bigint FROM payonce.ledger_journals j
			 JOIN payonce.ledger_entries n ON n.journal = j.id JOIN payonce.ledger_accounts a ON a.id = n.account
			 WHERE j.payment = p.id AND a.name = 'stripe:receivable:pending' AND n.currency = p.currency),
			p.capture_before IS NOT NULL
		FROM payonce.payments p
		WHERE p.id IN (
			SELECT b.id FROM payonce.payments b
			WHERE b.provider = 'stripe' AND b.account = $1 AND b.livemode = $2 AND b.intent_id = ANY($3)
			UNION SELECT unnest($4::uuid[]))`, account.ID, account.Livemode, intents, named)
	if err != nil {
		return k, fmt.Errorf("read payments: %w", err)
	}
	refunds, err := e.refundsOf(ctx, rows)
	if err != nil {
		return k, err
	}
	disputes, err := e.disputesOf(ctx, rows)
	if err != nil {
		return k, err
	}
	for _, row := range rows {
		row.Refunds, row.Disputes = refunds[row.ID], disputes[row.ID]
		k.byID[row.ID] = row
		if row.Intent != "" {
			k.byIntent[row.Intent] = row
		}
	}
	k.tenants, err = e.tenants(ctx, tenants)
	return k, err
}

// tenants are those of the ids that are tenants of this database.
func (e *examiner) tenants(ctx context.Context, ids []uuid.UUID) (map[uuid.UUID]bool, error) {
	found, err := e.Owner.Query(ctx, `SELECT id FROM payonce.tenants WHERE id = ANY($1)`, ids)
	if err != nil {
		return nil, fmt.Errorf("read tenants: %w", err)
	}
	held, err := pgx.CollectRows(found, pgx.RowTo[uuid.UUID])
	if err != nil {
		return nil, fmt.Errorf("read tenants: %w", err)
	}
	tenants := map[uuid.UUID]bool{}
	for _, tenant := range held {
		tenants[tenant] = true
	}
	return tenants, nil
}

// collect reads all rows of a bounded statement.
func collect[T any](ctx context.Context, e *examiner, sql string, arguments ...any) ([]T, error) {
	found, err := e.Owner.Query(ctx, sql, arguments...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(found, pgx.RowToStructByPos[T])
}
