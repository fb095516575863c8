package budget

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/internal/clock"
	"payonce/payments"
)

const (
	// askAgain is how often an empty bucket is asked at least while somebody waits: its rate may have been raised.
	askAgain = time.Second
	// spread is how far apart those are told to come again that were sent away.
	spread = time.Minute
)

// queue are the calls of one account that wait in this process, and the calls that the process took and has not used.
type queue struct {
	account payments.Account
	ask     func(ctx context.Context, wants []want) ([]got, error)
	now     func() time.Time // of this machine: it only measures how long something waits here
	joined  chan struct{}    // who waits first, for one of the endpoints, has changed

	mu      sync.Mutex
	taken   map[Endpoint]held
	waiting []*waiter              // in the order in which they go
	serving bool                   // a goroutine asks for them
	slots   map[Endpoint]time.Time // when the last one that was sent away is to come again
}

// held are calls that were taken out of the buckets.
type held struct {
	calls int
	until time.Time
}

// waiter is one call that waits.
type waiter struct {
	call    Call
	leaveAt time.Time
	told    chan verdict // buffered: one
}

// verdict is what a waiter is told.
type verdict struct {
	pause time.Duration
	err   error
}

func newQueue(pool *pgxpool.Pool, account payments.Account) *queue {
	return &queue{
		account: account, now: clock.Wall, joined: make(chan struct{}, 1), taken: map[Endpoint]held{}, slots: map[Endpoint]time.Time{},
		ask: func(ctx context.Context, wants []want) ([]got, error) { return take(ctx, pool, account, wants) },
	}
}

func (q *queue) take(ctx context.Context, call Call, patience time.Duration) (time.Duration, error) {
	w := q.join(call, patience)
	if w == nil {
		return 0, nil
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case v := <-w.told:
		return v.pause, v.err
	case <-timer.C:
		return q.leave(w, verdict{pause: max(patience, time.Millisecond)})
	case <-ctx.Done():
		return q.leave(w, verdict{err: ctx.Err()})
	}
}

// join lets the call go at once, for which it returns nil, or has it wait.
func (q *queue) join(call Call, patience time.Duration) *waiter {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	if q.use(call.Endpoint, now) { // then nobody waits for it: what was taken goes to the waiting first
		return nil
	}
	w := &waiter{call: call, leaveAt: now.Add(patience), told: make(chan verdict, 1)}
	at, _ := slices.BinarySearchFunc(q.waiting, call.Priority+1, func(other *waiter, p Priority) int { return int(other.call.Priority - p) })
	q.waiting = slices.Insert(q.waiting, at, w)
	switch {
	case !q.serving:
		q.serving = true
		go q.serve()
	case slices.IndexFunc(q.waiting, func(other *waiter) bool { return other.call.Endpoint == call.Endpoint }) == at:
		q.nudge()
	}
	return w
}

// leave gives up waiting, unless the waiter was told meanwhile.
func (q *queue) leave(w *waiter, instead verdict) (time.Duration, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if at := slices.Index(q.waiting, w); at >= 0 {
		q.waiting = slices.Delete(q.waiting, at, at+1)
		if len(q.waiting) == 0 {
			q.nudge()
		}
		return instead.pause, instead.err
	}
	v := <-w.told
	if v.pause == 0 && v.err == nil && instead.err != nil { // it might go, and nobody is there to send: another may
		q.giveOn(w.call.Endpoint)
		return 0, instead.err
	}
	return v.pause, v.err
}

// serve asks the buckets until nobody waits.
func (q *queue) serve() {
	for {
		wants := q.wants()
		if wants == nil {
			return
		}
		answers, err := q.ask(context.Background(), wants)
		pause := q.answer(wants, answers, err)
		if pause == 0 {
			continue
		}
		timer := time.NewTimer(min(pause, askAgain))
		select {
		case <-timer.C:
		case <-q.joined:
		}
		timer.Stop()
	}
}

// wants is what to ask for: each endpoint that somebody waits for, for its most urgent call. Nil ends the serving.
func (q *queue) wants() []want {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.serving = len(q.waiting) > 0
	var wants []want
	for _, w := range q.waiting {
		if !slices.ContainsFunc(wants, func(other want) bool { return other.endpoint == w.call.Endpoint }) {
			wants = append(wants, want{endpoint: w.call.Endpoint, priority: w.call.Priority})
		}
	}
	return wants
}

// answer lets go who may go, sends away whose turn comes too late, and returns when to ask again; 0: at once.
func (q *queue) answer(wants []want, answers []got, err error) (pause time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err != nil {
		for _, w := range q.waiting {
			w.told <- verdict{err: err}
		}
		q.waiting = nil
		return 0
	}
	now := q.now()
	empty := map[Endpoint]got{}
	for i, w := range wants {
		if answers[i].calls > 0 {
			q.taken[w.endpoint] = held{calls: answers[i].calls, until: now.Add(leaseLife)}
			continue
		}
		empty[w.endpoint] = answers[i]
		if pause == 0 || answers[i].wait < pause {
			pause = answers[i].wait
		}
	}
	q.dispense(now)
	q.sendAway(now, empty)
	if len(empty) < len(wants) || len(q.waiting) == 0 {
		return 0
	}
	return pause
}

// dispense lets the waiting go that there are calls for.
func (q *queue) dispense(now time.Time) {
	q.waiting = slices.DeleteFunc(q.waiting, func(w *waiter) bool {
		goes := q.use(w.call.Endpoint, now)
		if goes {
			w.told <- verdict{}
		}
		return goes
	})
}

// sendAway tells those whose turn comes after they want to wait when to come again.
func (q *queue) sendAway(now time.Time, empty map[Endpoint]got) {
	ahead := map[Endpoint]int{}
	q.waiting = slices.DeleteFunc(q.waiting, func(w *waiter) bool {
		answer, isEmpty := empty[w.call.Endpoint]
		if !isEmpty {
			return false
		}
		turn := now.Add(answer.wait + seconds(float64(ahead[w.call.Endpoint])/answer.rate))
		if !turn.After(w.leaveAt) {
			ahead[w.call.Endpoint]++
			return false
		}
		w.told <- verdict{pause: q.slot(w.call.Endpoint, turn, now, answer.rate).Sub(now)}
		return true
	})
}

// slot is when one that is sent away is to come again: one after the other at the rate, so that they do not come back together. After a minute it begins
// anew: who comes back early is sent away again, and who is told to come late could miss that the rate was raised.
func (q *queue) slot(endpoint Endpoint, turn, now time.Time, rate float64) time.Time {
	slot := q.slots[endpoint].Add(seconds(1 / rate))
	if slot.Before(turn) || slot.Sub(now) > spread {
		slot = turn
	}
	q.slots[endpoint] = slot
	return slot
}

// use uses one of the calls that were taken.
func (q *queue) use(endpoint Endpoint, now time.Time) bool {
	h := q.taken[endpoint]
	if h.calls == 0 || now.After(h.until) {
		return false
	}
	h.calls--
	q.taken[endpoint] = h
	return true
}

// giveOn gives a call that was not sent to the next that waits, or keeps it for who comes.
func (q *queue) giveOn(endpoint Endpoint) {
	now := q.now()
	h := q.taken[endpoint]
	if h.calls == 0 || now.After(h.until) {
		h = held{until: now.Add(leaseLife)}
	}
	h.calls++
	q.taken[endpoint] = h
	q.dispense(now)
}

// nudge has the serving goroutine look again.
func (q *queue) nudge() {
	select {
	case q.joined <- struct{}{}:
	default:
	}
}
