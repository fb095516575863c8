package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"payonce/boundaries"
	"payonce/internal/paymentstore"
	"payonce/internal/postgres"
	"payonce/internal/stripeapi"
	"payonce/ledger"
	"payonce/notifications"
	"payonce/payments"
	"payonce/workflows"
)

// LearntPayout is what somebody brings of a payout: what Stripe says of it, or that Stripe refused to make it.
type LearntPayout struct {
	Source      Source
	Payout      *stripeapi.Payout // nil with a refusal, and with a fact that only marks its event
	BegunAt     time.Time         // payonce.clock() when the read or the send began; zero for an event's snapshot, which counts only when absorbing
	EffectiveAt time.Time
	Answer      *AnsweredCall // the call of ours that this answers
	Answers     bool          // it is what the command that is open asked for, and answers it
	Event       *uuid.UUID    // the stored event, to be marked in the same commit
}

// answers tells whether the fact answers the command that asked for the payout.
func (l LearntPayout) answers() bool { return l.Answer != nil || l.Answers }

// ApplyPayout applies what Stripe says of a payout, whoever brings it, as Apply does for a payment: one transaction locks the payout, binds it, moves it if
// the fact is ahead, posts the money that moved, queues the message of its end, completes the command and marks the events.
func (a *Activities) ApplyPayout(ctx context.Context, id payments.PayoutID, facts ...LearntPayout) error {
	return a.applyPayout(ctx, id, func(*pgx.Batch) {}, facts)
}

// AdoptPayout is ApplyPayout for a payout of the tenant's that was made elsewhere, or was ours before the database was restored; the first fact makes its row.
func (a *Activities) AdoptPayout(ctx context.Context, tenant payments.TenantID, said stripeapi.Payout, facts ...LearntPayout) error {
	id := boundaries.ExternalPayoutID(tenant, said.Account, said.ID)
	if said.Metadata[payments.MetadataTenant] == tenant.String() {
		ours, lost, err := lostPayout(ctx, a.Pool, said)
		if err != nil {
			return err
		}
		if lost {
			id = ours
		}
	}
	return a.applyPayout(ctx, id, func(batch *pgx.Batch) {
		batch.Queue(adoptPayout, id.UUID, tenant.UUID, said.Money.Amount, said.Money.Currency, said.Created, said.Account.ID, said.Account.Livemode)
	}, facts)
}

func (a *Activities) applyPayout(ctx context.Context, id payments.PayoutID, adopt func(*pgx.Batch), facts []LearntPayout) error {
	var all payoutApplication
	err := postgres.Pipelined(ctx, a.Pool, func(first *pgx.Batch) {
		all = payoutApplication{Activities: a}
		adopt(first)
		notifications.QueueEndpointsOfPayout(first, id, &all.endpoints)
		first.Queue(paymentstore.SelectPayouts+`WHERE p.id = $1 FOR NO KEY UPDATE OF p`, id.UUID).QueryRow(func(row pgx.Row) (err error) {
			all.at, err = paymentstore.ScanPayout(row)
			return err
		})
		first.Queue(`SELECT payonce.clock()`).QueryRow(func(row pgx.Row) error { return row.Scan(&all.now) })
	}, func(tx pgx.Tx, last *pgx.Batch) error {
		for _, learnt := range facts {
			if err := all.apply(ctx, tx, last, learnt); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("apply payout %s: %w", id, err)
	}
	all.announce(ctx)
	return nil
}

// payoutApplication is one transaction of ApplyPayout: the payout as it stands after each fact, and what is to be told.
type payoutApplication struct {
	*Activities
	endpoints []uuid.UUID // of the tenant
	at        payments.Payout
	now       time.Time
	settled   []*boundaries.Settlement
	messages  int  // queued now
	woken     bool // it changed under its workflow
}

// apply applies one fact to the payout as it stands.
func (all *payoutApplication) apply(ctx context.Context, tx pgx.Tx, last *pgx.Batch, learnt LearntPayout) error {
	before := all.at
	ch := decidePayout(before, learnt, all.now)
	if ch.misfit != "" {
		all.Log.Error("a payout does not fit ours: quarantined", "payout", before.ID, "stripe", learnt.Payout.ID, "why", ch.misfit)
	}
	results, err := ledger.Post(ctx, tx, ch.postings...)
	if err != nil {
		return err
	}
	for i, result := range results {
		if result.Outcome == boundaries.Mismatch {
			all.Log.Error("a posting key holds other content: nothing was posted", "payout", before.ID, "posting_key", ch.postings[i].Key)
			ch.after.Review = &payments.Review{Reason: "posting_mismatch", Since: all.now, Facts: map[string]any{"posting_key": ch.postings[i].Key}}
		}
	}
	if ch.after.Status != before.Status {
		if err := all.tell(ctx, tx, &ch.after, learnt); err != nil {
			return err
		}
	}
	all.at = ch.after
	all.queuePayout(last, before, ch.after, learnt)
	queueAnsweredCall(last, learnt.Answer)
	queuePayoutEvent(last, ch.after, learnt.Event, ch.verdict, ch.misfit)
	bound := before.ProviderID == "" && (ch.after.ProviderID != "" || ch.after.LastError != nil)
	if ch.after.Record == nil || ch.misfit != "" {
		return nil
	}
	if bound || learnt.answers() {
		settled, err := all.queuePayoutSettlement(last, ch.after)
		if err != nil {
			return err
		}
		all.settled = append(all.settled, settled)
	}
	outside := learnt.Source == SourceEvent || learnt.Source == SourcePoll
	if outside && (bound || ch.after.Status != before.Status) {
		all.woken = true
		all.queueLastWakeOf(last, *ch.after.Record)
	}
	return nil
}

// tell queues the message of the status that the payout has come to, if it is told: one that failed after it was paid tells both.
func (all *payoutApplication) tell(ctx context.Context, tx pgx.Tx, p *payments.Payout, learnt LearntPayout) error {
	kind, told := notifications.KindOfPayout(p.Status)
	if !told {
		return nil
	}
	subject, err := kind.Subject(payments.PaymentID{}, notifications.Of{Payout: p.ID.String()})
	if err != nil {
		return err
	}
	body, err := notifications.RenderPayout(kind, subject, p.View(), learnt.EffectiveAt)
	if err != nil {
		return err
	}
	batch, queued := &pgx.Batch{}, notifications.Queued{}
	message := notifications.Message{Tenant: p.Tenant, Subject: subject, Kind: kind, Payout: p.ID, Sequence: p.LastMessage + 1, Body: body}
	if err := notifications.QueueFor(batch, all.Sealer, message, all.endpoints, &queued); err != nil {
		return err
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("tell of payout: %w", err)
	}
	if queued.Queued > 0 {
		p.LastMessage++
	}
	all.messages += queued.Queued
	return nil
}

// announce tells this process what was committed: waiting callers, the dispatcher, and the workflow when its payout changed under it.
func (all *payoutApplication) announce(ctx context.Context) {
	for _, settled := range all.settled {
		all.Settled.Announce(*settled)
	}
	if all.messages > 0 {
		all.Nudge()
	}
	if !all.woken {
		return
	}
	if err := all.Waker.WakePayout(ctx, all.at.ID); err != nil && !errors.Is(err, workflows.ErrOver) {
		all.Log.Warn("the workflow was not woken", "payout", all.at.ID, "error", err)
	}
}
