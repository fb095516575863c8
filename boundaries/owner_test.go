package boundaries_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/stretchr/testify/require"

	"payonce/activities"
	"payonce/boundaries"
	"payonce/internal/stripeapi"
	"payonce/payments"
)

// owner is what a process holds between two acts: the call that it began, or the record that it claimed.
type owner struct {
	*engine
	call boundaries.Call
	held boundaries.Held
}

// act is what a test asks of an owner in another process.
type act struct {
	Do    deed
	Offer offer
	As    string // the owner of the lease
	Says  word   // with tell
}

// deed is a kind of act.
type deed string

const (
	begin    deed = "begin"    // freeze the confirm of the offer's payment, or take it over
	tell     deed = "tell"     // apply what Stripe said to the call that was begun
	claim    deed = "claim"    // claim the record of the offer's payout
	complete deed = "complete" // complete the record that was claimed, naming the owner as the result
	giveBack deed = "release"
)

// word is what Stripe said to a confirm.
type word string

const (
	declines word = "declined"
	succeeds word = "succeeded"
)

// done is what an act came to.
type done struct {
	Leased  bool // somebody else holds the lease
	Key     string
	Body    []byte
	Fence   int64
	Sends   int
	Outcome boundaries.Outcome // of a claim
	Stood   bool               // of complete and release: it was not fenced out
	Verdict activities.Verdict
	Error   string
}

func (o *owner) do(ctx context.Context, asked act) done {
	what, err := o.perform(ctx, asked)
	if errors.Is(err, boundaries.ErrLeased) {
		return done{Leased: true}
	}
	if err != nil {
		what.Error = err.Error()
	}
	return what
}

func (o *owner) perform(ctx context.Context, asked act) (what done, err error) {
	switch asked.Do {
	case begin:
		call, err := o.calls.Begin(ctx, o.freezeConfirm(asked.Offer, asked.As))
		if err == nil {
			o.call = call
		}
		return done{Key: call.Key.String(), Body: call.Body, Fence: call.Fence, Sends: call.Sends}, err
	case tell:
		applied, err := o.activities.Apply(ctx, o.payment(asked.Offer), o.learnt(asked.Offer, asked.Says))
		return done{Verdict: applied.Verdict}, err
	case claim:
		o.held, err = boundaries.ClaimRecord(ctx, o.system, o.attempt(asked.Offer), asked.As, o.timing.Lease)
		return done{Outcome: o.held.Outcome, Fence: o.held.Fence}, err
	case complete:
		what.Stood, err = boundaries.Complete(ctx, o.system, o.held.Record, o.held.Fence, asked.As, 200, map[string]any{"by": asked.As})
		return what, err
	case giveBack:
		what.Stood, err = boundaries.Release(ctx, o.system, o.held.Record, o.held.Fence)
		return what, err
	default:
		return done{}, fmt.Errorf("no deed %q", asked.Do)
	}
}

// freezeConfirm is the first confirm of the offer's payment. What is given drifts with the owner, as after a deploy.
func (e *engine) freezeConfirm(o offer, as string) boundaries.Freeze {
	freeze := e.freeze(o, as)
	freeze.Key.Operation = payments.OperationConfirm
	freeze.Record = boundaries.RecordID(e.Tenants[o.Tenant], payments.OperationConfirm, boundaries.ConfirmOwnerKey(e.payment(o), 1))
	freeze.Path, freeze.Body = "/v1/payment_intents/pi_"+o.Identity+"/confirm", []byte("payment_method=pm_card_visa&by="+as)
	return freeze
}

// learnt is Stripe's word as the owner brings it: with the call that it answers and the time at which that was sent.
func (o *owner) learnt(what offer, says word) activities.Learnt {
	learnt := activities.Learnt{
		Source: activities.SourceAnswer, BegunAt: o.call.LastSentAt, EffectiveAt: o.call.LastSentAt,
		Answer: &activities.AnsweredCall{Call: o.call, Status: 200, RequestID: "req_1", Replayed: o.call.Sends > 1},
	}
	if says == succeeds {
		learnt.Intent = intentOf(o.engine, what, stripeapi.IntentSucceeded)
		return learnt
	}
	decline := payments.ProviderError{Code: "card_declined", DeclineCode: "insufficient_funds", Charge: "ch_declined_" + what.Identity}
	learnt.Answer.Status, learnt.Answer.Decline = 402, &decline
	learnt.Intent = intentOf(o.engine, what, stripeapi.IntentRequiresPaymentMethod)
	learnt.Intent.LastError = &decline
	return learnt
}

// asks lets the process do an act and returns what it came to.
func (p *process) asks(what act) done {
	p.w.t.Helper()
	p.ask(order{Act: &what})
	return p.did()
}

func (p *process) did() done {
	p.w.t.Helper()
	var what done
	require.NoError(p.w.t, p.answers.Decode(&what))
	require.Empty(p.w.t, what.Error)
	return what
}
