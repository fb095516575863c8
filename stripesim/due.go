package stripesim

import (
	"container/heap"
	"time"
)

// What the clock does something to.
const (
	dueIntent  = "intent"  // a bank debit ends, an authorisation ends
	dueRefund  = "refund"  // it is settled
	dueCapture = "capture" // it gets its balance transaction
	duePayout  = "payout"  // it arrives
)

// plan notes that the clock will do something to this intent.
func (b *books) plan(in *intent) { b.planAt(in.DueAt, dueIntent, in.ID) }

// planAt notes what the clock will do at a time in Unix seconds; 0 = nothing.
func (b *books) planAt(at int64, kind, id string) {
	if at != 0 {
		heap.Push(&b.due, dueItem{at: at, kind: kind, id: id})
	}
}

// planAll plans what the state file holds.
func (b *books) planAll() {
	for _, in := range b.intents.all {
		b.plan(in)
	}
	for _, r := range b.refunds.all {
		b.planAt(r.DueAt, dueRefund, r.ID)
	}
	for _, l := range b.late.all {
		b.planAt(l.DueAt, dueCapture, l.ID)
	}
	for _, p := range b.payouts.all {
		b.planAt(p.DueAt, duePayout, p.ID)
	}
}

// nextDue takes the next item that is due at now.
func (b *books) nextDue(now time.Time) (dueItem, bool) {
	if len(b.due) == 0 || b.due[0].at > now.Unix() {
		return dueItem{}, false
	}
	return heap.Pop(&b.due).(dueItem), true
}

// passTime does what the clock has made due.
func (b *books) passTime(t *transition) {
	who := t.who
	t.who = origin{} // nobody's request
	for item, found := b.nextDue(t.now); found; item, found = b.nextDue(t.now) {
		t.fallDue(item)
	}
	t.who = who
}

// fallDue does what is due, unless it is no longer.
func (t *transition) fallDue(item dueItem) {
	switch item.kind {
	case dueRefund:
		if r := t.books.refunds.byID[item.id]; r != nil && r.DueAt == item.at {
			t.settleRefund(r, r.DueStatus, r.DueReason)
		}
	case dueCapture:
		if l := t.books.late.byID[item.id]; l != nil && l.DueAt == item.at {
			t.bookLate(l)
		}
	case duePayout:
		if p := t.books.payouts.byID[item.id]; p != nil && p.DueAt == item.at {
			t.settlePayout(p, paidOut, "")
		}
	default:
		in := t.books.intents.byID[item.id]
		if in == nil || in.DueAt != item.at {
			return
		}
		t.open(in)
		if in.DueWhat == dueExpire {
			t.expire(in)
			return
		}
		t.settle(in, t.books.bounce(in))
	}
}

type dueItem struct {
	at       int64
	kind, id string
}

type dueHeap []dueItem

func (h dueHeap) Len() int           { return len(h) }
func (h dueHeap) Less(i, j int) bool { return h[i].at < h[j].at }
func (h dueHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *dueHeap) Push(item any)     { *h = append(*h, item.(dueItem)) }
func (h *dueHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
