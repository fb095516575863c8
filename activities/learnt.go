package activities

import (
	"time"

	"github.com/google/uuid"

	"payonce/boundaries"
	"payonce/internal/stripeapi"
	"payonce/payments"
	"payonce/workflows"
)

// Source is what brought a fact.
type Source string

// The sources.
const (
	SourceAnswer Source = "answer" // the answer to our own call
	SourceEvent  Source = "event"
	SourcePoll   Source = "poll"
	SourceRead   Source = "read" // a look-up after an answer that was no result
	SourceEngine Source = "engine"

	SourceOperator Source = "operator" // a person who settles what machines cannot
)

// Learnt is what somebody brings for Apply: what Stripe says, or the certainty that nothing will be sent.
type Learnt struct {
	Source      Source
	Intent      *stripeapi.Intent  // nil when the fact carries none
	BegunAt     time.Time          // payonce.clock() when the read or the send began; zero for an event's snapshot, which counts only when absorbing
	EffectiveAt time.Time          // when it happened, as far as is known
	Answer      *AnsweredCall      // the call of ours that this answers
	LastSendEnd *time.Time         // with SourceRead: the command's newest send had ended by then, so its decline may be read off the intent
	Event       *uuid.UUID         // the stored event, to be marked in the same commit
	Implied     bool               // the fact implies the postings and messages of the state we hold: they are offered again, and counted
	Abandoned   bool               // the payer did not come back in time; dropped when somebody moved the payment meanwhile
	Executed    *payments.RecordID // a person says that this command took effect, and the intent is to bear it out
	HoldDue     bool               // somebody has to see to the hold; dropped when it was seen to meanwhile
	Unsent      bool               // the next command's deadline passed before it was sent; dropped when its call was frozen meanwhile
}

// fromOutside tells whether the payment's workflow may not know of the fact: none of its acts brought it.
func (l Learnt) fromOutside() bool {
	return l.Source == SourceEvent || l.Source == SourcePoll || l.Source == SourceOperator
}

// AnsweredCall is a definite answer to a call of ours.
type AnsweredCall struct {
	Call      boundaries.Call
	Status    int
	RequestID string
	Replayed  bool
	Decline   *payments.ProviderError
	Refusal   *payments.ProviderError
}

// Applied is what Apply did.
type Applied struct {
	Step    workflows.Step
	Verdict Verdict
	Surplus bool // with VerdictQuarantined: an open intent of a payment that is bound to another
}

// Verdict is how a fact met the payment; an event is marked with it.
type Verdict string

// The verdicts.
const (
	VerdictApplied     Verdict = "applied"     // it moved something, or implied what we hold
	VerdictStale       Verdict = "stale"       // it says nothing that is ahead
	VerdictQuarantined Verdict = "quarantined" // it fits no binding: its money is in suspense
)
