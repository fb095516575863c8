package stripeapi

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"time"
)

// EventMemory is how long Stripe lists an event (https://docs.stripe.com/api/events).
const EventMemory = 30 * 24 * time.Hour

// Events asks for the account's events that came to be in [From, To), by whole seconds.
type Events struct {
	From, To time.Time
	Below    string // evt_…: the page that begins just after it, which is the next older one; empty: the newest
}

// ListedEvent is an event of the list: what a delivery of it would have carried.
type ListedEvent struct {
	Event

	Body []byte
}

// EventPage is a page of events.
type EventPage struct {
	Events []ListedEvent // newest first; one that cannot be read has its id and body alone
	More   bool          // there are older ones
}

// ListEvents lists a page of the account's events, newest first, each in the API version of its own time (https://docs.stripe.com/api/events/list).
func (c *Client) ListEvents(ctx context.Context, credentials Credentials, which Events) (EventPage, error) {
	query := url.Values{
		"limit":        {strconv.Itoa(PageLimit)},
		"created[gte]": {strconv.FormatInt(which.From.Unix(), 10)}, "created[lt]": {strconv.FormatInt(which.To.Unix(), 10)},
	}
	if which.Below != "" {
		query.Set("starting_after", which.Below)
	}
	var list listPage[json.RawMessage]
	if err := c.read(ctx, credentials, "/v1/events", query, &list); err != nil {
		return EventPage{}, err
	}
	page := EventPage{More: list.HasMore, Events: make([]ListedEvent, 0, len(list.Data))}
	for _, body := range list.Data {
		listed := ListedEvent{Event: Event{ID: idOf(body)}, Body: body}
		if event, err := ParseEvent(body, credentials.Account); err == nil {
			listed.Event = event
		}
		page.Events = append(page.Events, listed)
	}
	return page, nil
}
