package demo

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"payonce/internal/devstack"
	"payonce/payments"
	"payonce/stripesim/control"
)

// heldPayment is a payment of the run as Postgres holds it.
type heldPayment struct {
	ID          uuid.UUID
	Reference   string
	Status      payments.Status
	Stage       payments.Stage
	Amount      int64
	Currency    string
	Captured    int64
	DeclineCode string
	Review      string
	Refunded    int64
	Held        int64
	Refunds     int   // whoever made them, the failed ones included
	ToSellers   int64 // owed to wallets, by its journals
	Dispute     payments.DisputeStatus
	Lost        int64 // by disputes
}

// twinBook is what the twin's books say of a payment: of all intents that carry its metadata, together.
type twinBook struct {
	Intents  int // not canceled
	Charges  int // succeeded
	Declines int
	Captured int64
	Currency string
	Captures int // of holds, by us
	Refunded int64
	Refunds  int // of money that was taken, the failed ones included
	Disputes int
	Lost     int64 // by disputes: withdrawn, and not reinstated
}

// evidence is everything that a verdict is made from besides the outcomes: what Postgres, the twin and the receiver hold of the run.
type evidence struct {
	payments   map[uuid.UUID]heldPayment
	books      map[uuid.UUID]twinBook
	suppressed Suppressed
	facts      []FactCount
	journals   int              // all but those of fees and exchanges, whose time Stripe decides
	ledger     map[string]int64 // position of stripe:receivable per currency, before fees and disputes
	messages   []MessageCount
	payouts    []heldPayout
}

// Suppressed counts the duplicates that each boundary suppressed.
type Suppressed struct {
	Command      int `json:"command"`      // requests that met the record of an earlier one
	Event        int `json:"event"`        // deliveries of an event that was stored already
	Ledger       int `json:"ledger"`       // postings that a fact implied again
	Notification int `json:"notification"` // messages that a fact implied again
}

// FactCount is how many facts of a kind a source brought first.
type FactCount struct {
	Fact   string `json:"fact"`
	Source string `json:"source"`
	Count  int    `json:"count"`
}

// MessageCount is how many messages of a kind stand where.
type MessageCount struct {
	Kind   string `json:"kind"`
	Status string `json:"status"`
	Count  int    `json:"count"`
}

// gather reads the evidence of the run.
func gather(ctx context.Context, stack *devstack.Stack, run int) (evidence, error) {
	found := evidence{}
	var err error
	if found.payments, err = readPayments(ctx, stack, run); err != nil {
		return found, err
	}
	if found.books, err = readBooks(ctx, stack, found.payments); err != nil {
		return found, err
	}
	ids := uuids(found.payments)
	if found.suppressed, err = readSuppressed(ctx, stack, ids); err != nil {
		return found, err
	}
	if found.facts, err = query[FactCount](ctx, stack, `
		SELECT split_part(fact, '/', 1), source, count(*) FROM payonce.payment_facts
		WHERE payment = ANY($1) GROUP BY 1, 2 ORDER BY 1, 2`, ids); err != nil {
		return found, err
	}
	if found.messages, err = query[MessageCount](ctx, stack, `
		SELECT kind, status, count(*) FROM payonce.notifications WHERE payment = ANY($1) GROUP BY 1, 2 ORDER BY 1, 2`, ids); err != nil {
		return found, err
	}
	if found.payouts, err = readPayouts(ctx, stack, run); err != nil {
		return found, err
	}
	return found, readLedger(ctx, stack, ids, &found)
}

func readPayments(ctx context.Context, stack *devstack.Stack, run int) (map[uuid.UUID]heldPayment, error) {
	rows, err := query[heldPayment](ctx, stack, `
		SELECT id, reference, status, stage, amount, currency, amount_captured, coalesce(last_error->>'decline_code', ''), coalesce(review_reason, ''),
			amount_refunded, amount_held, (SELECT count(*) FROM payonce.refunds f WHERE f.payment = payments.id),
			(SELECT coalesce(-sum(e.amount), 0)::bigint FROM payonce.ledger_journals j JOIN payonce.ledger_entries e ON e.journal = j.id
			 JOIN payonce.ledger_accounts a ON a.id = e.account WHERE j.payment = payments.id AND a.name LIKE 'wallet:%'),
			coalesce((SELECT min(d.status) FROM payonce.disputes d WHERE d.payment = payments.id), ''),
			(SELECT coalesce(sum(d.lost), 0)::bigint FROM payonce.disputes d WHERE d.payment = payments.id)
		FROM payonce.payments WHERE tenant = $1 AND starts_with(reference, $2)`, stack.Tenant.UUID, Prefix(run))
	held := make(map[uuid.UUID]heldPayment, len(rows))
	for _, row := range rows {
		held[row.ID] = row
	}
	return held, err
}

