package activities

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"time"

	"payonce/boundaries"
	"payonce/internal/stripeapi"
	"payonce/internal/tenants"
	"payonce/payments"
	"payonce/workflows"
)

// credentials are the key of the account that the payment is pinned to, or of its platform, unless that account is stopped.
func (a *Activities) credentials(ctx context.Context, account payments.Account) (stripeapi.Credentials, error) {
	key, err := tenants.UsableKey(ctx, a.Pool, a.Sealer, account)
	if errors.Is(err, tenants.ErrAccountStopped) {
		return stripeapi.Credentials{}, notYet("the Stripe account is stopped", reactions[causeAccountStopped].pause, err)
	}
	return stripeapi.Credentials{SecretKey: key.Secret, Account: account, Connected: key.Connected}, err
}

// credentialsOf are those of the account that the payment is pinned to, as they were read with it.
func (a *Activities) credentialsOf(s situation) (stripeapi.Credentials, error) {
	key, err := s.key.Open(a.Sealer)
	if errors.Is(err, tenants.ErrAccountStopped) {
		return stripeapi.Credentials{}, notYet("the Stripe account is stopped", reactions[causeAccountStopped].pause, err)
	}
	return stripeapi.Credentials{SecretKey: key.Secret, Account: s.payment.Account, Connected: key.Connected}, err
}

// errFrozen says that an operator has frozen what would call Stripe; nothing was frozen into a request or sent.
var errFrozen = errors.New("frozen: payonce freezes")

// sent is what one send of a call came to.
type sent struct {
	call    boundaries.Call
	answer  *stripeapi.Receipt // a 2xx
	intent  *stripeapi.Intent  // what it brought, of a call about an intent
	refund  *stripeapi.Refund  // the same, of one about a refund
	payout  *stripeapi.Payout  // or about a payout
	party   *stripeapi.Party   // or about a customer or a connected account
	refusal *stripeapi.Error   // a decline or a definite refusal
	look    bool               // nothing is to be sent before Stripe was read
}

// send freezes the command's call, sends it once and sorts what came back. An error asks for the same act again.
func (a *Activities) send(ctx context.Context, in workflows.Act, s situation, c *command, path string, body url.Values) (sent, error) {
	if s.begun != nil {
		return a.sendBegun(ctx, in, s)
	}
	newest := s.newest(c)
	generation := 0
	if newest != nil {
		generation = newest.Generation
		switch {
		case newest.Status == boundaries.CallAbsent:
			generation++
		case mustLook(*newest), newest.Status == boundaries.CallAnswered:
			return sent{call: *newest, look: true}, nil
		}
	}
	credentials, err := a.credentialsOf(s)
	if err == nil && s.key.Frozen(c.operation) && (newest != nil || !c.late) {
		err = notYet("an operator has frozen it", a.Timing.RetryMaximum, errFrozen)
	}
	if err != nil {
		return sent{}, err
	}
	if newest != nil || !c.late { // else nothing is sent any more: Begin says so
		if err := a.mayCall(ctx, in.Local, a.budgetOf(s, c)); err != nil {
			return sent{}, err
		}
	}
	call, err := a.Calls.Begin(ctx, freezing(in, s, c, generation, path, body))
	if errors.Is(err, boundaries.ErrBlind) {
		return a.blind(ctx, c)
	}
	if err != nil {
		return sent{}, a.notBegun(err)
	}
	return a.sendOnce(ctx, in, credentials, call)
}

// sendBegun sends a call whose send is noted already, as nobody has done yet.
func (a *Activities) sendBegun(ctx context.Context, in workflows.Act, s situation) (sent, error) {
	credentials, err := a.credentialsOf(s)
	if err != nil {
		return sent{}, err
	}
	return a.sendOnce(ctx, in, credentials, *s.begun)
}

// freezing is what the command's call is frozen from.
func freezing(in workflows.Act, s situation, c *command, generation int, path string, body url.Values) boundaries.Freeze {
	return boundaries.Freeze{
		Key: boundaries.ProviderKey{
			Tenant: s.payment.Tenant, ResourceKind: c.kind, ResourceID: c.resource, Operation: c.operation, Attempt: c.attempt, Generation: generation,
		},
		Record: c.record, Payment: s.payment.ID, Owner: in.Owner, Account: s.payment.Account,
		Path: path, Body: []byte(body.Encode()), Version: stripeapi.APIVersion,
	}
}

// blind looks for a call that is too old to be sent again.
func (a *Activities) blind(ctx context.Context, c *command) (sent, error) {
	newest, err := a.Calls.Newest(ctx, c.record)
	if err != nil {
		return sent{}, err
	}
	return sent{call: *newest, look: true}, nil
}

