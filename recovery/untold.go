package recovery

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"payonce/activities"
	"payonce/internal/paymentstore"
	"payonce/internal/stripeapi"
	"payonce/payments"
)

// tell brings to their payments the disputes and refunds that moved the balance and that we do not hold as they are, and to ours the payouts: no event told
// of them. What ended is not read any more, so nothing else would.
func (f *Fees) tell(ctx context.Context, c feeCursor, transactions []stripeapi.BalanceTransaction, owners feeOwners) error {
	held, err := f.heldRefunds(ctx, c.account(), transactions)
	if err != nil {
		return err
	}
	for _, t := range transactions {
		owner, bound := owners.byIntent[t.Intent()]
		payment := payments.PaymentID{UUID: owner.ID}
		switch {
		case strings.HasPrefix(t.Type, kindPayout):
			err = payoutBringer{f.Pool, f.Activities, f.Log}.untold(ctx, c.account(), t)
		case !bound:
		case t.Dispute != nil:
			err = f.Activities.ApplyDisputes(ctx, payment, activities.LearntDispute{
				Source: activities.SourcePoll, Dispute: t.Dispute, BegunAt: c.Now, EffectiveAt: t.Created,
			})
		case t.Refund != nil && held[t.Refund.ID] != string(t.Refund.Status):
			err = f.readRefunds(ctx, payment)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// heldRefunds are the statuses in which we hold the refunds of transactions, by Stripe's id.
func (f *Fees) heldRefunds(ctx context.Context, account payments.Account, transactions []stripeapi.BalanceTransaction) (map[string]string, error) {
	var refunds []string
	for _, t := range transactions {
		if t.Refund != nil {
			refunds = append(refunds, t.Refund.ID)
		}
	}
	held := map[string]string{}
	if len(refunds) == 0 {
		return held, nil
	}
	rows, err := f.Pool.Query(ctx, `SELECT refund_id, status FROM payonce.refunds WHERE account = $1 AND livemode = $2 AND refund_id = ANY ($3)`,
		account.ID, account.Livemode, refunds)
	if err != nil {
		return nil, fmt.Errorf("find refunds: %w", err)
	}
	var id, status string
	_, err = pgx.ForEachRow(rows, []any{&id, &status}, func() error {
		held[id] = status
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("find refunds: %w", err)
	}
	return held, nil
}

// readRefunds reads the refunds of a payment at Stripe and applies each.
func (f *Fees) readRefunds(ctx context.Context, id payments.PaymentID) error {
	payment, err := paymentstore.ByID(ctx, f.Pool, f.Activities.Sealer, id)
	if err != nil {
		return err
	}
	_, err = f.Activities.SyncRefunds(ctx, payment, activities.SourcePoll, nil)
	return err
}
