package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"payonce/boundaries"
	"payonce/internal/budget"
	"payonce/internal/stripeapi"
	"payonce/payments"
	"payonce/workflows"
)

// maxLookPages bounds one look for an intent; a busier window is looked at again, and stays visible as waiting meanwhile.
const maxLookPages = 50

// lookMargin is the distance that Stripe's clock may have from ours.
const lookMargin = 10 * time.Minute

// findIntent looks for the intent of a create whose answer is not known. Absence counts only from a list begun SafetyAge or more after the last
// send ended; then the next generation may go.
func (a *Activities) findIntent(ctx context.Context, s situation, c *command, call boundaries.Call) (workflows.Step, error) {
	credentials, err := a.credentialsOf(s)
	if err != nil {
		return workflows.Step{}, err
	}
	found, err := a.searchList(ctx, credentials, s.payment.ID, call, s.now)
	if err != nil {
		return workflows.Step{}, notYet("list intents", 0, a.refusedAccount(ctx, s.payment.Account, err))
	}
	if found != nil {
		return a.applied(ctx, s, c, call, Learnt{Source: SourceRead, Intent: found, BegunAt: s.now, EffectiveAt: found.Created}, nil)
	}
	return a.notExecuted(ctx, s, c, call)
}

// searchList lists the intents of the window in which the call can have had its effect.
func (a *Activities) searchList(ctx context.Context, credentials stripeapi.Credentials, payment payments.PaymentID, call boundaries.Call, now time.Time,
) (*stripeapi.Intent, error) {
	after := ""
	for range maxLookPages {
		if err := a.mayRead(ctx, credentials.Account, budget.ListIntents, budget.Reads); err != nil {
			return nil, err
		}
		listing, cancel := context.WithTimeout(ctx, a.Timing.Send)
		page, err := a.Stripe.ListIntents(listing, credentials, call.FirstSentAt.Add(-lookMargin), now.Add(lookMargin), after)
		cancel()
		if err != nil {
			return nil, err
		}
		for i := range page.Intents {
			if page.Intents[i].PaymentMetadata() == payment.String() {
				return &page.Intents[i], nil
			}
		}
		if !page.More || len(page.Intents) == 0 {
			return nil, nil
		}
		after = page.Intents[len(page.Intents)-1].ID
	}
	return nil, fmt.Errorf("more than %d pages of intents in the window", maxLookPages)
}

// readIntent reads the known intent after an answer that was no result: what it is now settles the command, or proves that the call had no effect.
// refused is the refusal that a cancel met, which is its outcome unless the intent has ended.
func (a *Activities) readIntent(ctx context.Context, in workflows.Act, s situation, c *command, call boundaries.Call, refused *AnsweredCall,
) (workflows.Step, error) {
	credentials, err := a.credentialsOf(s)
	if err != nil {
		return workflows.Step{}, err
	}
	if err := a.mayRead(ctx, s.payment.Account, budget.ReadIntent, budget.Reads); err != nil {
		return workflows.Step{}, err
	}
	reading, cancel := context.WithTimeout(ctx, a.Timing.Send)
	defer cancel()
	intent, err := a.Stripe.ReadIntent(reading, credentials, s.payment.IntentID, inFull(s.payment)...)
	if err != nil {
		return workflows.Step{}, notYet("read intent", 0, a.refusedAccount(ctx, s.payment.Account, err))
	}
	end := call.LastSendEnd(a.Timing.Send)
	result, err := a.Apply(ctx, s.payment.ID, Learnt{
		Source: SourceRead, Intent: &intent, BegunAt: s.now, EffectiveAt: s.now, LastSendEnd: &end, Answer: refused,
	})
	if err != nil {
		return workflows.Step{}, err
	}
	if result.Verdict == VerdictQuarantined {
		return a.unknown(ctx, s, c, call) // what was read is no proof of absence
	}
	after, err := a.read(ctx, in.Payment)
	if err != nil {
		return workflows.Step{}, err
	}
	if still := after.find(c.operation); still == nil || still.record != c.record {
		return result.Step, nil
	}
	if c.ambiguous(after.payment.AmountCaptured) {
		if s.now.Before(end) { // what the total shows may be this capture: a read begun after its send tells
			return workflows.Step{}, notYet("too early to tell whose capture it is", end.Sub(s.now)+10*time.Millisecond, errors.New("look again"))
		}
		return a.unknown(ctx, s, c, call)
	}
	return a.notExecuted(ctx, s, c, call)
}

// notExecuted is absent for a command on a payment: it tells what comes next.
func (a *Activities) notExecuted(ctx context.Context, s situation, c *command, call boundaries.Call) (workflows.Step, error) {
	if err := a.absent(ctx, paymentSubject(s.payment.ID), s.now, c, call); err != nil {
		return workflows.Step{}, err
	}
	return a.ReadPayment(ctx, workflows.Act{Payment: s.payment.ID})
}

// unknown is markUnknown for a command on a payment: it tells what comes next.
func (a *Activities) unknown(ctx context.Context, s situation, c *command, call boundaries.Call) (workflows.Step, error) {
	if err := a.markUnknown(ctx, paymentSubject(s.payment.ID), c, call); err != nil {
		return workflows.Step{}, err
	}
	return a.ReadPayment(ctx, workflows.Act{Payment: s.payment.ID})
}
