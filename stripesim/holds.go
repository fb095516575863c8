package stripesim

import (
	"context"
	"strconv"
	"sync"

	"payonce/stripesim/control"
)

// holdBook stops requests at a point until they are released. Holds are not kept in the state file.
type holdBook struct {
	mu      sync.Mutex
	holds   []*hold
	waiting map[*waiter]bool
	last    int
	changed chan struct{} // closed and replaced whenever somebody starts or stops waiting
}

type hold struct {
	control.Hold
	caught   int
	released chan struct{}
}

type waiter struct{ held control.Held }

// newWaiter is a request that a hold, or the delay of a rule, has stopped.
func newWaiter(c *call, by, point string) *waiter {
	return &waiter{control.Held{Hold: by, Point: point, RequestSeq: c.entry.Seq, RequestID: c.who.requestID,
		Method: c.entry.Method, Path: c.entry.Path, Key: c.entry.IdempotencyKey}}
}

func newHoldBook() *holdBook {
	return &holdBook{waiting: map[*waiter]bool{}, changed: make(chan struct{})}
}

// pass returns when the request may go on from this point, or ctx ends, and says whether it was stopped.
func (h *holdBook) pass(ctx context.Context, point string, c *call) bool {
	stopping := h.matching(point, c)
	for _, one := range stopping {
		w := newWaiter(c, one.ID, point)
		h.note(w, true)
		select {
		case <-one.released:
		case <-ctx.Done():
		}
		h.note(w, false)
	}
	return len(stopping) > 0
}

func (h *holdBook) matching(point string, c *call) []*hold {
	h.mu.Lock()
	defer h.mu.Unlock()
	var found []*hold
	for _, one := range h.holds {
		if one.Point != point || one.Method != "" && one.Method != c.entry.Method || one.Path != "" && !matches(one.Path, c.entry.Path) {
			continue
		}
		if one.Times > 0 && one.caught >= one.Times {
			continue
		}
		one.caught++
		found = append(found, one)
	}
	return found
}

func (h *holdBook) note(w *waiter, waits bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if waits {
		h.waiting[w] = true
	} else {
		delete(h.waiting, w)
	}
	close(h.changed)
	h.changed = make(chan struct{})
}

func (h *holdBook) add(one control.Hold) control.Hold {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last++
	if one.ID == "" {
		one.ID = "hold_" + strconv.Itoa(h.last)
	}
	h.holds = append(h.holds, &hold{Hold: one, released: make(chan struct{})})
	return one
}

// release removes the holds that which names and lets go whom they stopped. Empty fields match all.
func (h *holdBook) release(which control.Hold) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	var kept []*hold
	for _, one := range h.holds {
		if which.ID != "" && which.ID != one.ID || which.Method != "" && which.Method != one.Method ||
			which.Path != "" && which.Path != one.Path || which.Point != "" && which.Point != one.Point {
			kept = append(kept, one)
			continue
		}
		close(one.released)
	}
	released := len(h.holds) - len(kept)
	h.holds = kept
	return released
}

// held returns who waits at a point (empty = anywhere), once at least n do or ctx ends.
func (h *holdBook) held(ctx context.Context, point string, n int) []control.Held {
	for {
		h.mu.Lock()
		rows := []control.Held{}
		for w := range h.waiting {
			if point == "" || point == w.held.Point {
				rows = append(rows, w.held)
			}
		}
		changed := h.changed
		h.mu.Unlock()
		if len(rows) >= n {
			return rows
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return rows
		}
	}
}
