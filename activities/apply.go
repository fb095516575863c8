package activities

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"payonce/boundaries"
	"payonce/internal/postgres"
	"payonce/ledger"
	"payonce/notifications"
	"payonce/payments"
	"payonce/workflows"
)

// Apply applies what Stripe says of a payment, whoever brings it: an answer, an event, a poll, a look. One transaction locks the payment, checks
// the binding, moves the state if the fact is ahead, posts what is missing, queues the messages, completes the commands that this settles and
// marks the event. It needs no workflow; the workflow is woken when its payment changed under it.
func (a *Activities) Apply(ctx context.Context, id payments.PaymentID, learnt Learnt) (Applied, error) {
	applied, err := a.ApplyAll(ctx, id, learnt)
	if err != nil {
		return Applied{}, err
	}
	return applied[0], nil
}

// ApplyAll is Apply for facts that came together, in one transaction and in their order: each meets the payment as the one before left it.
func (a *Activities) ApplyAll(ctx context.Context, id payments.PaymentID, facts ...Learnt) ([]Applied, error) {
	return a.applyAhead(ctx, id, nil, facts...)
}

// applyAhead is ApplyAll; the commit begins the call that comes next, unless next is nil.
func (a *Activities) applyAhead(ctx context.Context, id payments.PaymentID, next *confirmAhead, facts ...Learnt) ([]Applied, error) {
	var all application
	err := postgres.Pipelined(ctx, a.Pool, func(first *pgx.Batch) {
		all = application{Activities: a, offered: map[offer]bool{}}
		a.queueLock(first, id, &all.at)
		notifications.QueueEndpoints(first, id, &all.endpoints)
	}, func(tx pgx.Tx, last *pgx.Batch) error {
		all.before, all.last = all.at, last
		for _, learnt := range facts {
			applied, err := all.apply(ctx, tx, learnt)
			if err != nil {
				return err
			}
			all.applied = append(all.applied, applied)
		}
		if err := next.queue(all.at, last); err != nil {
			return err
		}
		return all.queuePayment()
	})
	if err != nil {
		return nil, fmt.Errorf("apply to payment %s: %w", id, unknownPayment(err))
	}
	next.committed()
	all.announce(ctx)
	return all.applied, nil
}

// application is one transaction of Apply: the payment as it was locked, as it stands after each fact, and what is to be written.
type application struct {
	*Activities
	before    situation
	at        situation
	endpoints []uuid.UUID // of the tenant
	last      *pgx.Batch  // travels with COMMIT
	applied   []Applied

	facts      int                      // newly true
	settled    []*boundaries.Settlement // records that have their answer now
	offered    map[offer]bool           // messages that were queued, or found queued
	woken      []payments.RefundID      // refunds that changed under their workflows
	messages   int                      // queued now
	suppressed struct{ postings, messages int }
	polled     bool
	outside    bool // the workflow may not know of what changed
}

// offer names a message.
type offer struct {
	kind    notifications.Kind
	subject string
}

// apply applies one fact to the payment as it stands.
func (all *application) apply(ctx context.Context, tx pgx.Tx, learnt Learnt) (Applied, error) {
	s := all.at
	all.polled = all.polled || learnt.Source == SourcePoll
	if misfit := misfit(s.payment, learnt.Intent); misfit != "" {
		surplus := s.payment.IntentID != "" && s.payment.IntentID != learnt.Intent.ID && !learnt.Intent.Status.Absorbing()
		return Applied{Verdict: VerdictQuarantined, Step: s.step(), Surplus: surplus}, all.quarantine(ctx, tx, s, learnt, misfit)
	}
	if learnt.Unsent {
		if unsent, err := stillUnsent(ctx, tx, s.next()); err != nil || !unsent {
			return Applied{Verdict: VerdictStale, Step: s.step()}, err
		}
	}
	if learnt.Abandoned && !s.abandoned() || learnt.HoldDue && !s.holdDue() {
		return Applied{Verdict: VerdictStale, Step: s.step()}, nil
	}
	ch := decide(s, learnt, all.Timing)
	if err := all.write(ctx, tx, s, learnt, &ch); err != nil {
		return Applied{}, err
	}
	all.at = s.after(ch)
	return Applied{Verdict: ch.verdict, Step: all.at.step()}, nil
}

