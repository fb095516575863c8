package stripesim

import (
	"slices"
	"strings"
	"sync"

	"payonce/stripesim/control"
)

const endpointsBucket = "endpoints"

// endpoint is where events are sent.
type endpoint struct {
	Seq int64
	control.Endpoint
}

// wants says whether an event is for this endpoint.
func (e *endpoint) wants(ev *event) bool {
	if e.Livemode != nil && *e.Livemode != ev.Livemode {
		return false
	}
	if e.Account != "" && e.Account != ev.Account && (!e.Connect || e.Account != ev.Platform) {
		return false
	}
	if e.RefundFeed == control.FeedLegacy && strings.HasPrefix(ev.Type, "refund.") ||
		e.RefundFeed == control.FeedRefund && ev.Type == "charge.refund.updated" {
		return false
	}
	return ofKind(ev.Type, e.EnabledEvents) || slices.Contains(e.EnabledEvents, "*")
}

// endpointBook holds the webhook endpoints.
type endpointBook struct {
	store *store

	mu   sync.Mutex
	rows []*endpoint
	last int64
}

func (b *endpointBook) load() error {
	return load(b.store, endpointsBucket, func(e *endpoint) {
		b.rows = append(b.rows, e)
		b.last = e.Seq
	})
}

// add registers an endpoint; the same URL, account and mode again takes the place of the former.
func (b *endpointBook) add(e control.Endpoint) control.Endpoint {
	b.mu.Lock()
	defer b.mu.Unlock()
	writes := &batch{}
	row := &endpoint{Endpoint: e}
	at := slices.IndexFunc(b.rows, func(old *endpoint) bool {
		return old.URL == e.URL && old.Account == e.Account && sameMode(old.Livemode, e.Livemode)
	})
	if at >= 0 {
		row.Seq, row.ID = b.rows[at].Seq, b.rows[at].ID
		b.rows[at] = row
	} else {
		b.last++
		row.Seq = b.last
		b.rows = append(b.rows, row)
	}
	if row.ID == "" {
		row.ID = newID("we")
	}
	if row.Secret == "" {
		row.Secret = "whsec_" + randomLetters(32)
	}
	writes.put(endpointsBucket, row.Seq, row)
	b.store.submit(writes)
	return row.Endpoint
}

func sameMode(a, b *bool) bool { return a == b || a != nil && b != nil && *a == *b }

func (b *endpointBook) remove(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := slices.IndexFunc(b.rows, func(e *endpoint) bool { return e.ID == id })
	if at < 0 {
		return false
	}
	writes := &batch{}
	writes.remove(endpointsBucket, b.rows[at].Seq)
	b.store.submit(writes)
	b.rows = slices.Delete(b.rows, at, at+1)
	return true
}

func (b *endpointBook) find(id string) *endpoint {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.rows {
		if e.ID == id {
			return e
		}
	}
	return nil
}

// wanting returns the endpoints that an event is for.
func (b *endpointBook) wanting(ev *event) []*endpoint {
	b.mu.Lock()
	defer b.mu.Unlock()
	var found []*endpoint
	for _, e := range b.rows {
		if e.wants(ev) {
			found = append(found, e)
		}
	}
	return found
}

func (b *endpointBook) list() []control.Endpoint {
	b.mu.Lock()
	defer b.mu.Unlock()
	rows := []control.Endpoint{}
	for _, e := range b.rows {
		rows = append(rows, e.Endpoint)
	}
	return rows
}

func (b *endpointBook) clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rows, b.last = nil, 0
}