// readBooks reads the twin's books of the payments, by the metadata that we put on every intent.
func readBooks(ctx context.Context, stack *devstack.Stack, held map[uuid.UUID]heldPayment) (map[uuid.UUID]twinBook, error) {
	books, err := stack.Twin.AllBooks(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the twin's books: %w", err)
	}
	return bookByPayment(books, held), nil
}

func bookByPayment(books []control.Book, held map[uuid.UUID]heldPayment) map[uuid.UUID]twinBook {
	byPayment := map[uuid.UUID]twinBook{}
	for _, book := range books {
		id, err := uuid.Parse(book.Metadata[payments.MetadataPayment])
		if _, ours := held[id]; err != nil || !ours {
			continue
		}
		sum := byPayment[id]
		if !book.Canceled {
			sum.Intents++
		}
		sum.Charges += book.ChargesSucceeded
		sum.Declines += book.ChargesFailed
		sum.Captured += book.Captured
		sum.Currency = book.Currency
		sum.Captures += book.CapturesExecuted
		sum.Refunded += book.Refunded
		for _, refund := range book.Refunds {
			if !refund.Released {
				sum.Refunds++
			}
		}
		sum.Disputes += len(book.Disputes)
		sum.Lost += book.Disputed - book.Reinstated
		byPayment[id] = sum
	}
	return byPayment
}

func readSuppressed(ctx context.Context, stack *devstack.Stack, ids []uuid.UUID) (Suppressed, error) {
	rows, err := query[Suppressed](ctx, stack, `
		SELECT (SELECT coalesce(sum(suppressed), 0)::int FROM payonce.idempotency_records WHERE payment = ANY($1)),
		       (SELECT coalesce(sum(deliveries - 1), 0)::int FROM payonce.provider_events WHERE payment = ANY($1)),
		       (SELECT coalesce(sum(suppressed_postings), 0)::int FROM payonce.payments WHERE id = ANY($1)),
		       (SELECT coalesce(sum(suppressed_messages), 0)::int FROM payonce.payments WHERE id = ANY($1))`, ids)
	if err != nil {
		return Suppressed{}, err
	}
	return rows[0], nil
}

func readLedger(ctx context.Context, stack *devstack.Stack, ids []uuid.UUID, found *evidence) error {
	type position struct {
		Currency string
		Amount   int64
	}
	positions, err := query[position](ctx, stack, `
		SELECT e.currency, sum(e.amount)::bigint
		FROM payonce.ledger_entries e JOIN payonce.ledger_journals j ON j.id = e.journal JOIN payonce.ledger_accounts a ON a.id = e.account
		WHERE j.payment = ANY($1) AND a.name = 'stripe:receivable' AND j.posting_key NOT LIKE ALL (ARRAY['fee/%', 'fx/%', 'dispute/%']) GROUP BY 1`,
		ids)
	if err != nil {
		return err
	}
	found.ledger = map[string]int64{}
	for _, p := range positions {
		found.ledger[p.Currency] = p.Amount
	}
	journals, err := query[struct{ Count int }](ctx, stack, `
		SELECT count(*) FROM payonce.ledger_journals WHERE payment = ANY($1) AND posting_key NOT LIKE ALL (ARRAY['fee/%', 'fx/%'])`, ids)
	if err != nil {
		return err
	}
	found.journals = journals[0].Count
	return nil
}

func query[T any](ctx context.Context, stack *devstack.Stack, sql string, arguments ...any) ([]T, error) {
	rows, err := stack.Reader.Query(ctx, sql, arguments...)
	if err != nil {
		return nil, fmt.Errorf("gather evidence: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[T])
	if err != nil {
		return nil, fmt.Errorf("gather evidence: %w", err)
	}
	return found, nil
}
