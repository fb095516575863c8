package paymentstore

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"payonce/internal/postgres"
	"payonce/payments"
)

// Position is the place of a payment in a list. It never changes, so a page that begins after it is the same page however
// many payments were created meanwhile.
type Position struct {
	CreatedAt time.Time // to the microsecond, as the database keeps it
	ID        payments.PaymentID
}

// Filter says which payments a list holds; the zero value of a field asks nothing.
type Filter struct {
	Reference     string
	Status        payments.Status
	CreatedAfter  *time.Time // created then or later
	CreatedBefore *time.Time // created earlier
	After         *Position  // what comes behind it, that is to say was created earlier
}

// List reads at most limit payments of the tenant, the newest first, without what is sealed: neither e-mail nor client secret.
func List(ctx context.Context, db postgres.Batcher, tenant payments.TenantID, filter Filter, limit int) ([]payments.Payment, error) {
	query := filter.query(tenant, limit)
	var found []payments.Payment
	err := postgres.ForTenant(ctx, db, tenant.UUID, func(batch *pgx.Batch) {
		batch.Queue(query.sql, query.arguments...).Query(func(rows pgx.Rows) (err error) {
			found, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (payments.Payment, error) { return scan(row) })
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list payments: %w", err)
	}
	return found, nil
}

// query holds only the conditions that are asked, so that each kind of list has a plan of its own.
func (f Filter) query(tenant payments.TenantID, limit int) query {
	var q query
	q.add(`SELECT `+openColumns+` FROM payonce.payments p WHERE p.tenant = ?`, tenant.UUID)
	if f.Reference != "" {
		q.add(` AND p.reference = ?`, f.Reference)
	}
	if f.Status != "" {
		q.add(` AND p.status = ?`, f.Status)
	}
	if f.Status != "" && f.Status != payments.StatusSucceeded {
		q.add(` AND p.status <> 'succeeded'`) // which the index of the others asks for
	}
	if f.CreatedAfter != nil {
		q.add(` AND p.created_at >= ?`, *f.CreatedAfter)
	}
	if f.CreatedBefore != nil {
		q.add(` AND p.created_at < ?`, *f.CreatedBefore)
	}
	if f.After != nil {
		q.add(` AND (p.created_at, p.id) < (?, ?)`, f.After.CreatedAt, f.After.ID.UUID)
	}
	q.add(` ORDER BY p.created_at DESC, p.id DESC LIMIT ?`, limit)
	return q
}

// query is a statement and its arguments.
type query struct {
	sql       string
	arguments []any
}

// add appends text, in which each ? stands for the next of the values.
func (q *query) add(text string, values ...any) {
	for _, value := range values {
		q.arguments = append(q.arguments, value)
		text = strings.Replace(text, "?", "$"+strconv.Itoa(len(q.arguments)), 1)
	}
	q.sql += text
}
