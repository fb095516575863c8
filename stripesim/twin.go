package stripesim

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"payonce/stripesim/control"
)

// Config says how a Twin is built. The zero value is a twin in memory on the wall clock.
type Config struct {
	Clock     Clock              // nil = WallClock
	Wall      func() time.Time   // time of webhook signatures; nil = the wall clock
	StateFile string             // file that survives the process; empty = memory only
	Seed      int64              // decides the faults that have a probability
	Endpoints []control.Endpoint // webhook endpoints that a reset leaves in place
	Logger    *slog.Logger       // nil = silent

	RetryScale     float64       // factor on the gaps between webhook tries; 0 = 1
	WebhookTimeout time.Duration // how long an endpoint may take to answer; 0 = 10 s
	WebhookWorkers int           // sends at the same time per endpoint; 0 = 8
	ReorderAtMost  time.Duration // wall time a reordered event waits for the next, at most; 0 = 2 s
	PublicURL      string        // where the payer's browser finds the twin; empty = as the request of the API found it
	SearchLag      time.Duration // age at which a change becomes visible to search; 0 = one minute, below 0 = at once
	TickEvery      time.Duration // wall time between looks at the clock for what is due; 0 = 100 ms
	LiveRate       float64       // requests per second and account in live mode; 0 = no limit (Stripe: 100)
	TestRate       float64       // requests per second and account in test mode; 0 = no limit (Stripe: 25)
}

// Twin is a running Stripe twin. It is safe for concurrent use.
type Twin struct {
	config     Config
	clock      Clock
	log        *slog.Logger
	store      *store
	books      *books
	requests   *requestLog
	faults     *faultBook
	holds      *holdBook
	endpoints  *endpointBook
	deliveries *dispatcher
	rate       *rateLimit
	handler    http.Handler

	life    context.Context
	end     context.CancelFunc
	door    sync.RWMutex // guards closed
	closed  bool
	serving sync.WaitGroup
	ticking sync.WaitGroup
}

// New builds a twin and takes up what its state file holds. It fails if that file cannot be opened or read.
func New(config Config) (*Twin, error) {
	config = withDefaults(config)
	s, err := openStore(config.StateFile)
	if err != nil {
		return nil, err
	}
	tw := &Twin{config: config, clock: config.Clock, log: config.Logger, store: s, books: newBooks(),
		requests: &requestLog{store: s}, faults: &faultBook{store: s, seed: config.Seed}, holds: newHoldBook(),
		endpoints: &endpointBook{store: s}, rate: &rateLimit{live: config.LiveRate, test: config.TestRate, buckets: map[scope]*bucket{}}}
	tw.life, tw.end = context.WithCancel(context.Background())
	tw.deliveries = &dispatcher{store: s, clock: config.Clock, wall: config.Wall, endpoints: tw.endpoints, faults: tw.faults,
		client: newWebhookClient(config.WebhookTimeout, config.WebhookWorkers), log: config.Logger, scale: config.RetryScale,
		workers: config.WebhookWorkers, reorder: config.ReorderAtMost, life: tw.life, byEvent: map[string][]*delivery{},
		queues: map[string]*queue{}, held: map[string][]*delivery{}, delayed: map[*delivery]bool{}, changed: make(chan struct{})}
	tw.books.search.lag = config.SearchLag
	if err := tw.load(); err != nil {
		return nil, errors.Join(err, tw.Close())
	}
	for _, e := range config.Endpoints {
		tw.endpoints.add(e)
	}
	tw.handler = tw.routes()
	tw.deliveries.resume()
	tw.ticking.Add(1)
	go tw.ticks()
	return tw, nil
}

