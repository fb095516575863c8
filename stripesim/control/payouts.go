package control

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// Payout is a payout in the books.
type Payout struct {
	Seq                       int64             `json:"seq"`
	ID                        string            `json:"id"`
	Account                   string            `json:"account"`
	Livemode                  bool              `json:"livemode"`
	Amount                    int64             `json:"amount"` // minor units
	Currency                  string            `json:"currency"`
	Status                    string            `json:"status"` // Stripe's word
	FailureCode               string            `json:"failure_code,omitempty"`
	BalanceTransaction        string            `json:"balance_transaction"`
	FailureBalanceTransaction string            `json:"failure_balance_transaction,omitempty"` // what gave it back to the balance
	Metadata                  map[string]string `json:"metadata"`
	Created                   time.Time         `json:"created"` // the twin's clock, whole seconds
}

// SettlePayout says what the bank does with a payout.
type SettlePayout struct {
	Status      string `json:"status"`                 // in_transit, paid, failed or canceled; of one that was paid only failed
	FailureCode string `json:"failure_code,omitempty"` // empty = could_not_process
}

// AllPayouts reads every payout, in order of creation; an empty account means all.
func (c *Client) AllPayouts(ctx context.Context, account string) ([]Payout, error) {
	return all(func(after int64) ([]Payout, error) {
		values := page(after, 0)
		if account != "" {
			values.Set("account", account)
		}
		return list[Payout](ctx, c, "/_twin/payouts", values)
	}, func(p Payout) int64 { return p.Seq })
}

// SettlePayout does what the bank does with a payout.
func (c *Client) SettlePayout(ctx context.Context, payout string, how SettlePayout) (Payout, error) {
	return call[Payout](ctx, c, http.MethodPost, "/_twin/payouts/"+url.PathEscape(payout)+"/settle", how)
}
