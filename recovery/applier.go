package recovery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"payonce/activities"
	"payonce/boundaries"
	"payonce/internal/seal"
	"payonce/internal/timing"
	"payonce/payments"
)

// Bounds of one round of the applier.
const (
	ApplyBatch    = 64 // events
	applyParallel = 8
)

// Applier applies stored events, and is the matcher of parked ones: both are rows whose next try is due. Suppressed by applied, never by seen.
type Applier struct {
	Pool       *pgxpool.Pool
	Sealer     *seal.Sealer
	Activities *activities.Activities
	Timing     timing.Timing
	Log        *slog.Logger
}

// storedEvent is a row of provider_events that an applier holds.
type storedEvent struct {
	ID       uuid.UUID
	Account  string
	Livemode bool
	EventID  string
	Type     string
	Body     []byte
	Tries    int
	Age      time.Duration
}

func (e storedEvent) account() payments.Account {
	return payments.Account{ID: e.Account, Livemode: e.Livemode}
}

// Apply takes the due events and settles them, those of one intent together. It returns how many it took.
func (a *Applier) Apply(ctx context.Context) (int, error) {
	due, err := a.take(ctx)
	if err != nil {
		return 0, err
	}
	named := make([]namedEvent, 0, len(due))
	for _, stored := range due {
		event, err := a.read(ctx, stored)
		if err != nil {
			err = a.putOff(ctx, stored, err)
		}
		if err != nil {
			return len(due), err
		}
		if event != nil {
			named = append(named, *event)
		}
	}
	group := errgroup.Group{}
	group.SetLimit(applyParallel)
	for _, part := range byIntent(named) {
		group.Go(func() error { return a.settlePart(ctx, part) })
	}
	return len(due), group.Wait()
}

// settlePart settles events of one intent; when that fails, each by itself, so that one which cannot be settled holds up no other. One about something that
// Stripe says it does not have is tried again until ParkedMaximum, and then left to a person.
func (a *Applier) settlePart(ctx context.Context, part []namedEvent) error {
	err := a.settle(ctx, part)
	switch {
	case err == nil:
		return nil
	case len(part) == 1 && activities.RefusedRead(err) && part[0].Age > a.Timing.ParkedMaximum:
		a.Log.Error("Stripe does not show what an event is about: quarantined", "event", part[0].EventID, "type", part[0].Type, "error", err)
		return a.close(ctx, part[0].storedEvent, eventQuarantined, "Stripe does not show what it is about: "+err.Error())
	case len(part) == 1:
		return a.putOff(ctx, part[0].storedEvent, err)
	}
	var failed []error
	for _, event := range part {
		failed = append(failed, a.settlePart(ctx, []namedEvent{event}))
	}
	return errors.Join(failed...)
}

// take holds the due events for EventLease: if this process dies, another finds them again.
func (a *Applier) take(ctx context.Context) ([]storedEvent, error) {
	rows, err := a.Pool.Query(ctx, `
		UPDATE payonce.provider_events SET tries = tries + 1, next_try_at = payonce.clock() + $1::interval
		WHERE id IN (
			SELECT id FROM payonce.provider_events
			WHERE next_try_at <= (SELECT payonce.clock()) ORDER BY next_try_at LIMIT $2 FOR UPDATE SKIP LOCKED)
		RETURNING id, account, livemode, event_id, type, body, tries, payonce.clock() - received_at`,
		a.Timing.EventLease, ApplyBatch)
	if err != nil {
		return nil, fmt.Errorf("take due events: %w", err)
	}
	due, err := pgx.CollectRows(rows, pgx.RowToStructByPos[storedEvent])
	if err != nil {
		return nil, fmt.Errorf("take due events: %w", err)
	}
	for i := range due {
		if due[i].Body, err = boundaries.OpenEventBody(a.Sealer, due[i].Body); err != nil {
			return nil, err
		}
	}
	return due, nil
}

// putOff lets an event that could not be settled now be taken again later, with back-off.
func (a *Applier) putOff(ctx context.Context, event storedEvent, cause error) error {
	if ctx.Err() != nil {
		return nil //nolint:nilerr // this process ends: the event's hold runs out, and another takes it
	}
	a.Log.Warn("event not applied yet", "event", event.EventID, "type", event.Type, "tries", event.Tries, "error", cause)
	_, err := a.Pool.Exec(ctx, `
		UPDATE payonce.provider_events
		SET next_try_at = payonce.clock() + least($2::interval * power(2, least(tries, 20)), $3::interval)
		WHERE id = $1 AND settled_at IS NULL`, event.ID, a.Timing.RetryInitial, a.Timing.RetryMaximum)
	if err != nil {
		return fmt.Errorf("put off event: %w", err)
	}
	return nil
}
