// Package timing holds every duration of the engine in one struct, with the relations that must hold between them.
//
// It imports nothing of ours. Ages and deadlines are measured by payonce.clock(); Temporal timers and tickers only wake.
package timing

import (
	"errors"
	"fmt"
	"time"
)

// Timing is every duration. Production gives the defaults; a test or a demo shrinks them together with Shrink.
type Timing struct {
	// Towards Stripe.
	FirstSend    time.Duration // HTTP time-out of the first try, made from a local activity
	LocalTry     time.Duration // start-to-close of that local activity
	Send         time.Duration // HTTP time-out of every later try
	Try          time.Duration // start-to-close of the activity around it
	Lease        time.Duration // of a record, around an effect that leaves the database
	KeyMemory    time.Duration // Stripe may forget a key after this
	BlindResend  time.Duration // after the first send of a call nothing is re-sent blindly
	SafetyAge    time.Duration // absence counts only from a list begun this long after the last send ended
	RetryInitial time.Duration // back-off between tries
	RetryMaximum time.Duration

	// Commands.
	CommandDeadline   time.Duration // not_after of a create or confirm
	ReplayWindow      time.Duration // how long a caller's key replays
	RedeliveryHorizon time.Duration // the longest redelivery that callers declare
	DefaultWait       time.Duration // Prefer: wait when absent
	MaximumWait       time.Duration // and at most
	AttendMargin      time.Duration // an attended record stays attended this much longer than its caller waits

	// The doors.
	Body           time.Duration // in which a body must have arrived
	StoreEvent     time.Duration // in which a webhook must be stored: Stripe wants its answer in time (below its two seconds)
	RefreshSecrets time.Duration // after which a new or rolled signing secret counts

	// The payer.
	AbandonAction time.Duration // a payment in requires_action is given up after this
	AbandonMethod time.Duration // and one in requires_payment_method after this

	// Holds.
	HoldWarn   time.Duration // that a hold runs out is told this long before
	HoldMargin time.Duration // and it is captured or voided this long before: Stripe's clock may differ

	// Recovery.
	WakeAfter     time.Duration // the relay wakes the workflow of an open command after this, then with back-off
	WakeMaximum   time.Duration
	LoopEvery     time.Duration // how often the relay, the applier and the dispatcher look when nobody nudges them
	ParkedEvery   time.Duration // how often the matcher looks at a parked event
	ParkedMaximum time.Duration // a parked event that nothing matched by then is settled as foreign
	Gather        time.Duration // an applier that is nudged waits so long for the events that come together
	EventLease    time.Duration // an applier holds an event for this long
	PollAfter     time.Duration // first poll of an open payment, then with back-off
	PollMaximum   time.Duration
	SweepEvery    time.Duration
	BackfillEvery time.Duration // how often Stripe's list of events is gone through for what no delivery brought; 0: never
	BackfillAct   time.Duration // start-to-close of one act of that
	FeesEvery     time.Duration // how often the fees of what is new at Stripe are booked
	FeesLag       time.Duration // a balance transaction is looked at when it is this old: Stripe may list them out of order
	FeesWait      time.Duration // one that names a payment which is not here is somebody else's when it is this old
	WorkflowTask  time.Duration // workflow task and sticky time-out: the recovery time after a kill
	ShutdownGrace time.Duration // a worker's stop time-out

	// Messages.
	Deliver        time.Duration // deadline of one delivery
	DeliverRetry   time.Duration // first back-off
	DeliverMaximum time.Duration // longest back-off
	DeliverGiveUp  time.Duration // age at which a message is parked

	// The database.
	Statement       time.Duration
	Lock            time.Duration
	IdleTransaction time.Duration
}

// Production are the defaults.
func Production() Timing {
	return Timing{
		FirstSend: 3 * time.Second, LocalTry: 4 * time.Second,
		Send: 30 * time.Second, Try: 40 * time.Second, Lease: 60 * time.Second,
		KeyMemory: 24 * time.Hour, BlindResend: 23 * time.Hour, SafetyAge: 15 * time.Minute,
		RetryInitial: 500 * time.Millisecond, RetryMaximum: time.Minute,

		CommandDeadline: 15 * time.Minute, ReplayWindow: 24 * time.Hour, RedeliveryHorizon: 24 * time.Hour,
		DefaultWait: 10 * time.Second, MaximumWait: 30 * time.Second, AttendMargin: 2 * time.Second,

		Body: 10 * time.Second, StoreEvent: 1500 * time.Millisecond, RefreshSecrets: 2 * time.Second,

		AbandonAction: time.Hour, AbandonMethod: 24 * time.Hour,

		HoldWarn: 24 * time.Hour, HoldMargin: 10 * time.Minute,

		WakeAfter: 2 * time.Second, WakeMaximum: time.Minute, LoopEvery: 250 * time.Millisecond,
		ParkedEvery: 5 * time.Second, ParkedMaximum: time.Hour, EventLease: time.Minute, Gather: 20 * time.Millisecond,
		PollAfter: time.Minute, PollMaximum: time.Hour, SweepEvery: time.Minute,
		BackfillEvery: 5 * time.Minute, BackfillAct: 10 * time.Minute,
		FeesEvery: 10 * time.Second, FeesLag: 5 * time.Second, FeesWait: time.Minute,
		WorkflowTask: 5 * time.Second, ShutdownGrace: 30 * time.Second,

		Deliver: 10 * time.Second, DeliverRetry: 5 * time.Second, DeliverMaximum: 6 * time.Hour, DeliverGiveUp: 72 * time.Hour,

		Statement: 10 * time.Second, Lock: 5 * time.Second, IdleTransaction: 10 * time.Second,
	}
}

