package activities

import (
	"context"
	"errors"

	"payonce/internal/budget"
	"payonce/internal/stripeapi"
	"payonce/internal/tenants"
	"payonce/payments"
)

// TransactionsAtStripe lists a page of an account's balance transactions, as what waits longest: commands and reads go first. It answers false, and
// nothing, when the account is stopped or its calls are used up.
func (a *Activities) TransactionsAtStripe(ctx context.Context, account payments.Account, which stripeapi.Transactions,
) (stripeapi.TransactionPage, bool, error) {
	credentials, err := a.credentials(ctx, account)
	if errors.Is(err, tenants.ErrAccountStopped) {
		return stripeapi.TransactionPage{}, false, nil
	}
	if err != nil {
		return stripeapi.TransactionPage{}, false, err
	}
	err = a.mayRead(ctx, account, budget.ListTransactions, budget.Backlog)
	if errors.Is(err, errLimited) {
		return stripeapi.TransactionPage{}, false, nil
	}
	if err != nil {
		return stripeapi.TransactionPage{}, false, err
	}
	listing, cancel := context.WithTimeout(ctx, a.Timing.Send)
	defer cancel()
	page, err := a.Stripe.ListTransactions(listing, credentials, which)
	return page, err == nil, a.refusedAccount(ctx, account, err)
}
