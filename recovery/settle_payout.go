package recovery

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"payonce/activities"
	"payonce/internal/budget"
	"payonce/internal/paymentstore"
	"payonce/internal/stripeapi"
	"payonce/payments"
)

// kindPayout is what Stripe's payouts call themselves. Their events name no payment intent.
const kindPayout = "payout"

// settlePayouts brings the events of one payout of Stripe's to ours. What they say of one that we hold in that status is applied from the event, and so is
// its end; for anything else it is read at Stripe, once for all of them.
func (a *Applier) settlePayouts(ctx context.Context, events []namedEvent) error {
	account, id := events[0].account(), events[0].said.Object
	held, err := paymentstore.PayoutAtStripe(ctx, a.Pool, account, id)
	if err != nil && !errors.Is(err, paymentstore.ErrNoPayout) {
		return err
	}
	known := err == nil
	facts := make([]activities.LearntPayout, len(events))
	var read *activities.LearntPayout
	for i := range events {
		event := events[i]
		if said := event.said.Payout; known && said != nil && (string(said.Status) == string(held.Status) || payments.PayoutStatus(said.Status).CameBack()) {
			facts[i] = activities.LearntPayout{Payout: said, EffectiveAt: event.said.Created}
		} else {
			if read == nil {
				said, begun, err := a.Activities.ReadPayoutAtStripe(ctx, account, id, budget.Reads)
				if err != nil {
					return err
				}
				read = &activities.LearntPayout{Payout: &said, BegunAt: begun}
			}
			facts[i] = *read
			facts[i].EffectiveAt = event.said.Created
		}
		facts[i].Source, facts[i].Event = activities.SourceEvent, &events[i].ID
	}
	if known {
		return a.Activities.ApplyPayout(ctx, held.ID, facts...)
	}
	return a.settleNewPayout(ctx, events, *facts[0].Payout, facts)
}

// settleNewPayout settles events of a payout that none of ours is bound to: it is ours by the metadata that we put on it, or was made elsewhere.
func (a *Applier) settleNewPayout(ctx context.Context, events []namedEvent, said stripeapi.Payout, facts []activities.LearntPayout) error {
	tenant, owned, err := a.tenantOfPayout(ctx, said)
	if err != nil {
		return err
	}
	named, err := uuid.Parse(said.Metadata[payments.MetadataPayout])
	if err == nil && owned {
		ours, err := paymentstore.PayoutByID(ctx, a.Pool, payments.PayoutID{UUID: named})
		switch {
		case errors.Is(err, paymentstore.ErrNoPayout): // adopted: who made it for us is not known any more
		case err != nil:
			return err
		case ours.ProviderID == "" && ours.Account == said.Account && ours.Money == said.Money:
			return a.Activities.ApplyPayout(ctx, ours.ID, facts...)
		}
		a.Log.Error("Stripe has a payout too many: it names one of ours that it does not fit, or that is bound to another", "payout", named, "stripe", said.ID)
	}
	if owned {
		return a.Activities.AdoptPayout(ctx, tenant, said, facts...)
	}
	a.Log.Error("a payout was made elsewhere from an account that no tenant has alone: quarantined", "account", said.Account.ID, "stripe", said.ID)
	for _, event := range events {
		if err := a.close(ctx, event.storedEvent, eventQuarantined, "a payout made elsewhere, from an account that no tenant has alone"); err != nil {
			return err
		}
	}
	return nil
}

// tenantOfPayout is whose money a payout takes: the tenant that its metadata name, else the only one of the account. False when there is none, or several.
func (a *Applier) tenantOfPayout(ctx context.Context, said stripeapi.Payout) (payments.TenantID, bool, error) {
	rows, err := a.Pool.Query(ctx, `SELECT id FROM payonce.tenants WHERE provider = $1 AND account = $2 AND livemode = $3`,
		payments.Provider, said.Account.ID, said.Account.Livemode)
	if err != nil {
		return payments.TenantID{}, false, fmt.Errorf("find the tenant of a payout: %w", err)
	}
	tenants, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return payments.TenantID{}, false, fmt.Errorf("find the tenant of a payout: %w", err)
	}
	for _, tenant := range tenants {
		if said.Metadata[payments.MetadataTenant] == tenant.String() {
			return payments.TenantID{UUID: tenant}, true, nil
		}
	}
	if len(tenants) == 1 {
		return payments.TenantID{UUID: tenants[0]}, true, nil
	}
	return payments.TenantID{}, false, nil
}
