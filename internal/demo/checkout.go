package demo

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"payonce/payments"
)

// Outcome is what the checkout backend knows of its order in the end.
type Outcome struct {
	Order    Order
	Payment  payments.View
	Problems []string // answers that should not have been

	Duplicates int // submits under the same key after the answer, each answered by a replay
	AtOnce     int // submits at the same time under one key
	FreshKeys  int // further keys that named the same payment
	GaveUp     int // submits that the client gave up on purpose
	Further    int // captures, cancels and refunds asked for, each counted once
	Repeated   int // further requests for one of them: under the same key, another, or at the same time
}

// orderWithin bounds one order, restarts of the API and the worker included.
const orderWithin = 90 * time.Second

// concurrency is how many orders are under way at once.
const concurrency = 16

// checkout submits every order and returns their outcomes by order. done is called after each.
func checkout(ctx context.Context, c *client, mixed []Order, done func()) []Outcome {
	outcomes := make([]Outcome, len(mixed))
	group := errgroup.Group{}
	group.SetLimit(concurrency)
	for i, order := range mixed {
		if ctx.Err() != nil {
			outcomes[i] = Outcome{Order: order, Problems: []string{"never sent: " + context.Cause(ctx).Error()}}
			continue
		}
		group.Go(func() error {
			outcomes[i] = buy(ctx, c, order)
			done()
			return nil
		})
	}
	_ = group.Wait() // no order fails the others
	return outcomes
}

// buy submits one order in its style.
func buy(ctx context.Context, c *client, order Order) Outcome {
	ctx, cancel := context.WithTimeoutCause(ctx, orderWithin, fmt.Errorf("no outcome within %s", orderWithin))
	defer cancel()
	b := &buyer{client: c, outcome: Outcome{Order: order}, key: order.Reference + "-checkout", body: order.Body()}
	switch order.Style {
	case StyleDuplicate:
		b.duplicate(ctx)
	case StyleConcurrent:
		b.concurrent(ctx)
	case StyleFreshKeys:
		b.freshKeys(ctx)
	case StyleImpatient:
		b.impatient(ctx)
	case StyleNoWait:
		b.first(b.submit(ctx, b.key, manner{wait: 0}))
	default:
		b.first(b.submit(ctx, b.key, patient()))
	}
	if b.outcome.Payment.Status == order.Answered() {
		b.goOn(ctx)
	}
	return b.outcome
}

// buyer takes one order through its style.
type buyer struct {
	client *client
	key    string
	body   []byte

	mutex   sync.Mutex
	outcome Outcome
	answers answer // the first one: every other must equal it
}

func (b *buyer) problem(format string, args ...any) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.outcome.Problems = append(b.outcome.Problems, fmt.Sprintf(format, args...))
}

// submit returns false, and notes why, when there is no outcome.
func (b *buyer) submit(ctx context.Context, key string, how manner) (answer, bool) {
	got, err := b.client.submit(ctx, key, b.body, how)
	switch {
	case err != nil:
		b.problem("%v", err)
		return got, false
	case got.Status != http.StatusCreated:
		b.problem("answered %d %s", got.Status, got.Body)
		return got, false
	default:
		return got, true
	}
}

// first notes the outcome.
func (b *buyer) first(got answer, ok bool) bool {
	if !ok {
		return false
	}
	view, err := got.payment()
	if err != nil {
		b.problem("%v", err)
		return false
	}
	b.answers, b.outcome.Payment = got, view
	return true
}

// same notes whether another answer is the first one, byte for byte.
func (b *buyer) same(what string, got answer, ok bool) bool {
	if ok && !bytes.Equal(got.Body, b.answers.Body) {
		b.problem("%s: another answer: %s", what, got.Body)
		return false
	}
	return ok
}

func (b *buyer) duplicate(ctx context.Context) {
	if !b.first(b.submit(ctx, b.key, patient())) {
		return
	}
	for range 2 {
		got, ok := b.submit(ctx, b.key, patient())
		if !b.same("duplicate", got, ok) {
			return
		}
		if !got.Replayed {
			b.problem("duplicate: it does not say that it is a replay")
		}
		b.outcome.Duplicates++
	}
}

// concurrent sends five at once under one key; each is sent until it has the outcome.
func (b *buyer) concurrent(ctx context.Context) {
	const atOnce = 5
	answers := make([]answer, atOnce)
	oks := make([]bool, atOnce)
	group := errgroup.Group{}
	for i := range atOnce {
		group.Go(func() error {
			answers[i], oks[i] = b.submit(ctx, b.key, patient())
			return nil
		})
	}
	_ = group.Wait() // submit notes what fails
	b.first(answers[0], oks[0])
	for i := range atOnce {
		if b.same("at once", answers[i], oks[i]) {
			b.outcome.AtOnce++
		}
	}
}

// freshKeys names the order under two more keys: for every second order beside the first, else after it.
func (b *buyer) freshKeys(ctx context.Context) {
	const others = 2
	answers := make([]answer, others)
	oks := make([]bool, others)
	group := errgroup.Group{}
	sendOthers := func() {
		for i := range others {
			group.Go(func() error {
				answers[i], oks[i] = b.submit(ctx, fmt.Sprintf("%s-again-%d", b.key, i+1), patient())
				return nil
			})
		}
	}
	beside := b.outcome.Order.Number%2 == 0
	if beside {
		sendOthers()
	}
	b.first(b.submit(ctx, b.key, patient()))
	if !beside {
		sendOthers()
	}
	_ = group.Wait() // submit notes what fails
	for i := range others {
		view, err := answers[i].payment()
		switch {
		case !oks[i]:
		case err != nil:
			b.problem("fresh key: %v", err)
		case view.ID != b.outcome.Payment.ID:
			b.problem("fresh key: it names payment %s, not %s", view.ID, b.outcome.Payment.ID)
		case b.same("fresh key", answers[i], true):
			b.outcome.FreshKeys++
		}
	}
}

// impatient gives up after some 10 ms, then a little later, and waits at last.
func (b *buyer) impatient(ctx context.Context) {
	const givesUp = 3
	how := patient()
	how.patience = func(try int) time.Duration {
		if try >= givesUp {
			return longest
		}
		b.outcome.GaveUp++
		return time.Duration(10+b.outcome.Order.Number%20) * time.Millisecond << try
	}
	b.first(b.submit(ctx, b.key, how))
}
