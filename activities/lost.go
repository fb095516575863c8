package activities

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"payonce/internal/stripeapi"
	"payonce/payments"
)

// querier is a pool or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, arguments ...any) pgx.Row
}

// lostRefund is the id of the refund of ours that this database lost when it was restored, if Stripe's refund names one of the payment: it is taken up under
// that id, so that its caller's repeat finds it.
func lostRefund(ctx context.Context, tx querier, p payments.Payment, said stripeapi.Refund) (payments.RefundID, bool, error) {
	if said.Metadata[payments.MetadataPayment] != p.ID.String() || said.Metadata[payments.MetadataTenant] != p.Tenant.String() {
		return payments.RefundID{}, false, nil
	}
	id, lost, err := lostAs(ctx, tx, said.Metadata[payments.MetadataRefund], "refunds")
	return payments.RefundID{UUID: id}, lost, err
}

// lostPayout is the id of the payout of ours that this database lost when it was restored, if Stripe's payout names one.
func lostPayout(ctx context.Context, db querier, said stripeapi.Payout) (payments.PayoutID, bool, error) {
	id, lost, err := lostAs(ctx, db, said.Metadata[payments.MetadataPayout], "payouts")
	return payments.PayoutID{UUID: id}, lost, err
}

// lostAs tells whether what is named is an id that the table does not have, in a database that was restored once.
func lostAs(ctx context.Context, db querier, named, table string) (id uuid.UUID, lost bool, err error) {
	if id, err = uuid.Parse(named); err != nil {
		return uuid.Nil, false, nil //nolint:nilerr // it names nothing
	}
	err = db.QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM payonce.restores) AND NOT EXISTS (SELECT FROM payonce.`+table+` WHERE id = $1)`, id).Scan(&lost)
	if err != nil {
		return uuid.Nil, false, fmt.Errorf("read whether %s lacks %s: %w", table, id, err)
	}
	return id, lost, nil
}
