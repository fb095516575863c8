package tenants

import (
	"context"
	"fmt"

	"payonce/payments"
)

// CallLimits are how many calls a second go to Stripe for an account; more than 0 and at most 10,000 each.
type CallLimits struct {
	PerSecond            float64 // in all
	PerSecondPerEndpoint float64 // to one endpoint, as creates or reads
}

// DefaultCallLimits stay below what Stripe publishes, so that other users of the account have a share: 100 calls a second in live mode and 25 in test
// mode, and 25 to one endpoint (https://docs.stripe.com/rate-limits). Stripe raises them for an account that asks.
func DefaultCallLimits(livemode bool) CallLimits {
	if livemode {
		return CallLimits{PerSecond: 80, PerSecondPerEndpoint: 20}
	}
	return CallLimits{PerSecond: 20, PerSecondPerEndpoint: 20}
}

// LimitCalls sets the limits of an account, for the calls from now on; nil keeps what is set. ErrNotFound when there is no such account. For the system
// role.
func LimitCalls(ctx context.Context, db DB, account payments.Account, perSecond, perSecondPerEndpoint *float64) error {
	for _, rate := range []*float64{perSecond, perSecondPerEndpoint} {
		if rate != nil && !(*rate > 0 && *rate <= 10_000) {
			return fmt.Errorf("%g calls per second: must be more than 0 and at most 10000", *rate)
		}
	}
	tag, err := db.Exec(ctx, `UPDATE payonce.provider_accounts
		SET calls_per_second = coalesce($3, calls_per_second), calls_per_second_per_endpoint = coalesce($4, calls_per_second_per_endpoint)
		WHERE provider = 'stripe' AND account = $1 AND livemode = $2`, account.ID, account.Livemode, perSecond, perSecondPerEndpoint)
	if err != nil {
		return fmt.Errorf("limit calls: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return fmt.Errorf("account %s, livemode %t: %w", account.ID, account.Livemode, ErrNotFound)
	}
	return nil
}
