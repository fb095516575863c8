package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"go.temporal.io/sdk/activity"

	"payonce/boundaries"
	"payonce/internal/budget"
	"payonce/internal/stripeapi"
	"payonce/payments"
	"payonce/workflows"
)

// Bounds of a round of the backfill.
const (
	backfillSlice   = 10 * time.Minute // of the events' time that is gone through before the place moves
	backfillPages   = 100              // of up to a hundred events each; then the round goes on in another act, once the slice is whole
	backfillOverlap = 5 * time.Minute  // is gone through again: Stripe's clock may differ, and it promises no order
	backfillMargin  = 30 * time.Minute // before Stripe forgets an event it is not counted on any more
)

// eventCursor is until when Stripe's list of an account's events was gone through.
type eventCursor struct {
	Account   string
	Livemode  bool
	SeenUntil time.Time
	Now       time.Time // payonce.clock()
}

func (c eventCursor) account() payments.Account {
	return payments.Account{ID: c.Account, Livemode: c.Livemode}
}

// Backfill goes through Stripe's own list of each account's events, the oldest ten minutes first, and stores those that no delivery has brought; the applier
// takes them up like any other. What is older than Stripe's memory of events cannot be told of: then each open object of the account is read. The place of an
// account moves only behind what is stored. An act is bounded: More tells that there is more to do.
func (a *Activities) Backfill(ctx context.Context, _ workflows.BackfillAct) (workflows.BackfillStep, error) {
	cursors, err := a.eventCursors(ctx)
	if err != nil {
		return workflows.BackfillStep{}, err
	}
	round := &backfill{Activities: a, pages: backfillPages}
	var failed []error
	for _, cursor := range cursors {
		failed = append(failed, round.account(ctx, cursor))
	}
	return workflows.BackfillStep{Version: 1, Found: round.found, More: round.more}, errors.Join(failed...)
}

// BackfillSince sets the place of every account back to since, for the next act: for instance after the database was restored to an older time.
func (a *Activities) BackfillSince(ctx context.Context, since time.Time) error {
	if _, err := a.eventCursors(ctx); err != nil {
		return err
	}
	if _, err := a.Pool.Exec(ctx, `UPDATE payonce.event_cursors SET seen_until = least(seen_until, $1)`, since); err != nil {
		return fmt.Errorf("set event cursors back: %w", err)
	}
	return nil
}

// eventCursors are the places of all accounts. One that is new begins a little before it was made.
func (a *Activities) eventCursors(ctx context.Context) (cursors []eventCursor, err error) {
	batch := &pgx.Batch{}
	batch.Queue(`
		INSERT INTO payonce.event_cursors (account, livemode, seen_until, moved_at)
		SELECT account, livemode, created_at - $1::interval, payonce.clock() FROM payonce.provider_accounts
		ON CONFLICT DO NOTHING`, backfillOverlap)
	batch.Queue(`SELECT account, livemode, seen_until, payonce.clock() FROM payonce.event_cursors ORDER BY seen_until`).
		Query(func(rows pgx.Rows) (err error) {
			cursors, err = pgx.CollectRows(rows, pgx.RowToStructByPos[eventCursor])
			return err
		})
	if err := a.Pool.SendBatch(ctx, batch).Close(); err != nil {
		return nil, fmt.Errorf("read event cursors: %w", err)
	}
	return cursors, nil
}

// backfill is one act.
type backfill struct {
	*Activities
	pages int  // that it may still list
	more  bool // they were not enough
	found int
}

// account goes through an account's events until now, slice after slice.
func (b *backfill) account(ctx context.Context, c eventCursor) error {
	if oldest := c.Now.Add(backfillMargin - stripeapi.EventMemory); c.SeenUntil.Before(oldest) {
		b.Log.Error("events are older than Stripe's memory of them: every open object of the account is read",
			"account", c.Account, "livemode", c.Livemode, "since", c.SeenUntil)
		if err := b.readOpen(ctx, c); err != nil {
			return err
		}
		if moved, err := b.move(ctx, &c, oldest, 0); err != nil || !moved {
			return err
		}
	}
	for c.SeenUntil.Before(c.Now) {
		if b.pages <= 0 {
			b.more = true
			return nil
		}
		until := c.SeenUntil.Add(backfillSlice)
		if until.After(c.Now) {
			until = c.Now
		}
		found, whole, err := b.slice(ctx, c, until)
		if err != nil || !whole {
			return err
		}
		if moved, err := b.move(ctx, &c, until, found); err != nil || !moved {
			return err
		}
	}
	return nil
}

