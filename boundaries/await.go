package boundaries

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"payonce/payments"
)

// Await back-off: while a worker of this process settles most records it wakes the waiter, and the polls are for what another settles.
const (
	awaitFirst     = 10 * time.Millisecond
	awaitLast      = 200 * time.Millisecond
	awaitFirstHere = 250 * time.Millisecond
	awaitLastHere  = time.Second
)

// Await waits on the record until it has an answer, or ctx ends: then the answer is nil and the error too. A settlement in this process brings the
// answer that it stored; for any other it polls with back-off. What sets the command going is called here, once a settlement would be heard.
func (c *Commands) Await(ctx context.Context, claim Claim, begin func()) (*Answer, error) {
	woken, stop := c.settled.Watch(claim.Record)
	defer stop()
	begin()
	pause, last := awaitFirst, awaitLast
	if c.settled.here.Load() {
		pause, last = awaitFirstHere, awaitLastHere
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, nil
		case answer := <-woken:
			if answer != nil {
				return answer, nil
			}
		case <-timer.C:
		}
		answer, err := c.storedAnswer(ctx, claim)
		if ctx.Err() != nil {
			return nil, nil
		}
		if answer != nil || err != nil {
			return answer, err
		}
		pause = min(2*pause, last)
		timer.Reset(pause)
	}
}

// Settlement is the end of a record's command.
type Settlement struct {
	Record payments.RecordID
	Answer *Answer // as it was stored by the transaction that settled the record; nil: it is to be read
}

// Settled tells waiters of this process that a record has its answer. The zero value is not ready: use NewSettled.
type Settled struct {
	mutex   sync.Mutex
	waiters map[payments.RecordID]map[chan *Answer]struct{}
	here    atomic.Bool // a worker runs in this process
	then    func()      // called after each announcement; may be nil
}

// Then sets what is called after each announcement, before the first one.
func (s *Settled) Then(call func()) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.then = call
}

// SetHere says whether a worker runs in this process, so that most settlements are announced here.
func (s *Settled) SetHere(here bool) { s.here.Store(here) }

// NewSettled makes one for a process.
func NewSettled() *Settled {
	return &Settled{waiters: map[payments.RecordID]map[chan *Answer]struct{}{}}
}

// Watch gives a channel that receives the answer, or nil, once the record is settled here, and a function that ends the watch.
func (s *Settled) Watch(record payments.RecordID) (<-chan *Answer, func()) {
	woken := make(chan *Answer, 1)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.waiters[record] == nil {
		s.waiters[record] = map[chan *Answer]struct{}{}
	}
	s.waiters[record][woken] = struct{}{}
	return woken, func() {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		delete(s.waiters[record], woken)
		if len(s.waiters[record]) == 0 {
			delete(s.waiters, record)
		}
	}
}

// Announce wakes the waiters of settled records, once that is committed. It never blocks.
func (s *Settled) Announce(settlements ...Settlement) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.then != nil && len(settlements) > 0 {
		s.then()
	}
	for _, settled := range settlements {
		for woken := range s.waiters[settled.Record] {
			select {
			case woken <- settled.Answer:
			default:
			}
		}
	}
}
