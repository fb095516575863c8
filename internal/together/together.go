// Package together lets callers share round trips: what arrives while one is under way goes with the next one, in one. Nobody waits for company, so
// a lone caller is as fast as without it; under load the fixed cost of a round trip is shared by all that travel in it.
//
// It may import only the standard library. It must not know what a round trip carries, nor where to.
package together

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// Limits bound the round trips. Every field is required and positive.
type Limits struct {
	AtOnce int           // round trips under way at the same time
	Most   int           // items in one
	Within time.Duration // of a round trip with several items; one with a single item has its caller's context
}

// Carry makes one round trip with one or more items and returns their results in the same order. An error says that none of them had a result, and
// may have been one item's fault.
type Carry[Item, Result any] func(ctx context.Context, items []Item) ([]Result, error)

// Trips are the round trips to one place. No goroutine outlives the last caller's item.
type Trips[Item, Result any] struct {
	limits Limits
	carry  Carry[Item, Result]

	mutex    sync.Mutex
	underWay int
	waiting  []*passenger[Item, Result] // while as many are under way as may be
}

// passenger is an item that waits for the next round trip, and who waits for its result.
type passenger[Item, Result any] struct {
	ctx  context.Context //nolint:containedctx // of the caller: it ends this wait alone
	item Item
	told chan outcome[Result] // buffered: one
}

type outcome[Result any] struct {
	result Result
	err    error
}

// New makes the round trips of carry.
func New[Item, Result any](limits Limits, carry Carry[Item, Result]) *Trips[Item, Result] {
	return &Trips[Item, Result]{limits: limits, carry: carry}
}

// Do carries the item and returns its result. The round trip starts after the call of Do, so what it reads is no older than the call. The end of ctx
// ends this caller's wait, and no other's; whether the item was carried is then not known.
func (t *Trips[Item, Result]) Do(ctx context.Context, item Item) (Result, error) {
	waiting := t.join(ctx, item)
	if waiting == nil {
		defer t.leave()
		result := t.alone(ctx, item)
		return result.result, result.err
	}
	select {
	case told := <-waiting.told:
		return told.result, told.err
	case <-ctx.Done():
		var none Result
		return none, ctx.Err()
	}
}

// join returns nil when the item may go at once, in the hands of its caller.
func (t *Trips[Item, Result]) join(ctx context.Context, item Item) *passenger[Item, Result] {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.underWay < t.limits.AtOnce {
		t.underWay++
		return nil
	}
	joined := &passenger[Item, Result]{ctx: ctx, item: item, told: make(chan outcome[Result], 1)}
	t.waiting = append(t.waiting, joined)
	return joined
}

// leave ends the round trip of a lone caller; those who came meanwhile go on without it.
func (t *Trips[Item, Result]) leave() {
	if next := t.next(); len(next) > 0 {
		go t.drain(next)
	}
}

// drain carries what waits until nothing does.
func (t *Trips[Item, Result]) drain(next []*passenger[Item, Result]) {
	for ; len(next) > 0; next = t.next() {
		t.trip(next)
	}
}

// next are those who go with the next round trip. When nobody waits there is none, and the place is free.
func (t *Trips[Item, Result]) next() []*passenger[Item, Result] {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	var going []*passenger[Item, Result]
	for len(t.waiting) > 0 && len(going) < t.limits.Most {
		if first := t.waiting[0]; first.ctx.Err() == nil { // who is gone has its answer
			going = append(going, first)
		}
		t.waiting[0] = nil
		t.waiting = t.waiting[1:]
	}
	if len(going) == 0 {
		t.waiting = nil
		t.underWay--
	}
	return going
}

// trip carries several items, and each alone when that fails: what is wrong with one harms no other.
func (t *Trips[Item, Result]) trip(going []*passenger[Item, Result]) {
	if len(going) > 1 {
		items := make([]Item, len(going))
		for i, one := range going {
			items[i] = one.item
		}
		ctx, cancel := context.WithTimeout(context.Background(), t.limits.Within)
		defer cancel()
		if results, err := t.safely(ctx, items); err == nil {
			for i, one := range going {
				one.told <- outcome[Result]{result: results[i]}
			}
			return
		}
	}
	for _, one := range going {
		one.told <- t.alone(one.ctx, one.item)
	}
}

// alone carries one item within its caller's context.
func (t *Trips[Item, Result]) alone(ctx context.Context, item Item) outcome[Result] {
	if err := ctx.Err(); err != nil {
		return outcome[Result]{err: err}
	}
	results, err := t.safely(ctx, []Item{item})
	if err != nil {
		return outcome[Result]{err: err}
	}
	return outcome[Result]{result: results[0]}
}

// safely makes a round trip and an error of its panic: it may run in no caller's goroutine, where nobody would catch it.
func (t *Trips[Item, Result]) safely(ctx context.Context, items []Item) (results []Result, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("panic: %v\n%s", fault, debug.Stack())
		}
	}()
	results, err = t.carry(ctx, items)
	if err == nil && len(results) != len(items) {
		err = fmt.Errorf("%d results of %d items", len(results), len(items))
	}
	return results, err
}