func (a *Activities) sendOnce(ctx context.Context, in workflows.Act, credentials stripeapi.Credentials, call boundaries.Call) (sent, error) {
	timeout := a.Timing.Send
	if in.Local {
		timeout = a.Timing.FirstSend
	}
	sending, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	result, err := a.sendTo(sending, credentials, call)
	if err == nil {
		return result, nil
	}
	why := causeOf(err)
	var refusal *stripeapi.Error
	if errors.As(err, &refusal) && why != causeDeclined && why != causeRefused {
		if noteErr := a.Calls.Ended(ctx, call.Key, refusal.Status, string(why), refusal.RequestID, refusal.Replayed); noteErr != nil {
			return sent{}, noteErr
		}
	}
	switch reaction := reactions[why]; {
	case why == causeAccountStopped:
		return sent{}, notYet(string(why), reaction.pause, a.refusedAccount(ctx, credentials.Account, err))
	case reaction.retry:
		return sent{}, notYet(string(why), a.pause(reaction, refusal), err)
	case reaction.look:
		return sent{call: call, refusal: refusal, look: true}, nil
	default:
		return sent{call: call, refusal: refusal}, nil
	}
}

// sendTo sends the call to where its operation goes.
func (a *Activities) sendTo(ctx context.Context, credentials stripeapi.Credentials, call boundaries.Call) (sent, error) {
	request := stripeapi.Request{IdempotencyKey: call.Key, Path: call.Path, Body: call.Body, Version: call.Version}
	if call.Operation == payments.OperationRefund {
		answer, err := a.Stripe.SendRefund(ctx, credentials, request)
		return sent{call: call, answer: &answer.Receipt, refund: &answer.Refund}, err
	}
	if call.Operation == payments.OperationPayout {
		answer, err := a.Stripe.SendPayout(ctx, credentials, request)
		return sent{call: call, answer: &answer.Receipt, payout: &answer.Payout}, err
	}
	if kind, provisions := payments.ProvisionKindOf(call.Operation); provisions {
		send := a.Stripe.SendCustomer
		if kind == payments.ProvisionConnectedAccount {
			send = a.Stripe.SendConnectedAccount
		}
		answer, err := send(ctx, credentials, request)
		return sent{call: call, answer: &answer.Receipt, party: &answer.Party}, err
	}
	answer, err := a.Stripe.Send(ctx, credentials, request)
	return sent{call: call, answer: &answer.Receipt, intent: &answer.Intent}, err
}

// pause is the longer of the table's and Stripe's, 0 for the policy's own back-off. Up to half as much again is added by chance, so that those who
// were limited together do not come back together.
func (a *Activities) pause(reaction reaction, refusal *stripeapi.Error) time.Duration {
	pause := min(reaction.pause, a.Timing.RetryMaximum)
	if refusal != nil {
		pause = max(pause, refusal.RetryAfter)
	}
	return pause + rand.N(pause/2+1)
}

// answered is what apply is told of the call that a fact answers.
func (s sent) answered() *AnsweredCall {
	answered := &AnsweredCall{Call: s.call}
	switch {
	case s.answer != nil:
		answered.Status, answered.RequestID, answered.Replayed = s.answer.Status, s.answer.RequestID, s.answer.Replayed
	case s.refusal != nil:
		answered.Status, answered.RequestID, answered.Replayed = s.refusal.Status, s.refusal.RequestID, s.refusal.Replayed
		refusal := s.refusal.Refusal
		if causeOf(s.refusal) == causeDeclined {
			answered.Decline = &refusal
		} else {
			answered.Refusal = &refusal
		}
	}
	return answered
}

// learnt is what the send brought, for apply.
func (s sent) learnt() Learnt {
	learnt := Learnt{Source: SourceAnswer, BegunAt: s.call.LastSentAt, EffectiveAt: s.call.LastSentAt, Answer: s.answered()}
	switch {
	case s.answer != nil:
		learnt.Intent = s.intent
	case s.refusal != nil:
		learnt.Intent = s.refusal.Intent
	}
	if learnt.Answer.Replayed {
		// Stripe's memory of the first send: as old as that.
		learnt.BegunAt = s.call.FirstSentAt
	}
	return learnt
}

// asRefusal is the answer with a card error taken for what it is of anything but a confirm: a refusal.
func (c *AnsweredCall) asRefusal() *AnsweredCall {
	if c.Decline != nil {
		c.Refusal, c.Decline = c.Decline, nil
	}
	return c
}

// mustLook tells whether the newest answer of a call makes sending it again useless.
func mustLook(call boundaries.Call) bool {
	return call.Status == boundaries.CallSent && call.EndedAt != nil && reactions[cause(call.Code)].look
}

// openCommand decodes the stored command.
func openCommand[C any](a *Activities, c *command) (C, error) {
	plain, err := a.Sealer.Open(boundaries.ColumnCommand, c.sealed)
	if err != nil {
		var zero C
		return zero, fmt.Errorf("record %s: %w", c.record, err)
	}
	return boundaries.CommandOf[C](plain)
}
