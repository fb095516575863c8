package stripesim

import (
	"container/heap"
	"context"
	"sort"
	"time"

	"payonce/stripesim/control"
)

// flush waits until nothing is queued, on its way, delayed or held, letting go what is delayed or held as soon as
// nothing else moves. With retryNow every planned retry is tried once, at once.
func (d *dispatcher) flush(ctx context.Context, retryNow bool) control.Counts {
	if retryNow {
		d.retry(time.Time{}, true)
	}
	for {
		d.mu.Lock()
		idle := d.active == 0
		if idle && len(d.held)+len(d.delayed) > 0 {
			d.letGo()
			idle = false
		}
		changed := d.changed
		d.mu.Unlock()
		if idle {
			return d.count()
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return d.count()
		case <-d.life.Done():
			return d.count()
		}
	}
}

// letGo sends every held and delayed event. The lock is held.
func (d *dispatcher) letGo() {
	held, delayed := d.held, d.delayed
	d.held, d.delayed = map[string][]*delivery{}, map[*delivery]bool{}
	for one := range delayed {
		d.enqueue(one)
	}
	for _, list := range held {
		for _, one := range list {
			d.enqueue(one)
		}
	}
}

func (d *dispatcher) count() control.Counts {
	d.mu.Lock()
	defer d.mu.Unlock()
	counts := control.Counts{}
	for _, list := range d.byEvent {
		for _, one := range list {
			switch {
			case one.Status == control.DeliveryDelivered:
				counts.Delivered++
			case one.Status == control.DeliveryDropped:
				counts.Dropped++
			case one.Status == control.DeliveryFailed:
				counts.Failed++
			case !one.NextTry.IsZero():
				counts.Scheduled++
			default:
				counts.Pending++
			}
		}
	}
	return counts
}

// load takes up the deliveries of the state file: what was pending is sent again at once, what was planned when due.
func (d *dispatcher) load(events *table[*event]) error {
	return load(d.store, deliveriesBucket, func(one *delivery) {
		d.last = max(d.last, one.Seq)
		one.event = events.byID[one.Event]
		if one.event == nil {
			return // a hand-made event without a body in the books
		}
		d.byEvent[one.Event] = append(d.byEvent[one.Event], one)
	})
}

// resume sends on what load found open, in order of creation.
func (d *dispatcher) resume() {
	d.mu.Lock()
	defer d.mu.Unlock()
	var open []*delivery
	for _, list := range d.byEvent {
		for _, one := range list {
			if one.open() {
				open = append(open, one)
			}
		}
	}
	sort.Slice(open, func(i, j int) bool { return open[i].Seq < open[j].Seq })
	for _, one := range open {
		if one.NextTry.IsZero() {
			d.enqueue(one)
			continue
		}
		heap.Push(&d.retries, plannedRetry{one.NextTry, one})
	}
}

// clear forgets every delivery. What is on its way arrives, but is not recorded.
func (d *dispatcher) clear() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, q := range d.queues {
		d.active -= len(q.waiting)
		q.waiting = nil
	}
	d.byEvent, d.held, d.delayed, d.retries = map[string][]*delivery{}, map[string][]*delivery{}, map[*delivery]bool{}, nil
	d.tell()
}
