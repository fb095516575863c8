package stripeapi

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/stripe/stripe-go/v76"

	"payonce/payments"
)

// Party is what the engine needs to know of a customer (https://docs.stripe.com/api/customers/object) or a connected account
// (https://docs.stripe.com/api/accounts/object): who it is. The latter has no mode of its own.
type Party struct {
	ID       string           // cus_… or acct_…
	Account  payments.Account // where it was read
	Metadata map[string]string
	Created  time.Time
}

// ListCustomers lists the customers created within [from, to], newest first; ErrTooMany beyond 2,000. A list call, unlike search, reads its own account's
// writes, so it can prove absence. Deleted customers are in no list.
func (c *Client) ListCustomers(ctx context.Context, credentials Credentials, from, to time.Time) ([]Party, error) {
	customers, err := readAll(ctx, c, credentials, "/v1/customers", createdWithin(from, to), func(c *stripe.Customer) string { return c.ID })
	return mapped(customers, func(c *stripe.Customer) Party { return customerOf(c, credentials.Account) }), err
}

// ListConnectedAccounts is ListCustomers for connected accounts (https://docs.stripe.com/api/accounts/list).
func (c *Client) ListConnectedAccounts(ctx context.Context, credentials Credentials, from, to time.Time) ([]Party, error) {
	accounts, err := readAll(ctx, c, credentials, "/v1/accounts", createdWithin(from, to), func(a *stripe.Account) string { return a.ID })
	return mapped(accounts, func(a *stripe.Account) Party { return connectedAccountOf(a, credentials.Account) }), err
}

func createdWithin(from, to time.Time) url.Values {
	return url.Values{"created[gte]": {strconv.FormatInt(from.Unix(), 10)}, "created[lte]": {strconv.FormatInt(to.Unix()+1, 10)}}
}

func customerOf(from *stripe.Customer, account payments.Account) Party {
	return Party{
		ID: from.ID, Account: payments.Account{ID: account.ID, Livemode: from.Livemode}, Metadata: from.Metadata, Created: moment(from.Created),
	}
}

func connectedAccountOf(from *stripe.Account, account payments.Account) Party {
	return Party{ID: from.ID, Account: account, Metadata: from.Metadata, Created: moment(from.Created)}
}
