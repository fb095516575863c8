package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Timeline is what became of a payment, step by step, the oldest first: for people who have to explain it.
type Timeline struct {
	Suppressed Suppressed
	Steps      []Step
}

// Suppressed counts the repeats that did nothing.
type Suppressed struct {
	Commands   int `json:"commands"`   // requests that met a command that was there
	Deliveries int `json:"deliveries"` // of an event that was there
	Postings   int `json:"postings"`   // journals that were posted before
	Messages   int `json:"messages"`   // messages that were queued before
}

// Step is one thing that happened.
type Step struct {
	At     time.Time
	Kind   string          // command, call, event, fact, journal, stage or message; more may come
	Detail json.RawMessage // as the API documents it for the kind: ids, codes, times and amounts
}

// UnmarshalJSON takes the detail from the member that is called like the kind.
func (s *Step) UnmarshalJSON(text []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return err
	}
	if err := json.Unmarshal(members["kind"], &s.Kind); err != nil {
		return err
	}
	s.Detail = members[s.Kind]
	return json.Unmarshal(members["at"], &s.At)
}

// Timeline reads all that became of a payment so far. The errors are ErrNoAnswer and *RefusedError.
func (c *Client) Timeline(ctx context.Context, id PaymentID) (Timeline, error) {
	var whole Timeline
	for cursor := ""; ; {
		path := pathOf(id) + "/timeline"
		if cursor != "" {
			path += "?cursor=" + url.QueryEscape(cursor)
		}
		page, err := exchange(ctx, c, request{method: http.MethodGet, path: path}, reply.timeline)
		if err != nil {
			return Timeline{}, err
		}
		whole.Suppressed, whole.Steps = page.Suppressed, append(whole.Steps, page.Data...)
		if cursor = page.NextCursor; cursor == "" {
			return whole, nil
		}
	}
}

type timelinePage struct {
	Object     string     `json:"object"`
	Suppressed Suppressed `json:"suppressed"`
	Data       []Step     `json:"data"`
	HasMore    bool       `json:"has_more"`
	NextCursor string     `json:"next_cursor"`
}

func (r reply) timeline() (timelinePage, error) {
	if r.status != http.StatusOK {
		return timelinePage{}, r.refusal()
	}
	var page timelinePage
	if err := json.Unmarshal(r.body, &page); err != nil {
		return timelinePage{}, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	if page.Object != "timeline" || page.HasMore != (page.NextCursor != "") {
		return timelinePage{}, fmt.Errorf("%w: not a timeline", errUnreadable)
	}
	return page, nil
}
