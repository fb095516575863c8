package recovery

import (
	"context"
	"errors"

	"payonce/activities"
	"payonce/internal/budget"
	"payonce/internal/paymentstore"
	"payonce/payments"
)

// kindPayout is what Stripe's payouts call themselves. Their events name no payment intent.
const kindPayout = "payout"

// settlePayouts brings the events of one payout of Stripe's to ours. What they say of one that we hold in that status is applied from the event, and so is
// its end, when it fits; for anything else it is read at Stripe, once for all of them.
func (a *Applier) settlePayouts(ctx context.Context, events []namedEvent) error {
	account, id := events[0].account(), events[0].said.Object
	held, err := paymentstore.PayoutAtStripe(ctx, a.Pool, account, id)
	if err != nil && !errors.Is(err, paymentstore.ErrNoPayout) {
		return err
	}
	known := err == nil
	bringer := payoutBringer{a.Pool, a.Activities, a.Log}
	if !known {
		tenants, err := bringer.tenantsOf(ctx, account)
		if err != nil {
			return err
		}
		if len(tenants) == 0 {
			return a.closeAll(ctx, events, eventForeign, "a payout of an account that no tenant has")
		}
	}
	facts := make([]activities.LearntPayout, len(events))
	var read *activities.LearntPayout
	for i := range events {
		event := events[i]
		said := event.said.Payout
		ours := known && said != nil && activities.FitsPayout(held, *said)
		if ours && (string(said.Status) == string(held.Status) || payments.PayoutStatus(said.Status).CameBack()) {
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
	owned, err := bringer.bring(ctx, *facts[0].Payout, facts...)
	if err != nil || owned {
		return err
	}
	return a.closeAll(ctx, events, eventQuarantined, "a payout made elsewhere, from an account that no tenant has alone")
}

// closeAll closes events of one object.
func (a *Applier) closeAll(ctx context.Context, events []namedEvent, status, reason string) error {
	for _, event := range events {
		if err := a.close(ctx, event.storedEvent, status, reason); err != nil {
			return err
		}
	}
	return nil
}
