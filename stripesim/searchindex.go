package stripesim

import (
	"net/http"
	"sort"
	"time"

	"payonce/stripesim/control"
)

// searchLag is how long a change takes to be searchable: under a minute as a rule, up to an hour in an outage (Stripe
// docs, Search).
const searchLag = time.Minute

// searchIndex is what search knows: every intent as it was at the horizon, which follows the clock at a distance and
// never goes back. It keeps only what differs from the books. It is guarded by their lock.
type searchIndex struct {
	lag     time.Duration
	horizon time.Time
	changes []searchChange       // not yet visible, oldest first
	waiting map[string][]*intent // what the intents of those changes were before each; nil = nothing
}

type searchChange struct {
	at     time.Time
	intent string
}

// index notes what a transition did to intents.
func (b *books) index(t *transition) {
	for _, row := range t.touched {
		in, ok := row.(*intent)
		if !ok {
			continue
		}
		in.Changed = t.now
		b.search.changes = append(b.search.changes, searchChange{t.now, in.ID})
		b.search.waiting[in.ID] = append(b.search.waiting[in.ID], t.before[in])
	}
}

// advance makes visible what is old enough.
func (x *searchIndex) advance(now time.Time) {
	if horizon := now.Add(-x.lag); horizon.After(x.horizon) {
		x.horizon = horizon
	}
	for len(x.changes) > 0 && !x.changes[0].at.After(x.horizon) {
		id := x.changes[0].intent
		x.changes = x.changes[1:]
		if rest := x.waiting[id][1:]; len(rest) > 0 {
			x.waiting[id] = rest
			continue
		}
		delete(x.waiting, id)
	}
}

// searched is the intent as search shows it, or nil if it does not yet. What the clock has done to it in this very
// transition is not seen either.
func (t *transition) searched(in *intent) *intent {
	if before := t.books.search.waiting[in.ID]; len(before) > 0 {
		return before[0]
	}
	if before := t.before[in]; before != nil {
		return before
	}
	return in
}

// reindex hides, as not yet seen, the intents of the state file whose last change is young against the youngest: what
// they were before is not in the file.
func (b *books) reindex() {
	rows := append([]*intent(nil), b.intents.all...)
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].Changed.Before(rows[j].Changed) })
	for _, in := range rows {
		if rows[len(rows)-1].Changed.Sub(in.Changed) < b.search.lag {
			b.search.changes = append(b.search.changes, searchChange{in.Changed, in.ID})
			b.search.waiting[in.ID] = []*intent{nil}
		}
	}
}

func (tw *Twin) getSearch(*http.Request) (any, error) {
	tw.books.mu.Lock()
	defer tw.books.mu.Unlock()
	return control.Search{LagMS: tw.books.search.lag.Milliseconds()}, nil
}

// setSearch sets the lag. What was visible stays so: a greater lag stops the horizon until the clock has caught up.
func (tw *Twin) setSearch(r *http.Request) (any, error) {
	var search control.Search
	if err := readJSON(r, &search); err != nil {
		return nil, err
	}
	if search.LagMS < 0 {
		return nil, badRequest("lag_ms must not be negative")
	}
	now, err := tw.clock.Now(r.Context())
	if err != nil {
		return nil, err
	}
	tw.books.mu.Lock()
	defer tw.books.mu.Unlock()
	tw.books.search.advance(now)
	tw.books.search.lag = time.Duration(search.LagMS) * time.Millisecond
	return search, nil
}
