package notifications

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"payonce/boundaries"
	"payonce/internal/seal"
	"payonce/payments"
)

// columnBody is the sealed column of the frozen bytes.
const columnBody = "notifications.body"

// Message is what a tenant is to be told.
type Message struct {
	Tenant   payments.TenantID
	Subject  string // Kind.Subject
	Kind     Kind
	Payment  payments.PaymentID // zero of a payout's
	Payout   payments.PayoutID  // zero of a payment's
	Sequence int                // the next message number of the payment or the payout, from 1; read and raised under its lock
	Body     []byte             // Render
}

func (m Message) validate() error {
	if m.Subject == "" || m.Kind == "" || m.Sequence < 1 || len(m.Body) == 0 || (m.Payment.UUID == uuid.Nil) == (m.Payout.UUID == uuid.Nil) {
		return fmt.Errorf("%w: kind %q, subject %q, sequence %d, %d bytes of body", ErrInvalidMessage, m.Kind, m.Subject, m.Sequence, len(m.Body))
	}
	return nil
}

// Queued counts what became of a message's rows.
type Queued struct {
	Queued     int // rows now waiting to be delivered, one an endpoint
	Suppressed int // endpoints that had the message queued before: a repeat
}

// Enqueue queues the message for each endpoint that the tenant has registered now, in the caller's transaction: it is told if and only if what
// it tells of is committed. The id of a row derives from (tenant, subject, kind, endpoint), so a repeat meets the first row, whose bytes stand.
// A tenant without an endpoint is told nothing, and that is no error.
func Enqueue(ctx context.Context, tx pgx.Tx, sealer *seal.Sealer, message Message) (Queued, error) {
	if err := message.validate(); err != nil {
		return Queued{}, err
	}
	endpoints, err := openEndpoints(ctx, tx, message.Tenant)
	if err != nil {
		return Queued{}, err
	}
	batch, queued := &pgx.Batch{}, Queued{}
	if err := QueueFor(batch, sealer, message, endpoints, &queued); err != nil {
		return Queued{}, err
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return Queued{}, fmt.Errorf("enqueue %s for %s: %w", message.Kind, message.Subject, err)
	}
	return queued, nil
}

// QueueEndpoints queues the reading of the endpoints that the payment's tenant has registered now, for QueueFor in the same transaction.
func QueueEndpoints(batch *pgx.Batch, payment payments.PaymentID, into *[]uuid.UUID) {
	batch.Queue(`
		SELECT e.id FROM payonce.payments p JOIN payonce.notification_endpoints e ON e.tenant = p.tenant
		WHERE p.id = $1 AND e.disabled_at IS NULL`, payment.UUID).Query(func(rows pgx.Rows) (err error) {
		*into, err = pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
		return err
	})
}

// QueueEndpointsOfPayout is QueueEndpoints for a payout.
func QueueEndpointsOfPayout(batch *pgx.Batch, payout payments.PayoutID, into *[]uuid.UUID) {
	batch.Queue(`
		SELECT e.id FROM payonce.payouts p JOIN payonce.notification_endpoints e ON e.tenant = p.tenant
		WHERE p.id = $1 AND e.disabled_at IS NULL`, payout.UUID).Query(func(rows pgx.Rows) (err error) {
		*into, err = pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
		return err
	})
}

// QueueFor queues what Enqueue does, for endpoints read in the same transaction.
func QueueFor(batch *pgx.Batch, sealer *seal.Sealer, message Message, endpoints []uuid.UUID, into *Queued) error {
	*into = Queued{}
	if err := message.validate(); err != nil || len(endpoints) == 0 {
		return err
	}
	body, err := sealer.Seal(columnBody, message.Body)
	if err != nil {
		return err
	}
	ids := make([]uuid.UUID, len(endpoints))
	for i, endpoint := range endpoints {
		ids[i] = boundaries.NotificationID(message.Tenant, message.Subject, string(message.Kind), endpoint)
	}
	batch.Queue(`
		INSERT INTO payonce.notifications
			(id, tenant, subject, kind, endpoint, payment, sequence, body, status, next_try_at, created_at, payout)
		SELECT row.id, $3, $4, $5, row.endpoint, $6, $7, $8, 'queued', clock.now, clock.now, $9
		FROM unnest($1::uuid[], $2::uuid[]) AS row (id, endpoint), (SELECT payonce.clock() AS now) AS clock
		ORDER BY row.id
		ON CONFLICT DO NOTHING`,
		ids, endpoints, message.Tenant.UUID, message.Subject, string(message.Kind), orNull(message.Payment.UUID), message.Sequence, body, orNull(message.Payout.UUID),
	).Exec(func(inserted pgconn.CommandTag) error {
		into.Queued = int(inserted.RowsAffected())
		into.Suppressed = len(endpoints) - into.Queued
		return nil
	})
	return nil
}

// orNull is the id for a column that is null where there is none.
func orNull(id uuid.UUID) *uuid.UUID {
	if id == uuid.Nil {
		return nil
	}
	return &id
}

func openEndpoints(ctx context.Context, tx pgx.Tx, tenant payments.TenantID) ([]uuid.UUID, error) {
	found, err := tx.Query(ctx, `SELECT id FROM payonce.notification_endpoints WHERE tenant = $1 AND disabled_at IS NULL`, tenant.UUID)
	if err != nil {
		return nil, fmt.Errorf("list endpoints: %w", err)
	}
	endpoints, err := pgx.CollectRows(found, pgx.RowTo[uuid.UUID])
	if err != nil {
		return nil, fmt.Errorf("list endpoints: %w", err)
	}
	return endpoints, nil
}
