package activities

import (
	"context"
	"errors"
	"time"

	"payonce/internal/budget"
	"payonce/internal/paymentstore"
	"payonce/internal/stripeapi"
	"payonce/payments"
)

// ReadDisputeAtStripe reads a dispute and says when the read began.
func (a *Activities) ReadDisputeAtStripe(ctx context.Context, p payments.Payment, dispute string, priority budget.Priority,
) (stripeapi.Dispute, time.Time, error) {
	credentials, err := a.credentials(ctx, p.Account)
	if err != nil {
		return stripeapi.Dispute{}, time.Time{}, err
	}
	if err := a.mayRead(ctx, p.Account, budget.ReadDispute, priority); err != nil {
		return stripeapi.Dispute{}, time.Time{}, err
	}
	begun, err := a.clock(ctx)
	if err != nil {
		return stripeapi.Dispute{}, time.Time{}, err
	}
	reading, cancel := context.WithTimeout(ctx, a.Timing.Send)
	defer cancel()
	said, err := a.Stripe.ReadDispute(reading, credentials, dispute)
	return said, begun, a.refusedAccount(ctx, p.Account, err)
}

// PollDispute reads a dispute that is not decided and applies what it is now: for what no event ever told.
func (a *Activities) PollDispute(ctx context.Context, id payments.DisputeID) error {
	d, err := paymentstore.DisputeByID(ctx, a.Pool, id)
	if err != nil || d.Status.Terminal() {
		return err
	}
	p, err := paymentstore.ByID(ctx, a.Pool, a.Sealer, d.Payment)
	if err != nil {
		return err
	}
	said, begun, err := a.ReadDisputeAtStripe(ctx, p, d.ProviderID, budget.Backlog)
	if errors.Is(err, errLimited) {
		return nil // commands go first, and the next poll is due already
	}
	if err != nil {
		return err
	}
	return a.ApplyDisputes(ctx, d.Payment, LearntDispute{Source: SourcePoll, Dispute: &said, BegunAt: begun, EffectiveAt: begun})
}
