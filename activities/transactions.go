package activities

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"payonce/internal/budget"
	"payonce/internal/stripeapi"
	"payonce/internal/tenants"
	"payonce/payments"
)

// TransactionsAtStripe lists a page of an account's balance transactions, as what waits longest: commands and reads go first. It answers false, and
// nothing, when the account is stopped or its calls are used up.
func (a *Activities) TransactionsAtStripe(ctx context.Context, account payments.Account, which stripeapi.Transactions,
) (stripeapi.TransactionPage, bool, error) {
	return listed(ctx, a, account, budget.ListTransactions, func(ctx context.Context, credentials stripeapi.Credentials) (stripeapi.TransactionPage, error) {
		return a.Stripe.ListTransactions(ctx, credentials, which)
	})
}

// listed lists a page for what waits longest. It answers false, and nothing, when the account is stopped or its calls are used up. A key that may not list
// (403, as of a restricted key: https://docs.stripe.com/keys) may do all else: that stops nobody.
func listed[Page any](ctx context.Context, a *Activities, account payments.Account, endpoint budget.Endpoint,
	list func(context.Context, stripeapi.Credentials) (Page, error),
) (page Page, goes bool, err error) {
	credentials, err := a.credentials(ctx, account)
	if errors.Is(err, tenants.ErrAccountStopped) {
		return page, false, nil
	}
	if err != nil {
		return page, false, err
	}
	err = a.mayRead(ctx, account, endpoint, budget.Backlog)
	if errors.Is(err, errLimited) {
		return page, false, nil
	}
	if err != nil {
		return page, false, err
	}
	listing, cancel := context.WithTimeout(ctx, a.Timing.Send)
	defer cancel()
	page, err = list(listing, credentials)
	var refusal *stripeapi.Error
	if errors.As(err, &refusal) && refusal.Status == http.StatusForbidden {
		return page, false, fmt.Errorf("the key of %s may not list %s: %w", account.ID, endpoint, err)
	}
	return page, err == nil, a.refusedAccount(ctx, account, err)
}
