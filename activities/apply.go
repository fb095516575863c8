package activities

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

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
	var (
		applied Applied
		ch      change
	)
	err := postgres.InTransaction(ctx, a.Pool, func(tx pgx.Tx) error {
		s, err := a.lock(ctx, tx, id)
		if err != nil {
			return err
		}
		if misfit := misfit(s.payment, learnt.Intent); misfit != "" {
			ch = change{after: s.payment, verdict: VerdictQuarantined}
			surplus := s.payment.IntentID != "" && s.payment.IntentID != learnt.Intent.ID && !learnt.Intent.Status.Absorbing()
			applied = Applied{Verdict: VerdictQuarantined, Step: s.step(), Surplus: surplus}
			return a.quarantine(ctx, tx, s, learnt, misfit)
		}
		if learnt.Unsent {
			if unsent, err := stillUnsent(ctx, tx, s.next()); err != nil || !unsent {
				ch = change{after: s.payment, verdict: VerdictStale}
				applied = Applied{Verdict: VerdictStale, Step: s.step()}
				return err
			}
		}
		if learnt.Abandoned && !s.abandoned() {
			ch = change{after: s.payment, verdict: VerdictStale}
			applied = Applied{Verdict: VerdictStale, Step: s.step()}
			return nil
		}
		ch = decide(s, learnt)
		if err := a.write(ctx, tx, s, learnt, &ch); err != nil {
			return err
		}
		applied = Applied{Verdict: ch.verdict, Step: s.after(ch).step()}
		return nil
	})
	if err != nil {
		return Applied{}, fmt.Errorf("apply to payment %s: %w", id, unknownPayment(err))
	}
	a.announce(ctx, ch, learnt)
	return applied, nil
}

// write stores a change. Lock order: payment, key, record, inserts.
func (a *Activities) write(ctx context.Context, tx pgx.Tx, s situation, learnt Learnt, ch *change) error {
	ch.advance(s, learnt)
	ch.wait(s, a.Timing)
	suppressedMessages, err := a.enqueue(ctx, tx, s, learnt, ch)
	if err != nil {
		return err
	}
	if err := a.post(ctx, tx, s, ch); err != nil {
		return err
	}
	batch := &pgx.Batch{}
	if err := a.queuePayment(batch, s, learnt, *ch, suppressedMessages); err != nil {
		return err
	}
	for _, c := range ch.settled {
		if err := a.queueSettlement(batch, ch.after, c); err != nil {
			return err
		}
	}
	if ch.engineCancel {
		if err := a.queueEngineCancel(batch, s, ch.after); err != nil {
			return err
		}
	}
	if learnt.fromOutside() && ch.after.Status.Terminal() && !s.payment.Status.Terminal() {
		a.queueLastWake(batch, s.payment.ID)
	}
	queueFacts(batch, s.payment.ID, learnt, ch.facts)
	if !s.fencedOut(learnt.Answer) {
		queueAnsweredCall(batch, learnt.Answer)
	}
	queueEvent(batch, s.payment, learnt, string(ch.verdict), "")
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("write change: %w", err)
	}
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
	if ch.engineCancel {
		ch.after.LastCommand++
	}
}

// enqueue queues the implied messages for the tenant's endpoints; it returns how many were there already.
func (a *Activities) enqueue(ctx context.Context, tx pgx.Tx, s situation, learnt Learnt, ch *change) (suppressed int, err error) {
	for _, m := range ch.messages {
		body, err := notifications.Render(m.kind, m.subject, ch.after.View(), learnt.EffectiveAt)
		if err != nil {
			return 0, err
		}
		queued, err := notifications.Enqueue(ctx, tx, a.Sealer, notifications.Message{
			Tenant: s.payment.Tenant, Subject: m.subject, Kind: m.kind, Payment: s.payment.ID, Sequence: ch.after.LastMessage + 1, Body: body,
		})
		if err != nil {
			return 0, err
		}
		if queued.Queued > 0 {
			ch.after.LastMessage++
		}
		suppressed += queued.Suppressed
	}
	return suppressed, nil
}

// post posts what the fact took. A key that holds other content posts nothing: the payment is marked for review.
func (a *Activities) post(ctx context.Context, tx pgx.Tx, s situation, ch *change) error {
	results, err := ledger.Post(ctx, tx, ch.postings...)
	if err != nil {
		return err
	}
	for i, result := range results {
		switch {
		case result.Outcome == boundaries.Replay:
			ch.suppressedPostings++
		case result.Outcome == boundaries.Mismatch:
			a.Log.Error("a posting key holds other content: nothing was posted", "payment", s.payment.ID, "posting_key", ch.postings[i].Key)
			ch.after.Review = &payments.Review{Reason: "posting_mismatch", Since: s.now, Facts: map[string]any{"posting_key": ch.postings[i].Key}}
		case len(result.InTheRed) > 0:
			a.Log.Error("a fact took a guarded account into the red", "payment", s.payment.ID, "accounts", result.InTheRed)
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
	next := situation{payment: ch.after, now: s.now}
	for _, c := range s.open {
		if !contains(ch.settled, c) {
			next.open = append(next.open, c)
		}
	}
	if ch.engineCancel {
		next.open = append(next.open, command{operation: payments.OperationCancel, status: boundaries.RecordInProgress, number: ch.after.LastCommand})
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
func (a *Activities) announce(ctx context.Context, ch change, learnt Learnt) {
	records := make([]payments.RecordID, 0, len(ch.settled))
	for _, c := range ch.settled {
		records = append(records, c.record)
	}
	a.Settled.Announce(records...)
	if len(ch.messages) > 0 {
		a.Nudge()
	}
	if learnt.fromOutside() && (len(ch.facts) > 0 || len(ch.settled) > 0) {
		if err := a.Waker.Wake(ctx, ch.after.ID); err != nil && !errors.Is(err, workflows.ErrOver) {
			a.Log.Warn("the workflow was not woken: the relay will", "payment", ch.after.ID, "error", err)
		}
	}
}