// write posts and enqueues what a change implies, and queues the rest of it. Lock order: payment, key, record, inserts.
func (all *application) write(ctx context.Context, tx pgx.Tx, s situation, learnt Learnt, ch *change) error {
	ch.advance(s, learnt)
	ch.wait(s, all.Timing)
	batch, queued := &pgx.Batch{}, &notifications.Queued{}
	if err := all.enqueue(ctx, tx, s, learnt, ch, batch, queued); err != nil {
		return err
	}
	if err := all.post(ctx, tx, s, ch, batch); err != nil {
		return err
	}
	all.told(ch, *queued)
	for _, c := range ch.settled {
		settled, err := all.queueSettlement(all.last, ch.after, c)
		if err != nil {
			return err
		}
		all.settled = append(all.settled, settled)
	}
	if ch.engine != "" {
		if err := all.queueEngineCommand(all.last, s, ch); err != nil {
			return err
		}
	}
	if learnt.fromOutside() && ch.after.Status.Terminal() && !s.payment.Status.Terminal() {
		all.queueLastWake(all.last, s.payment.ID)
	}
	queueFacts(all.last, s.payment.ID, learnt, ch.facts)
	if !s.fencedOut(learnt.Answer) {
		queueAnsweredCall(all.last, learnt.Answer)
	}
	queueEvent(all.last, s.payment, learnt, string(ch.verdict), "")
	all.facts += len(ch.facts)
	all.suppressed.postings += ch.suppressedPostings
	all.outside = all.outside || learnt.fromOutside() && (len(ch.facts) > 0 || len(ch.settled) > 0)
	return nil
}

// advance moves the stage to what the new status has reached, and times each stage on the way: terminal has the time of the fact, ledger_applied
// the commit's, processing that of the first confirm's first send.
func (ch *change) advance(s situation, learnt Learnt) {
	reached := ch.after.Status.StageOf()
	if reached == payments.StageSubmitted && ch.after.IntentID != "" {
		reached = payments.StageExternalResourceCreated
	}
	if reached.Rank() > s.payment.Stage.Rank() {
		ch.after.Stage = reached
	}
	fact := learnt.EffectiveAt
	if fact.IsZero() {
		fact = s.now
	}
	at := map[payments.Stage]time.Time{
		payments.StageExternalResourceCreated: s.now, payments.StageProcessing: fact, payments.StageTerminal: fact, payments.StageLedgerApplied: s.now,
	}
	if s.sentAt != nil {
		at[payments.StageProcessing] = *s.sentAt
	}
	ch.after.Reached = maps.Clone(s.payment.Reached)
	for stage, when := range at {
		_, timed := ch.after.Reached[stage]
		external := stage == payments.StageExternalResourceCreated || stage == payments.StageProcessing
		if !timed && stage.Rank() <= ch.after.Stage.Rank() && (ch.after.IntentID != "" || !external) {
			ch.after.Reached[stage] = when.UTC()
		}
	}
	if ch.engine != "" {
		ch.after.LastCommand++
	}
}

// enqueue queues the implied messages for the tenant's endpoints. The last one is left in the batch, to travel with the journals; those before it are sent,
// since the number of a message depends on whether the one before it is new.
func (all *application) enqueue(ctx context.Context, tx pgx.Tx, s situation, learnt Learnt, ch *change, batch *pgx.Batch, queued *notifications.Queued) error {
	for _, m := range ch.messages {
		if all.offered[offer{m.kind, m.subject}] { // by a fact that came with this one
			all.suppressed.messages += len(all.endpoints)
			continue
		}
		all.offered[offer{m.kind, m.subject}] = true
		body, err := m.render(ch.after.View(), learnt.EffectiveAt)
		if err != nil {
			return err
		}
		if batch.Len() > 0 {
			if err := tx.SendBatch(ctx, batch).Close(); err != nil {
				return fmt.Errorf("enqueue messages: %w", err)
			}
			all.told(ch, *queued)
			*batch = pgx.Batch{}
		}
		err = notifications.QueueFor(batch, all.Sealer, notifications.Message{
			Tenant: s.payment.Tenant, Subject: m.subject, Kind: m.kind, Payment: s.payment.ID, Sequence: ch.after.LastMessage + 1, Body: body,
		}, all.endpoints, queued)
		if err != nil {
			return err
		}
	}
	return nil
}

