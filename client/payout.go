package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"github.com/google/uuid"

	"payonce/payments"
)

// Payout is a payout as the API shows it; payments has the words of its status. It belongs to no payment.
type Payout = payments.PayoutView

// PayoutID names a payout.
type PayoutID = payments.PayoutID

const pathPayouts = "/v1/payouts"

// CreatePayout asks to send money that Stripe holds to your bank.
type CreatePayout struct {
	Amount      int64             `json:"amount"`    // minor units
	Currency    payments.Currency `json:"currency"`  // ISO 4217
	Reference   string            `json:"reference"` // yours, for instance a week: two equal payouts have two references
	Description string            `json:"description,omitempty"`
	Metadata    map[string]string `json:"metadata,omitempty"`
}

// PayoutAnswer is what CreatePayout was answered when it was not refused.
type PayoutAnswer struct {
	Payout    Payout // as of the answer, mostly still pending; an old one when Replayed
	Status    int    // HTTP: 201, 200 after the replay window, 202 while unsettled
	Settled   bool   // Stripe has the payout. Otherwise repeat the call with the same key, or AwaitPayout
	Replayed  bool   // the stored answer of an earlier request, byte for byte
	RequestID string // for whoever reads our logs
}

// CreatePayout pays out once per reference and currency, whatever the key. More than there is by the ledger refuses with CodeAmountTooLarge, what Stripe has
// not released yet with CodeProviderRefused. The errors are ErrNoReference and those of CreatePayment.
func (c *Client) CreatePayout(ctx context.Context, key Key, payout CreatePayout) (PayoutAnswer, error) {
	if payout.Reference == "" {
		return PayoutAnswer{}, fmt.Errorf("%w: a payout may rightly be made twice", ErrNoReference)
	}
	if err := checkReference(payout.Reference); err != nil {
		return PayoutAnswer{}, err
	}
	command, err := c.write(pathPayouts, key, payout)
	if err != nil {
		return PayoutAnswer{}, err
	}
	return exchange(ctx, c, *command, reply.payoutAnswer)
}

// Payout reads a payout as it is now. The errors are ErrNoAnswer and *RefusedError.
func (c *Client) Payout(ctx context.Context, id PayoutID) (Payout, error) {
	return exchange(ctx, c, request{method: http.MethodGet, path: pathPayouts + "/" + id.String()}, func(r reply) (Payout, error) {
		if r.status != http.StatusOK {
			return Payout{}, r.refusal()
		}
		return r.payout()
	})
}

// PayoutPage is a part of the list of payouts, the newest first, also those that were made elsewhere.
type PayoutPage struct {
	Payouts []Payout
	Next    string // the cursor of the next page; empty when there is none
}

// Payouts lists a page of at most limit payouts, 1 to 100; zero leaves it to the API. cursor is Next of the page before, or empty. The errors are
// ErrNoAnswer and *RefusedError.
func (c *Client) Payouts(ctx context.Context, limit int, cursor string) (PayoutPage, error) {
	query := url.Values{}
	if limit != 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	path := pathPayouts
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return exchange(ctx, c, request{method: http.MethodGet, path: path}, reply.payoutPage)
}

// AllPayouts goes through every page. It ends with the first error, which is paired with no payout.
func (c *Client) AllPayouts(ctx context.Context) iter.Seq2[Payout, error] {
	return func(yield func(Payout, error) bool) {
		for cursor := ""; ; {
			page, err := c.Payouts(ctx, 0, cursor)
			if err != nil {
				yield(Payout{}, err)
				return
			}
			for _, payout := range page.Payouts {
				if !yield(payout, nil) {
					return
				}
			}
			if page.Next == "" {
				return
			}
			cursor = page.Next
		}
	}
}

// AwaitPayout waits until the payout is over: paid, failed (a refused one too: see LastError) or canceled. It waits as long as the context: a bank takes
// days. One that was paid can still fail, days later; a message tells. The errors are *RefusedError and the context's.
func (c *Client) AwaitPayout(ctx context.Context, id PayoutID) (Payout, error) {
	return poll(ctx, c, func(ctx context.Context) (Payout, error) { return c.Payout(ctx, id) }, func(p Payout) bool { return p.Status.Terminal() })
}

// payoutAnswer reads an answer to CreatePayout.
func (r reply) payoutAnswer() (PayoutAnswer, error) {
	switch r.status {
	case http.StatusOK, http.StatusCreated, http.StatusAccepted:
		payout, err := r.payout()
		return PayoutAnswer{
			Payout: payout, Status: r.status, Settled: r.status != http.StatusAccepted, Replayed: r.replayed(), RequestID: r.requestID(),
		}, err
	default:
		return PayoutAnswer{}, r.refusal()
	}
}

// payout reads a payout. What is none was cut, or written by something between us.
func (r reply) payout() (Payout, error) {
	var payout Payout
	if err := json.Unmarshal(r.body, &payout); err != nil {
		return Payout{}, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	if payout.Object != "payout" || payout.ID.UUID == uuid.Nil {
		return Payout{}, fmt.Errorf("%w: not a payout", errUnreadable)
	}
	return payout, nil
}

func (r reply) payoutPage() (PayoutPage, error) {
	payouts, next, err := readList[Payout](r)
	return PayoutPage{Payouts: payouts, Next: next}, err
}
