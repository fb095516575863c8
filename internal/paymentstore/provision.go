package paymentstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"payonce/payments"
)

// ErrNoProvision says that the tenant has no such customer, connected account or wallet.
var ErrNoProvision = errors.New("no such provision")

// SelectProvisions reads provisions; the caller appends WHERE.
const SelectProvisions = `SELECT p.id, p.tenant, p.kind, p.owner, p.currency, p.network, p.country, p.account, p.livemode, p.record, p.attempt, p.status,
	coalesce(p.provider_id, ''), p.last_error, p.review_reason, p.review_since, p.review_evidence, p.created_at
	FROM payonce.provisions p `

// ProvisionOf reads the provision whose newest command the record is, or ErrNoProvision.
func ProvisionOf(ctx context.Context, db Querier, record payments.RecordID) (payments.Provision, error) {
	return ScanProvision(db.QueryRow(ctx, SelectProvisions+`WHERE p.record = $1`, record.UUID))
}

// ProvisionByID reads a provision of any tenant, or ErrNoProvision; for the system role.
func ProvisionByID(ctx context.Context, db Querier, id payments.ProvisionID) (payments.Provision, error) {
	return ScanProvision(db.QueryRow(ctx, SelectProvisions+`WHERE p.id = $1`, id.UUID))
}

// ScanProvision reads one row of the columns of SelectProvisions, or ErrNoProvision.
func ScanProvision(row pgx.Row) (payments.Provision, error) {
	var (
		p            payments.Provision
		reviewReason *string
		reviewSince  *time.Time
		reviewFacts  map[string]any
	)
	err := row.Scan(&p.ID.UUID, &p.Tenant.UUID, &p.Kind, &p.Owner, &p.Currency, &p.Network, &p.Country, &p.Account.ID, &p.Account.Livemode,
		&p.Record.UUID, &p.Attempt, &p.Status, &p.ProviderID, &p.LastError, &reviewReason, &reviewSince, &reviewFacts, &p.CreatedAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return payments.Provision{}, ErrNoProvision
	}
	if err != nil {
		return payments.Provision{}, fmt.Errorf("read provision: %w", err)
	}
	if reviewReason != nil {
		p.Review = &payments.Review{Reason: *reviewReason, Since: reviewSince.UTC(), Facts: reviewFacts}
	}
	p.CreatedAt = p.CreatedAt.UTC()
	return p, nil
}