// Quick are the production durations shrunk together, for tests and the demo on one machine: what takes minutes takes a second or
// two. Windows that only the clock's offset crosses (a day) stay.
func Quick() Timing {
	t := Production()
	t.FirstSend, t.LocalTry = 700*time.Millisecond, 1200*time.Millisecond
	t.Send, t.Try, t.Lease = 1500*time.Millisecond, 4*time.Second, 6*time.Second
	t.SafetyAge = 3 * time.Second
	t.RetryInitial, t.RetryMaximum = 100*time.Millisecond, time.Second
	t.AttendMargin = 3 * time.Second
	t.WakeAfter, t.WakeMaximum, t.LoopEvery = time.Second, 5*time.Second, 100*time.Millisecond
	t.ParkedEvery, t.EventLease = 500*time.Millisecond, 5*time.Second
	t.PollAfter, t.PollMaximum = 2*time.Second, 10*time.Second
	t.BackfillEvery = 0                                             // tests drop events to see what else tells of them; those about the backfill ask for it
	t.FeesEvery, t.FeesLag = 365*24*time.Hour, 200*time.Millisecond // tests count journals; those about fees shrink it further
	t.WorkflowTask, t.ShutdownGrace = 2*time.Second, 5*time.Second
	t.Deliver, t.DeliverRetry, t.DeliverMaximum = 2*time.Second, 200*time.Millisecond, 2*time.Second
	return t
}

// Validate reports every relation that does not hold.
func (t Timing) Validate() error {
	relations := []struct {
		smaller, larger      time.Duration
		nameSmall, nameLarge string
	}{
		{t.FirstSend, t.LocalTry, "FirstSend", "LocalTry"},
		{t.LocalTry, t.WorkflowTask, "LocalTry", "WorkflowTask"},
		{t.FirstSend, t.Send + 1, "FirstSend", "Send"},
		{t.Send, t.Try, "Send", "Try"},
		{t.Try, t.Lease, "Try", "Lease"},
		{t.BlindResend + t.Send, t.KeyMemory, "BlindResend + Send", "KeyMemory"},
		{t.SafetyAge + t.Send, t.KeyMemory, "SafetyAge + Send", "KeyMemory"},
		{t.CommandDeadline, t.BlindResend, "CommandDeadline", "BlindResend"},
		{t.RetryInitial, t.RetryMaximum, "RetryInitial", "RetryMaximum"},
		{t.DefaultWait, t.MaximumWait + 1, "DefaultWait", "MaximumWait"},
		{t.CommandDeadline, t.AbandonAction, "CommandDeadline", "AbandonAction"},
		{t.AbandonAction, t.AbandonMethod + 1, "AbandonAction", "AbandonMethod"},
		{t.HoldMargin, t.HoldWarn, "HoldMargin", "HoldWarn"},
		{t.WakeAfter, t.WakeMaximum, "WakeAfter", "WakeMaximum"},
		{t.Send, t.EventLease, "Send", "EventLease"},
		{t.ParkedEvery, t.ParkedMaximum, "ParkedEvery", "ParkedMaximum"},
		{t.PollAfter, t.PollMaximum, "PollAfter", "PollMaximum"},
		{t.FeesLag, t.FeesWait, "FeesLag", "FeesWait"},
		{t.DeliverRetry, t.DeliverMaximum, "DeliverRetry", "DeliverMaximum"},
		{t.DeliverMaximum, t.DeliverGiveUp, "DeliverMaximum", "DeliverGiveUp"},
		{t.Lock, t.Statement, "Lock", "Statement"},
		{24*time.Hour - 1, t.ReplayWindow, "24 h", "ReplayWindow"},
		{t.RedeliveryHorizon - 1, t.ReplayWindow, "RedeliveryHorizon", "ReplayWindow"},
	}
	var broken []error
	for _, relation := range relations {
		if relation.smaller >= relation.larger {
			broken = append(broken, fmt.Errorf("%s (%s) must be below %s (%s)",
				relation.nameSmall, relation.smaller, relation.nameLarge, relation.larger))
		}
	}
	if t.Deliver <= 0 || t.LoopEvery <= 0 || t.SweepEvery <= 0 || t.FeesEvery <= 0 || t.EventLease <= 0 || t.IdleTransaction <= 0 {
		broken = append(broken, errors.New("every duration must be positive"))
	}
	return errors.Join(broken...)
}
