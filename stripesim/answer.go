package stripesim

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"payonce/stripesim/control"
)

// answer is what is sent back, and stored under the key.
type answer struct {
	status      int
	body        []byte
	shouldRetry string
	retryAfterS int
	original    string // request id of the request that was executed
	replayed    bool
	executed    bool
	kept        bool // the answer is that of an execution or a look-up, not of the door
	cut         bool // no answer: the connection is cut
}

// finish sends the answer, unless a fault keeps it, and closes the log entry.
func (c *call) finish(w http.ResponseWriter, a *answer) {
	if a.kept {
		if rule := c.pick(atAnswer); rule != nil {
			c.sleep(rule)
			a.cut = rule.Fault == control.FaultAnswerLost
		}
		c.twin.holds.pass(c.twin.life, control.AfterEffect, c)
	}
	status := a.status
	if a.cut || c.twin.life.Err() != nil {
		status = 0
	}
	b := &batch{}
	c.twin.requests.update(c.entry, b, func(r *control.Request) {
		r.Status, r.Replayed, r.Fault = status, a.replayed, strings.Join(c.faults, ",")
	})
	c.twin.store.submitLate(b)
	if status == 0 {
		cut(w)
		return
	}
	c.write(w, a)
}

func (c *call) write(w http.ResponseWriter, a *answer) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Request-Id", c.who.requestID)
	h.Set("Stripe-Version", apiVersion)
	if c.who.key != "" {
		h.Set("Idempotency-Key", c.who.key)
	}
	if a.original != "" {
		h.Set("Original-Request", a.original)
	}
	if a.replayed {
		h.Set("Idempotent-Replayed", "true")
	}
	if a.shouldRetry != "" {
		h.Set("Stripe-Should-Retry", a.shouldRetry)
	}
	if a.retryAfterS > 0 {
		h.Set("Retry-After", strconv.Itoa(a.retryAfterS))
	}
	h.Set("Content-Length", strconv.Itoa(len(a.body)))
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body)
}

// cut ends the connection without an answer.
func cut(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(interface{ SetLinger(int) error }); ok {
		_ = tcp.SetLinger(0) // the peer sees a reset
	}
	_ = conn.Close()
}

// sleep waits for a rule's delay on the wall clock, or for the twin's end. Meanwhile the request counts as held.
func (c *call) sleep(rule *control.Rule) {
	if rule.DelayMS <= 0 {
		return
	}
	w := newWaiter(c, rule.ID, rule.Fault)
	c.twin.holds.note(w, true)
	defer c.twin.holds.note(w, false)
	timer := time.NewTimer(time.Duration(rule.DelayMS) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.twin.life.Done():
	}
}
