package stripeapi

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"github.com/stripe/stripe-go/v76"
)

// PageLimit is the largest page that Stripe gives (https://docs.stripe.com/api/pagination).
const PageLimit = 100

// mostPages bounds a list that is read whole.
const mostPages = 20

// ErrTooMany says that a list is longer than anybody reads whole: 20 pages of 100.
var ErrTooMany = errors.New("the list at Stripe is too long to be read whole")

// listPage is a page of a list, newest first.
type listPage[T any] struct {
	stripe.APIResource
	HasMore bool `json:"has_more"`
	Data    []T  `json:"data"`
}

// readAll reads all pages of a list, newest first. id is an item's id, by which the next page is asked for.
func readAll[T any](ctx context.Context, c *Client, credentials Credentials, path string, query url.Values, id func(T) string) ([]T, error) {
	query.Set("limit", strconv.Itoa(PageLimit))
	var all []T
	for range mostPages {
		var next listPage[T]
		if err := c.read(ctx, credentials, path, query, &next); err != nil {
			return nil, err
		}
		all = append(all, next.Data...)
		if !next.HasMore || len(next.Data) == 0 {
			return all, nil
		}
		query.Set("starting_after", id(next.Data[len(next.Data)-1]))
	}
	return nil, fmt.Errorf("%s: %w", path, ErrTooMany)
}

// mapped are the items as ours.
func mapped[From, To any](items []From, to func(From) To) []To {
	all := make([]To, 0, len(items))
	for _, item := range items {
		all = append(all, to(item))
	}
	return all
}
