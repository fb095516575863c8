package activities

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"payonce/boundaries"
	"payonce/internal/clock"
	"payonce/internal/tenants"
	"payonce/internal/timing"
	"payonce/payments"
	"payonce/workflows"
)

// confirmAhead is the confirm that follows a create: its call is begun in the commit that binds the intent, which saves the confirm a look at the
// payment and a commit of its own. The send that is noted there belongs to the workflow's next act in this process, once; without it, any try of the
// confirm notes a send of its own, as always.
type confirmAhead struct {
	a    *Activities
	in   workflows.Act
	key  tenants.SealedKey
	at   situation
	call boundaries.Call
}

// confirmAhead is what the create's answer may begin, or nil: what would have to wait long for the account's buckets waits where every confirm does, and
// the answer is committed meanwhile.
func (a *Activities) confirmAhead(ctx context.Context, in workflows.Act, s situation, result sent) *confirmAhead {
	confirm := s.openConfirm()
	if !in.Local || result.answer == nil || confirm == nil || s.newest(confirm) != nil || s.key.Frozen(confirm.operation) {
		return nil
	}
	if pause, err := a.Budget.Take(ctx, a.budgetOf(s, confirm), (a.Timing.LocalTry-a.Timing.FirstSend)/4); err != nil || pause > 0 {
		return nil
	}
	return &confirmAhead{a: a, in: in, key: s.key}
}

// queue begins the confirm's call with the commit that leaves the payment at at, if the confirm is next.
func (n *confirmAhead) queue(at situation, last *pgx.Batch) error {
	if n == nil {
		return nil
	}
	n.at, n.call = at, boundaries.Call{}
	n.at.key = n.key
	c := at.find(payments.OperationConfirm)
	if c == nil {
		return nil
	}
	confirm, err := openCommand[payments.ConfirmCommand](n.a, c)
	if err != nil {
		return err
	}
	return n.a.Calls.QueueBegin(last, freezing(n.in, at, c, 0, confirmPath(at.payment), confirmBody(at.payment, confirm)), &n.call)
}

// committed leaves the begun call to the workflow's next act.
func (n *confirmAhead) committed() {
	if n == nil || n.call.Sends == 0 {
		return
	}
	n.at.begun = &n.call
	n.a.ahead.put(n.in, n.at, n.a.Timing)
}

// ahead holds situations whose next call was begun, from one act of a workflow to its next.
type ahead struct {
	mutex sync.Mutex
	held  map[payments.PaymentID]aheadSituation
}

type aheadSituation struct {
	situation
	owner string
	since time.Time
}

// usable tells whether the noted send may still be made: it ends before the time by which every send has ended (Call.LastSendEnd), and so within the
// lease.
func (h aheadSituation) usable(durations timing.Timing) bool {
	return clock.Wall().Sub(h.since)+durations.FirstSend < durations.Send
}

// put holds a situation, and lets go of those that nobody took in time.
func (h *ahead) put(in workflows.Act, s situation, durations timing.Timing) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.held == nil {
		h.held = map[payments.PaymentID]aheadSituation{}
	}
	for payment, held := range h.held {
		if !held.usable(durations) {
			delete(h.held, payment)
		}
	}
	h.held[in.Payment] = aheadSituation{situation: s, owner: in.Owner, since: clock.Wall()}
}

// take gives the situation that was begun for this act, to the first that asks; the send is as late as the asking.
func (h *ahead) take(in workflows.Act, operation payments.Operation, durations timing.Timing) (situation, bool) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	held, found := h.held[in.Payment]
	if !found || held.begun.Operation != operation {
		return situation{}, false
	}
	delete(h.held, in.Payment)
	if !in.Local || held.owner != in.Owner || !held.usable(durations) {
		return situation{}, false
	}
	held.begun.LastSentAt = held.begun.LastSentAt.Add(clock.Wall().Sub(held.since))
	return held.situation, true
}
