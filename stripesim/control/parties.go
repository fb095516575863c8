package control

import (
	"context"
	"time"
)

// Party is a customer or a connected account in the books.
type Party struct {
	Seq      int64             `json:"seq"`
	ID       string            `json:"id"`
	Account  string            `json:"account"` // whose it is; of a connected account the platform's
	Livemode bool              `json:"livemode"`
	Deleted  bool              `json:"deleted,omitempty"`
	Metadata map[string]string `json:"metadata"`
	Created  time.Time         `json:"created"` // the twin's clock, whole seconds
}

// AllCustomers reads every customer, deleted ones too, in order of creation; an empty account means all.
func (c *Client) AllCustomers(ctx context.Context, account string) ([]Party, error) {
	return c.parties(ctx, "/_twin/customers", account)
}

// AllConnectedAccounts reads every connected account, in order of creation; an empty account means all.
func (c *Client) AllConnectedAccounts(ctx context.Context, account string) ([]Party, error) {
	return c.parties(ctx, "/_twin/connected_accounts", account)
}

func (c *Client) parties(ctx context.Context, path, account string) ([]Party, error) {
	return all(func(after int64) ([]Party, error) {
		values := page(after, 0)
		if account != "" {
			values.Set("account", account)
		}
		return list[Party](ctx, c, path, values)
	}, func(p Party) int64 { return p.Seq })
}
