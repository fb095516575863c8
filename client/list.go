package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"payonce/payments"
)

// Filter says which payments to list; what is zero does not filter.
type Filter struct {
	Reference     string          // the attempts of an order
	Status        payments.Status // as it is now
	CreatedAfter  time.Time       // created then or later, to the microsecond
	CreatedBefore time.Time       // created earlier
	Limit         int             // of one page, 1 to 100; zero leaves it to the API
	Cursor        string          // Page.Next of the page before, with the same filter
}

// Page is a part of a list, the newest payment first, each without its client secret.
type Page struct {
	Payments []Payment
	Next     string // the cursor of the next page; empty when there is none
}

// Payments lists a page of payments. A payment that is created meanwhile moves none from page to page. The errors are ErrNoAnswer and *RefusedError.
func (c *Client) Payments(ctx context.Context, filter Filter) (Page, error) {
	path := pathPayments
	if query := filter.query().Encode(); query != "" {
		path += "?" + query
	}
	return exchange(ctx, c, request{method: http.MethodGet, path: path}, reply.page)
}

// AllPayments goes through every page. It ends with the first error, which is paired with no payment.
func (c *Client) AllPayments(ctx context.Context, filter Filter) iter.Seq2[Payment, error] {
	return func(yield func(Payment, error) bool) {
		for {
			page, err := c.Payments(ctx, filter)
			if err != nil {
				yield(Payment{}, err)
				return
			}
			for _, payment := range page.Payments {
				if !yield(payment, nil) {
					return
				}
			}
			if page.Next == "" {
				return
			}
			filter.Cursor = page.Next
		}
	}
}

func (f Filter) query() url.Values {
	query := url.Values{}
	set := func(name, value string, given bool) {
		if given {
			query.Set(name, value)
		}
	}
	set("reference", f.Reference, f.Reference != "")
	set("status", string(f.Status), f.Status != "")
	set("created_after", f.CreatedAfter.UTC().Format(time.RFC3339Nano), !f.CreatedAfter.IsZero())
	set("created_before", f.CreatedBefore.UTC().Format(time.RFC3339Nano), !f.CreatedBefore.IsZero())
	set("limit", strconv.Itoa(f.Limit), f.Limit != 0)
	set("cursor", f.Cursor, f.Cursor != "")
	return query
}

// page reads a page.
func (r reply) page() (Page, error) {
	payments, next, err := readList[Payment](r)
	return Page{Payments: payments, Next: next}, err
}

// readList reads a list, or a page of one. One that says that there is more and not where was written by something between us.
func readList[T any](r reply) (data []T, next string, err error) {
	if r.status != http.StatusOK {
		return nil, "", r.refusal()
	}
	var list struct {
		Object     string `json:"object"`
		Data       []T    `json:"data"`
		HasMore    bool   `json:"has_more"`
		NextCursor string `json:"next_cursor"`
	}
	if err := json.Unmarshal(r.body, &list); err != nil {
		return nil, "", fmt.Errorf("%w: %w", errUnreadable, err)
	}
	if list.Object != "list" || list.HasMore != (list.NextCursor != "") {
		return nil, "", fmt.Errorf("%w: not a list", errUnreadable)
	}
	return list.Data, list.NextCursor, nil
}
