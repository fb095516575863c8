package activities

import (
	"context"
	"errors"

	"payonce/internal/budget"
	"payonce/payments"
)

// backlogAfter is how often WakeAfter goes into the age from which a command is backlog: nobody waits for its answer any more.
const backlogAfter = 5

// errLimited says that a call has to wait for the account's bucket; nothing was frozen or sent.
var errLimited = errors.New("the account's calls per second are used up")

// mayCall waits for the call's turn in the account's buckets, for half the time that a try has beside its call at most, the first, local one (brief) for
// half of less. An error asks for the same act again, when its turn should have come: nothing was sent.
func (a *Activities) mayCall(ctx context.Context, brief bool, call budget.Call) error {
	patience := (a.Timing.Try - a.Timing.Send) / 2
	if brief {
		patience = (a.Timing.LocalTry - a.Timing.FirstSend) / 2
	}
	pause, err := a.Budget.Take(ctx, call, patience)
	switch {
	case err != nil:
		return notYet("no word from the account's buckets", 0, err)
	case pause > 0:
		return notYet("the account's calls per second are used up", min(pause, a.Timing.RetryMaximum), errLimited)
	default:
		return nil
	}
}

// budgetOf is a command's call, as the buckets see it.
func (a *Activities) budgetOf(s situation, c *command) budget.Call {
	waits := s.now.Sub(c.since) > backlogAfter*a.Timing.WakeAfter
	return budget.Call{Account: s.payment.Account, Endpoint: budget.EndpointOf(c.operation), Priority: budget.PriorityOf(c.operation, waits)}
}

// mayRead is mayCall for a read.
func (a *Activities) mayRead(ctx context.Context, account payments.Account, endpoint budget.Endpoint, priority budget.Priority) error {
	return a.mayCall(ctx, true, budget.Call{Account: account, Endpoint: endpoint, Priority: priority})
}