// slice stores what is missing of the events until a time. It answers false when the account is stopped or its calls are used up.
func (b *backfill) slice(ctx context.Context, c eventCursor, until time.Time) (found int, whole bool, err error) {
	which := stripeapi.Events{From: c.SeenUntil.Add(-backfillOverlap), To: until.Add(time.Second)}
	for {
		b.pages--
		page, goes, err := listed(ctx, b.Activities, c.account(), budget.ListEvents,
			func(ctx context.Context, credentials stripeapi.Credentials) (stripeapi.EventPage, error) {
				return b.Stripe.ListEvents(ctx, credentials, which)
			})
		if err != nil || !goes {
			return found, false, err
		}
		some, err := b.store(ctx, c, page.Events)
		found += some
		if err != nil || !page.More || len(page.Events) == 0 {
			return found, err == nil, err
		}
		which.Below = page.Events[len(page.Events)-1].ID
		if activity.IsActivity(ctx) {
			activity.RecordHeartbeat(ctx)
		}
	}
}

// store stores those that are consumed and not known.
func (b *backfill) store(ctx context.Context, c eventCursor, events []stripeapi.ListedEvent) (stored int, err error) {
	ids := make([]string, len(events))
	for i, event := range events {
		ids[i] = event.ID
	}
	known, err := boundaries.KnownEvents(ctx, b.Pool, c.account(), ids)
	if err != nil {
		return 0, err
	}
	for _, event := range slices.Backward(events) {
		if !boundaries.EventIsConsumed(event.Type) || event.Livemode != c.Livemode || slices.Contains(known, event.ID) {
			continue
		}
		outcome, _, err := boundaries.StoreEvent(ctx, b.Pool, b.Sealer, boundaries.Event{
			Account: c.account(), ID: event.ID, Type: event.Type, APIVersion: event.APIVersion, ObjectKind: event.Kind, ObjectID: event.Object,
			IntentID: event.IntentID, Created: event.Created, Body: event.Body, Source: boundaries.EventFromBackfill,
		})
		if err != nil {
			return stored, err
		}
		if outcome == boundaries.Acquired {
			stored++
			b.Log.Warn("an event that no delivery brought was found in Stripe's list", "event", event.ID, "type", event.Type, "account", c.Account)
		}
	}
	return stored, nil
}

// move moves the account's place forward, unless it is there already. It answers false when somebody has set it back meanwhile: the next act goes from there.
func (b *backfill) move(ctx context.Context, c *eventCursor, until time.Time, found int) (moved bool, err error) {
	b.found += found
	tag, err := b.Pool.Exec(ctx, `
		UPDATE payonce.event_cursors SET seen_until = greatest(seen_until, $3), moved_at = payonce.clock(), found = found + $4
		WHERE account = $1 AND livemode = $2 AND seen_until >= $5`, c.Account, c.Livemode, until, found, c.SeenUntil)
	if err != nil {
		return false, fmt.Errorf("move event cursor: %w", err)
	}
	c.SeenUntil, b.more = until, b.more || tag.RowsAffected() == 0
	return tag.RowsAffected() == 1, nil
}

// readOpen makes the poll of everything of the account that is open due now.
func (b *backfill) readOpen(ctx context.Context, c eventCursor) error {
	batch := &pgx.Batch{}
	for _, table := range []string{"payments", "refunds", "disputes", "payouts"} {
		batch.Queue(`
			UPDATE payonce.`+table+` SET next_poll_at = payonce.clock()
			WHERE next_poll_at IS NOT NULL AND account = $1 AND livemode = $2`, c.Account, c.Livemode)
	}
	if err := b.Pool.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("have open objects read: %w", err)
	}
	return nil
}
