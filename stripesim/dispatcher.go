package stripesim

import (
	"container/heap"
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"payonce/stripesim/control"
)

// dispatcher sends events to endpoints: per endpoint one queue in order of creation and several workers. Its lock may
// be taken under that of the books, never the other way round.
type dispatcher struct {
	store     *store
	clock     Clock
	wall      func() time.Time // for signatures
	endpoints *endpointBook
	faults    *faultBook
	client    *http.Client
	log       *slog.Logger
	scale     float64
	workers   int
	reorder   time.Duration // how long a held event waits for the next one, at most
	life      context.Context
	running   sync.WaitGroup

	mu      sync.Mutex
	last    int64
	byEvent map[string][]*delivery
	queues  map[string]*queue
	held    map[string][]*delivery // by payment intent, waiting for the next event
	delayed map[*delivery]bool
	active  int // queued or on the way
	retries retryHeap
	changed chan struct{}
}

// queue is what waits for an endpoint.
type queue struct {
	waiting []*delivery
	wake    chan struct{}
}

// plan makes the deliveries of a new event. It is called under the lock of the books.
func (d *dispatcher) plan(e *event, metadata map[string]string, writes *batch) []*delivery {
	endpoints := d.endpoints.wanting(e)
	if len(endpoints) == 0 {
		return nil
	}
	rule := d.faults.pick(atDelivery, subject{account: e.Account, key: e.IdempotencyKey, eventType: e.Type, metadata: metadata})
	d.mu.Lock()
	defer d.mu.Unlock()
	var made []*delivery
	for _, to := range endpoints {
		d.last++
		one := &delivery{Seq: d.last, Event: e.ID, Endpoint: to.ID, Status: control.DeliveryPending, event: e}
		if rule != nil {
			one.Fault, one.delay = rule.Fault, time.Duration(rule.DelayMS)*time.Millisecond
			switch rule.Fault {
			case control.FaultDrop:
				one.Status = control.DeliveryDropped
			case control.FaultDouble:
				one.copies = 1
			}
		}
		d.byEvent[e.ID] = append(d.byEvent[e.ID], one)
		writes.put(deliveriesBucket, one.Seq, one)
		made = append(made, one)
	}
	return made
}

// start sends the deliveries on their way; those that go before the API's answer have been answered when it returns.
func (d *dispatcher) start(made []*delivery) {
	var first []*delivery
	d.mu.Lock()
	for _, one := range made {
		switch {
		case !one.open():
		case one.Fault == control.FaultBeforeAnswer:
			d.active++
			first = append(first, one)
		case one.Fault == control.FaultReorder:
			d.held[one.event.Intent] = append(d.held[one.event.Intent], one)
			d.later(d.bound(one.delay), func() { d.unhold(one) })
		case one.Fault == control.FaultDelay:
			d.delayed[one] = true
			d.later(one.delay, func() { d.undelay(one) })
		default:
			d.enqueue(one)
		}
	}
	d.mu.Unlock()
	for _, one := range first {
		d.send(one)
	}
}

func (d *dispatcher) bound(delay time.Duration) time.Duration {
	if delay > 0 {
		return delay
	}
	return d.reorder
}

// later runs f after a time of the wall clock, unless the twin ends before.
func (d *dispatcher) later(wait time.Duration, f func()) {
	d.running.Add(1)
	go func() {
		defer d.running.Done()
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
			f()
		case <-d.life.Done():
		}
	}()
}

// enqueue puts a delivery, and its copies, into the queue of its endpoint. The lock is held.
func (d *dispatcher) enqueue(one *delivery) {
	q := d.queues[one.Endpoint]
	if q == nil {
		q = &queue{wake: make(chan struct{}, d.workers)}
		d.queues[one.Endpoint] = q
		for range d.workers {
			d.running.Add(1)
			go d.work(q)
		}
	}
	for range one.copies + 1 {
		q.waiting = append(q.waiting, one)
		d.active++
		select {
		case q.wake <- struct{}{}:
		default:
		}
	}
	one.copies = 0
	d.tell()
}

func (d *dispatcher) work(q *queue) {
	defer d.running.Done()
	for {
		select {
		case <-q.wake:
		case <-d.life.Done():
			return
		}
		for one := d.next(q); one != nil && d.life.Err() == nil; one = d.next(q) {
			d.send(one)
		}
	}
}

func (d *dispatcher) next(q *queue) *delivery {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(q.waiting) == 0 {
		return nil
	}
	one := q.waiting[0]
	q.waiting = q.waiting[1:]
	return one
}

// send makes one try of a queued delivery.
func (d *dispatcher) send(one *delivery) {
	try := d.try(d.life, one.event, one.Endpoint, "", 0)
	if d.life.Err() != nil {
		return // cut off by the twin's own end: it will be tried again
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.active--
	d.record(one, try)
	d.release(one)
	d.tell()
}

// record notes a try and writes it. The lock is held.
func (d *dispatcher) record(one *delivery, try control.Try) {
	one.tried(try, d.scale, d.endpoints.find(one.Endpoint) != nil)
	if !one.NextTry.IsZero() {
		heap.Push(&d.retries, plannedRetry{one.NextTry, one})
	}
	d.write(one)
}

func (d *dispatcher) write(one *delivery) {
	b := &batch{}
	b.put(deliveriesBucket, one.Seq, one)
	d.store.submitLate(b)
}

// release lets go the held events of the same payment that are older than the one just sent. The lock is held.
func (d *dispatcher) release(sent *delivery) {
	var kept []*delivery
	for _, one := range d.held[sent.event.Intent] {
		if one.event.Seq < sent.event.Seq {
			d.enqueue(one)
			continue
		}
		kept = append(kept, one)
	}
	d.setHeld(sent.event.Intent, kept)
}

func (d *dispatcher) setHeld(intent string, kept []*delivery) {
	if len(kept) == 0 {
		delete(d.held, intent)
		return
	}
	d.held[intent] = kept
}

// undelay sends a delayed event whose time has come, unless it has been let go.
func (d *dispatcher) undelay(one *delivery) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.delayed[one] {
		delete(d.delayed, one)
		d.enqueue(one)
	}
}

// unhold sends a held event whose successor did not come.
func (d *dispatcher) unhold(one *delivery) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var kept []*delivery
	for _, other := range d.held[one.event.Intent] {
		if other == one {
			d.enqueue(one)
			continue
		}
		kept = append(kept, other)
	}
	d.setHeld(one.event.Intent, kept)
}

// retry queues what is due at now; everything that is planned when all is set.
func (d *dispatcher) retry(now time.Time, all bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.retries) > 0 && (all || !d.retries[0].at.After(now)) {
		item := heap.Pop(&d.retries).(plannedRetry)
		if one := item.delivery; one.open() && one.NextTry.Equal(item.at) {
			one.NextTry = time.Time{}
			d.enqueue(one)
		}
	}
}

// planned says whether a retry waits for the clock.
func (d *dispatcher) planned() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.retries) > 0
}

// tell wakes whoever waits in flush. The lock is held.
func (d *dispatcher) tell() {
	close(d.changed)
	d.changed = make(chan struct{})
}

type plannedRetry struct {
	at       time.Time
	delivery *delivery
}

type retryHeap []plannedRetry

func (h retryHeap) Len() int           { return len(h) }
func (h retryHeap) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h retryHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *retryHeap) Push(one any)      { *h = append(*h, one.(plannedRetry)) }
func (h *retryHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
