package stripesim

import (
	"net/http"

	"payonce/stripesim/control"
)

// look answers a request that changes nothing, except that time may have passed.
func (c *call) look(op operation) *answer {
	look := op(c, c.params)
	if refused := c.params.done(); refused != nil {
		return c.refuse(refused)
	}
	a, sent := c.read(look)
	if sent.err() != nil {
		return c.refuse(serverError(http.StatusInternalServerError))
	}
	sent.start()
	return a
}

func (c *call) read(look effect) (*answer, *sending) {
	b := c.twin.books
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.begin(c.now, c.who)
	b.passTime(t)
	a := &answer{status: http.StatusOK, kept: true}
	if value, refused := look(t); refused != nil {
		a = c.keepable(c.refuse(refused))
	} else {
		a.body = encode(value)
	}
	return a, c.twin.commit(t, &batch{})
}

// execute runs the effect and answers when it is durable.
func (c *call) execute(effect effect, record *keyRecord) *answer {
	a, sent := c.change(effect, record, c.pick(atExecution))
	if sent.err() != nil {
		return c.refuse(serverError(http.StatusInternalServerError))
	}
	sent.start()
	return a
}

// change makes the transition. The books, the events, the stored answer and the log are written as one.
func (c *call) change(effect effect, record *keyRecord, fault *control.Rule) (*answer, *sending) {
	b := c.twin.books
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.begin(c.now, c.who)
	b.passTime(t)
	a, refused := c.run(t, effect, fault)
	writes := &batch{}
	if record != nil {
		a.original = c.who.requestID
		if refused != nil && refused.unstored {
			a.original = ""
			b.keys.forget(record)
		} else {
			b.keys.keep(record, *a, writes)
		}
		b.keys.prune(c.now, writes)
	}
	c.twin.requests.update(c.entry, writes, func(r *control.Request) { r.Executed = a.executed })
	return a, c.twin.commit(t, writes)
}

// run makes the answer of an execution, with the fault that changes it.
func (c *call) run(t *transition, effect effect, fault *control.Rule) (*answer, *apiError) {
	before := len(t.touched)
	if fault != nil && fault.Fault != control.FaultErrorAfter {
		refused := serverError(http.StatusInternalServerError)
		if fault.Fault == control.FaultRefused {
			refused = refusal("", "This request was refused by the twin's rule "+fault.ID+".", "")
		}
		if fault.Status != 0 {
			refused.status = fault.Status
		}
		return c.keepable(c.refuse(refused)), refused
	}
	value, refused := effect(t)
	a := &answer{status: http.StatusOK}
	if refused != nil {
		a = c.refuse(refused)
	} else {
		a.body = encode(value)
	}
	if fault != nil && (refused == nil || !refused.unstored) {
		failure := serverError(http.StatusInternalServerError)
		if fault.Status != 0 {
			failure.status = fault.Status
		}
		a, refused = c.refuse(failure), failure
	}
	a.executed = len(t.touched) > before
	if refused == nil || !refused.unstored {
		a = c.keepable(a)
	}
	return a, refused
}

// keepable marks an answer as that of an execution or a look-up.
func (c *call) keepable(a *answer) *answer {
	a.kept = true
	return a
}

// refuse writes an error.
func (c *call) refuse(e *apiError) *answer {
	shown := *e
	mode := "test/"
	if c.who.Livemode {
		mode = ""
	}
	shown.RequestLogURL = "https://dashboard.stripe.com/" + mode + "logs/" + c.who.requestID
	return &answer{status: e.status, body: encode(map[string]any{"error": &shown}), shouldRetry: e.shouldRetry, retryAfterS: e.retryAfterS}
}