func withDefaults(c Config) Config {
	if c.Clock == nil {
		c.Clock = WallClock{}
	}
	if c.Wall == nil {
		c.Wall = wallNow
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.RetryScale == 0 {
		c.RetryScale = 1
	}
	c.WebhookTimeout = orDefault(c.WebhookTimeout, 10*time.Second)
	c.WebhookWorkers = orDefault(c.WebhookWorkers, 8)
	c.ReorderAtMost = orDefault(c.ReorderAtMost, 2*time.Second)
	c.SearchLag = max(0, orDefault(c.SearchLag, searchLag))
	c.TickEvery = orDefault(c.TickEvery, 100*time.Millisecond)
	return c
}

func orDefault[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}

func (tw *Twin) load() error {
	for _, step := range []func() error{
		func() error { return tw.books.load(tw.store) },
		tw.requests.load,
		tw.faults.load,
		tw.endpoints.load,
		func() error { return tw.deliveries.load(tw.books.events) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	tw.store.loaded()
	return nil
}

// Handler serves Stripe's API under /v1/ and the control API under /_twin/.
func (tw *Twin) Handler() http.Handler { return tw.handler }

// Close ends what is going on: held and slow requests are cut, webhook sends are broken off (and will be taken up
// again from the state file), the state file is written and closed. The HTTP server should have stopped accepting.
func (tw *Twin) Close() error {
	tw.door.Lock()
	tw.closed = true
	tw.door.Unlock()
	tw.end()
	tw.serving.Wait()
	tw.ticking.Wait()
	tw.deliveries.running.Wait()
	tw.deliveries.client.CloseIdleConnections()
	return tw.store.close()
}

// enter counts a request in, unless the twin is closing.
func (tw *Twin) enter() bool {
	tw.door.RLock()
	defer tw.door.RUnlock()
	if tw.closed {
		return false
	}
	tw.serving.Add(1)
	return true
}

func (tw *Twin) leave() { tw.serving.Done() }

// ticks looks at the clock for what has become due.
func (tw *Twin) ticks() {
	defer tw.ticking.Done()
	ticker := time.NewTicker(tw.config.TickEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if tw.waits() {
				tw.tick()
			}
		case <-tw.life.Done():
			return
		}
	}
}

// waits says whether anything is planned on the clock.
func (tw *Twin) waits() bool {
	tw.books.mu.Lock()
	due := len(tw.books.due) > 0
	tw.books.mu.Unlock()
	return due || tw.deliveries.planned()
}

// tick does what is due.
func (tw *Twin) tick() {
	now, err := tw.clock.Now(tw.life)
	if err != nil {
		return
	}
	tw.deliveries.retry(now, false)
	_ = tw.change(now, func(*transition) *apiError { return nil })
}

// change makes a transition that no request of the API asked for.
func (tw *Twin) change(now time.Time, effect func(*transition) *apiError) *apiError {
	b := tw.books
	b.mu.Lock()
	t := b.begin(now, origin{})
	b.passTime(t)
	refused := effect(t)
	sent := tw.commit(t, &batch{})
	b.mu.Unlock()
	if err := sent.err(); err != nil {
		return serverError(http.StatusInternalServerError)
	}
	sent.start()
	return refused
}

// sending is a committed transition whose events have still to be sent.
type sending struct {
	twin       *Twin
	written    *batch
	deliveries []*delivery
}

// commit hands a transition to the state file together with the deliveries of its events. It is called under the
// lock of the books, so that the file follows the order of the books.
func (tw *Twin) commit(t *transition, writes *batch) *sending {
	s := &sending{twin: tw}
	tw.books.index(t)
	changes := t.batch()
	writes.puts = append(writes.puts, changes.puts...)
	for _, e := range t.events {
		var metadata map[string]string
		if in := tw.books.intents.byID[e.Intent]; in != nil {
			metadata = in.Metadata
		}
		s.deliveries = append(s.deliveries, tw.deliveries.plan(e, metadata, writes)...)
	}
	s.written = tw.store.submit(writes)
	return s
}

// err waits until the transition is written.
func (s *sending) err() error {
	err := s.written.wait()
	if err != nil {
		s.twin.log.Error("state file: not written", "err", err)
	}
	return err
}

// start sends the events.
func (s *sending) start() { s.twin.deliveries.start(s.deliveries) }