// told counts a message that was queued, or found queued.
func (all *application) told(ch *change, queued notifications.Queued) {
	if queued.Queued > 0 {
		ch.after.LastMessage++
	}
	all.messages += queued.Queued
	all.suppressed.messages += queued.Suppressed
}

// post posts what the fact took, together with what the batch holds. A key that holds other content posts nothing: the payment is marked for review.
func (all *application) post(ctx context.Context, tx pgx.Tx, s situation, ch *change, batch *pgx.Batch) error {
	if len(ch.postings) == 0 && batch.Len() == 0 {
		return nil
	}
	results, err := ledger.PostWith(ctx, tx, batch, ch.postings...)
	if err != nil {
		return err
	}
	for i, result := range results {
		switch {
		case result.Outcome == boundaries.Replay:
			ch.suppressedPostings++
		case result.Outcome == boundaries.Mismatch:
			all.Log.Error("a posting key holds other content: nothing was posted", "payment", s.payment.ID, "posting_key", ch.postings[i].Key)
			ch.after.Review = &payments.Review{Reason: "posting_mismatch", Since: s.now, Facts: map[string]any{"posting_key": ch.postings[i].Key}}
		case len(result.InTheRed) > 0:
			all.Log.Error("a fact took a guarded account into the red", "payment", s.payment.ID, "accounts", result.InTheRed)
		}
	}
	return nil
}

// fencedOut tells whether a decline comes from an owner whose record another owner has entered since: it is a fact like any other, and leaves the
// call to that owner, who settles the command with Stripe's repeat of the same answer.
func (s situation) fencedOut(answered *AnsweredCall) bool {
	if answered == nil || answered.Decline == nil {
		return false
	}
	confirm := s.openConfirm()
	return confirm != nil && confirm.fence != answered.Call.Fence
}

// after is the situation once the change is written.
func (s situation) after(ch change) situation {
	next := s
	next.payment, next.open = ch.after, nil
	for _, c := range s.open {
		if !contains(ch.settled, c) {
			next.open = append(next.open, c)
		}
	}
	for _, c := range ch.settled {
		if c.operation == payments.OperationConfirm {
			next.settled++
		}
		if code, _, _, err := ch.after.Outcome(c.operation, c.refused); err == nil && c.operation == payments.OperationCancel && code == http.StatusConflict {
			next.refused++
		}
	}
	if ch.engine != "" {
		next.open = append(next.open, command{operation: ch.engine, status: boundaries.RecordInProgress, number: ch.after.LastCommand})
	}
	return next
}

func contains(commands []command, c command) bool {
	for _, one := range commands {
		if one.record == c.record {
			return true
		}
	}
	return false
}

// announce tells this process what was committed: waiting callers, the dispatcher, and the workflow when its payment changed under it.
func (all *application) announce(ctx context.Context) {
	for _, settled := range all.settled {
		all.Settled.Announce(*settled)
	}
	if all.messages > 0 {
		all.Nudge()
	}
	for _, refund := range all.woken {
		if err := all.Waker.WakeRefund(ctx, all.at.payment.ID, refund); err != nil && !errors.Is(err, workflows.ErrOver) {
			all.Log.Warn("the workflow was not woken: the relay will", "refund", refund, "error", err)
		}
	}
	if all.outside {
		if err := all.Waker.Wake(ctx, all.at.payment.ID); err != nil && !errors.Is(err, workflows.ErrOver) {
			all.Log.Warn("the workflow was not woken: the relay will", "payment", all.at.payment.ID, "error", err)
		}
	}
}
