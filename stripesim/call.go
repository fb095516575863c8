package stripesim

import (
	"io"
	"net/http"
	"strings"
	"time"

	"payonce/stripesim/control"
)

// largestBody bounds a request's body in bytes.
const largestBody = 1 << 20

// effect is the execution of a request, under the lock of the books. What it refuses is an outcome too, and is stored
// under the key, unless the error says otherwise.
type effect func(*transition) (any, *apiError)

// operation reads the parameters of a request into its effect. Its faults come before execution.
type operation func(*call, *params) effect

// call is one request of the API on its way through the twin.
type call struct {
	twin    *Twin
	request *http.Request
	id      string // the {id} of the path
	who     origin
	now     time.Time
	entry   *control.Request
	params  *params
	faults  []string
}

// api makes the handler of an operation.
func (tw *Twin) api(op operation) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !tw.enter() {
			cut(w)
			return
		}
		defer tw.leave()
		c, a := tw.arrive(w, r)
		if a == nil {
			a = c.handle(op)
		}
		c.finish(w, a)
	}
}

// arrive reads and logs a request and finds out whose it is.
func (tw *Twin) arrive(w http.ResponseWriter, r *http.Request) (*call, *answer) {
	body, readErr := io.ReadAll(http.MaxBytesReader(w, r.Body, largestBody))
	now, err := tw.clock.Now(tw.life)
	if err != nil {
		now = time.Time{}
	}
	c := &call{twin: tw, request: r, id: r.PathValue("id"), now: now}
	who, refused := authenticate(r)
	c.who = who
	c.who.requestID = "req_" + randomLetters(14)
	c.who.base = tw.base(r)
	if r.Method == http.MethodPost {
		c.who.key = strings.TrimSpace(r.Header.Get("Idempotency-Key"))
	}
	c.entry = tw.requests.arrive(control.Request{Time: now, Account: who.Account, Livemode: who.Livemode, Method: r.Method,
		Path: r.URL.Path, Query: r.URL.RawQuery, IdempotencyKey: c.who.key, RequestID: c.who.requestID}, body)
	switch {
	case readErr != nil:
		return c, &answer{cut: true}
	case err != nil:
		return c, c.refuse(serverError(http.StatusInternalServerError))
	case refused != nil:
		return c, c.refuse(refused)
	}
	encoded := r.URL.RawQuery
	if r.Method == http.MethodPost {
		encoded = string(body)
		if r.URL.RawQuery != "" {
			encoded += "&" + r.URL.RawQuery
		}
		if kind := r.Header.Get("Content-Type"); len(body) > 0 && !strings.HasPrefix(kind, "application/x-www-form-urlencoded") {
			return c, c.refuse(invalidRequest("", "Invalid request (check that your POST content type is application/x-www-form-urlencoded).", ""))
		}
	}
	if c.params, refused = parseParams(encoded); refused != nil {
		return c, c.refuse(refused)
	}
	return c, nil
}

// handle takes a request through the door, the key and the execution.
func (c *call) handle(op operation) *answer {
	if a := c.door(); a != nil {
		return a
	}
	if c.request.Method != http.MethodPost && c.request.Method != http.MethodDelete {
		if !c.linger() {
			return &answer{cut: true}
		}
		return c.look(op)
	}
	if len(c.who.key) > 255 {
		return c.refuse(invalidRequest("", "Idempotency keys may be at most 255 characters.", ""))
	}
	var record *keyRecord
	if c.who.key != "" {
		known, a := c.claim()
		if a != nil {
			return a
		}
		record = known
	}
	execute := op(c, c.params)
	if refused := c.params.done(); refused != nil {
		c.forget(record)
		return c.refuse(refused)
	}
	if !c.linger() {
		c.forget(record)
		return &answer{cut: true}
	}
	return c.execute(execute, record)
}

// linger is where slow_before and holds stop a request, without any lock; it reads the clock again if they did. It
// is false when the twin ended meanwhile.
func (c *call) linger() bool {
	rule := c.pick(atStart)
	if rule != nil {
		c.sleep(rule)
	}
	held := c.twin.holds.pass(c.twin.life, control.BeforeEffect, c)
	if rule != nil || held {
		if now, err := c.twin.clock.Now(c.twin.life); err == nil {
			c.now = now
		}
	}
	return c.twin.life.Err() == nil
}

// door is what comes before the idempotency layer: faults, the version, the rate limit.
func (c *call) door() *answer {
	if rule := c.pick(atArrival); rule != nil {
		return c.doorFault(rule)
	}
	if version := c.request.Header.Get("Stripe-Version"); version != "" && version != apiVersion {
		return c.refuse(invalidRequest("", "Invalid Stripe API version: "+version+". This twin speaks "+apiVersion+".", ""))
	}
	if !c.twin.rate.take(c.who.scope, c.now) {
		return c.refuse(rateLimited(0))
	}
	return nil
}

func (c *call) doorFault(rule *control.Rule) *answer {
	refused := serverError(http.StatusInternalServerError)
	switch rule.Fault {
	case control.FaultReset:
		return &answer{cut: true}
	case control.FaultRateLimited:
		refused = rateLimited(rule.RetryAfterS)
	case control.FaultLockTimeout:
		refused = lockTimeout(rule.RetryAfterS)
	case control.FaultUnauthorized:
		refused = unauthorized("Invalid API Key provided: sk_****")
	case control.FaultKeyMismatch:
		refused = keyMismatch(c.who.key)
	}
	if rule.Status != 0 {
		refused.status = rule.Status
	}
	return c.refuse(refused)
}

// claim takes the key, or answers with what is stored under it.
func (c *call) claim() (*keyRecord, *answer) {
	b := c.twin.books
	b.mu.Lock()
	defer b.mu.Unlock()
	request := c.request.Method + " " + c.request.URL.Path + "?" + c.params.canonical()
	record, fresh, refused := b.keys.claim(keyName{c.who.scope, c.who.key}, request, c.who.requestID, c.now)
	switch {
	case refused != nil:
		return nil, c.refuse(refused)
	case fresh:
		return record, nil
	}
	return nil, &answer{status: record.Status, body: record.Body, shouldRetry: record.Retry, original: record.RequestID, replayed: true, kept: true}
}

func (c *call) forget(record *keyRecord) {
	if record == nil {
		return
	}
	c.twin.books.mu.Lock()
	defer c.twin.books.mu.Unlock()
	c.twin.books.keys.forget(record)
}

// pick asks the rules and notes the fault in the log.
func (c *call) pick(at point) *control.Rule {
	rule := c.twin.faults.pick(at, c.subject())
	if rule != nil {
		c.faults = append(c.faults, rule.Fault)
	}
	return rule
}

// subject is what the rules see of a request: its own metadata, else its payment intent's.
func (c *call) subject() subject {
	s := subject{method: c.entry.Method, path: c.entry.Path, account: c.who.Account, key: c.who.key}
	if !c.twin.faults.any() {
		return s
	}
	s.metadata, _ = c.params.peek("metadata")
	if len(s.metadata) == 0 && c.id != "" {
		b := c.twin.books
		b.mu.Lock()
		defer b.mu.Unlock()
		if in, found := b.intents.find(c.who.scope, c.id); found {
			s.metadata = copyOf(in.Metadata)
		}
		if r, found := b.refunds.find(c.who.scope, c.id); found {
			s.metadata = copyOf(r.Metadata)
		}
	}
	return s
}
