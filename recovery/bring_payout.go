package recovery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/activities"
	"payonce/internal/budget"
	"payonce/internal/paymentstore"
	"payonce/internal/stripeapi"
	"payonce/payments"
)

// payoutBringer brings what Stripe says of payouts to ours, for whoever learnt of it.
type payoutBringer struct {
	pool       *pgxpool.Pool
	activities *activities.Activities
	log        *slog.Logger
}

// bring brings facts of a payout that none of ours is bound to: it is ours by the metadata that we put on it, or was made elsewhere. False: nobody can tell
// whose money it takes.
func (b payoutBringer) bring(ctx context.Context, said stripeapi.Payout, facts ...activities.LearntPayout) (bool, error) {
	tenants, err := b.tenantsOf(ctx, said.Account)
	if err != nil || len(tenants) == 0 {
		return false, err
	}
	tenant, owned := ownerOf(said, tenants)
	if !owned {
		b.log.Error("a payout was made elsewhere from an account that no tenant has alone: quarantined", "account", said.Account.ID, "stripe", said.ID)
		return false, nil
	}
	if named, err := uuid.Parse(said.Metadata[payments.MetadataPayout]); err == nil {
		ours, err := paymentstore.PayoutByID(ctx, b.pool, payments.PayoutID{UUID: named})
		if err != nil && !errors.Is(err, paymentstore.ErrNoPayout) {
			return false, err
		}
		if err == nil && ours.ProviderID == "" && ours.Account == said.Account && ours.Money == said.Money {
			return true, b.activities.ApplyPayout(ctx, ours.ID, facts...)
		}
		if err == nil {
			b.log.Error("Stripe has a payout too many: it names one of ours that it does not fit or that is bound to another",
				"payout", named, "stripe", said.ID)
		} else {
			b.log.Warn("a payout names one of ours that is not here", "payout", named, "stripe", said.ID)
		}
	}
	return true, b.activities.AdoptPayout(ctx, tenant, said, facts...)
}

// untold reads the payout of a balance transaction, unless we hold it as the transaction tells: no event told of it.
func (b payoutBringer) untold(ctx context.Context, account payments.Account, t stripeapi.BalanceTransaction) error {
	held, err := paymentstore.PayoutAtStripe(ctx, b.pool, account, t.Source)
	known := err == nil
	switch {
	case known && (t.Money.Amount < 0 || held.Returned): // it left, or came back, as we know
		return nil
	case err != nil && !errors.Is(err, paymentstore.ErrNoPayout):
		return err
	}
	said, begun, err := b.activities.ReadPayoutAtStripe(ctx, account, t.Source, budget.Reads)
	if err != nil {
		return err
	}
	learnt := activities.LearntPayout{Source: activities.SourcePoll, Payout: &said, BegunAt: begun, EffectiveAt: t.Created}
	if known {
		return b.activities.ApplyPayout(ctx, held.ID, learnt)
	}
	_, err = b.bring(ctx, said, learnt)
	return err
}

// tenantsOf are the tenants of an account; none has that of a platform's customer that is not ours.
func (b payoutBringer) tenantsOf(ctx context.Context, account payments.Account) ([]uuid.UUID, error) {
	rows, err := b.pool.Query(ctx, `SELECT id FROM payonce.tenants WHERE provider = $1 AND account = $2 AND livemode = $3`,
		payments.Provider, account.ID, account.Livemode)
	if err != nil {
		return nil, fmt.Errorf("find the tenants of a payout: %w", err)
	}
	tenants, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return nil, fmt.Errorf("find the tenants of a payout: %w", err)
	}
	return tenants, nil
}

// ownerOf is whose money a payout takes: the tenant that its metadata name, else the only one of the account.
func ownerOf(said stripeapi.Payout, tenants []uuid.UUID) (payments.TenantID, bool) {
	for _, tenant := range tenants {
		if said.Metadata[payments.MetadataTenant] == tenant.String() || len(tenants) == 1 {
			return payments.TenantID{UUID: tenant}, true
		}
	}
	return payments.TenantID{}, false
}
