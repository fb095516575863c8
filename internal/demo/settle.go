package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"payonce/internal/clock"
	"payonce/internal/devstack"
	"payonce/stripesim/control"
)

// quietWithin bounds the wait for quiet.
const quietWithin = 60 * time.Second

// open is what is still under way.
type open struct {
	Commands, Events, Messages, Payments int
	Deliveries                           int // of the twin
	Due                                  int // payments whose hold or whose payer's time has run out
	Debits, Holds, Refunds               int // that wait for days to pass
}

// waits is what may wait for days to pass while all else is quiet.
type waits struct{ debits, holds, refunds bool }

// without leaves out what may wait.
func (o open) without(meanwhile waits) open {
	if meanwhile.debits {
		o.Debits = 0
	}
	if meanwhile.holds {
		o.Holds = 0
	}
	if meanwhile.refunds {
		o.Refunds = 0
	}
	return o
}

func (o open) none() bool { return o == open{} }

func (o open) String() string {
	return fmt.Sprintf("%d commands, %d payments, %d events, %d messages, %d deliveries of the twin, %d due, %d debits, %d holds, %d refunds",
		o.Commands, o.Payments, o.Events, o.Messages, o.Deliveries, o.Due, o.Debits, o.Holds, o.Refunds)
}

// awaitQuiet lets the twin deliver what it still holds and waits until no command, payment, event or message is under way, but what may wait. A look
// that fails is made again within the bound.
func awaitQuiet(ctx context.Context, stack *devstack.Stack, out io.Writer, meanwhile waits) error {
	ctx, cancel := context.WithTimeoutCause(ctx, quietWithin, fmt.Errorf("not quiet within %s", quietWithin))
	defer cancel()
	told := clock.Wall()
	for quiet := 0; quiet < 2; {
		left, err := lookForOpen(ctx, stack)
		switch {
		case ctx.Err() != nil:
			return errors.Join(fmt.Errorf("%w: still open: %s", context.Cause(ctx), left), err)
		case err == nil && left.without(meanwhile).none():
			quiet++
		default:
			quiet = 0
		}
		if clock.Wall().Sub(told) > 3*time.Second {
			fmt.Fprintf(out, "waiting for quiet: %s\n", left)
			told = clock.Wall()
		}
		rest(ctx, 150*time.Millisecond)
	}
	return nil
}

// lookForOpen lets the twin try everything now and reads what is still open then.
func lookForOpen(ctx context.Context, stack *devstack.Stack) (open, error) {
	counts, err := stack.Twin.Flush(ctx, true)
	if err != nil {
		return open{}, fmt.Errorf("flush the twin's deliveries: %w", err)
	}
	left, err := readOpen(ctx, stack)
	left.Deliveries = counts.Pending + counts.Scheduled
	return left, err
}

func readOpen(ctx context.Context, stack *devstack.Stack) (open, error) {
	var left open
	err := stack.Reader.QueryRow(ctx, `
		SELECT (SELECT count(*) FROM payonce.idempotency_records WHERE tenant = $1 AND status = 'in_progress'),
		       (SELECT count(*) FROM payonce.provider_events WHERE next_try_at IS NOT NULL),
		       (SELECT count(*) FROM payonce.notifications WHERE tenant = $1 AND status = 'queued'),
		       (SELECT count(*) FROM payonce.payments WHERE tenant = $1 AND status IN ('submitted', 'requires_action')),
		       (SELECT count(*) FROM payonce.payments WHERE tenant = $1 AND (abandon_at <= payonce.clock() OR hold_due_at <= payonce.clock())),
		       (SELECT count(*) FROM payonce.payments WHERE tenant = $1 AND status = 'processing'),
		       (SELECT count(*) FROM payonce.payments WHERE tenant = $1 AND status = 'requires_capture'),
		       (SELECT count(*) FROM payonce.refunds WHERE tenant = $1 AND status NOT IN ('succeeded', 'failed', 'canceled'))`,
		stack.Tenant.UUID).Scan(&left.Commands, &left.Events, &left.Messages, &left.Payments, &left.Due, &left.Debits, &left.Holds, &left.Refunds)
	if err != nil {
		return open{}, fmt.Errorf("read what is open: %w", err)
	}
	return left, nil
}

// Numbers of events that are sent once more, as a person at Stripe's dashboard can.
const (
	redeliverDropped = 10 // that were never delivered: their facts are in, so apply finds everything there
	redeliverApplied = 15 // that were applied
)

// redeliver sends events of the run again and returns how many.
func redeliver(ctx context.Context, stack *devstack.Stack, run int) (int, error) {
	intents, err := runIntents(ctx, stack, run)
	if err != nil {
		return 0, err
	}
	events, err := stack.Twin.AllEvents(ctx)
	if err != nil {
		return 0, fmt.Errorf("list the twin's events: %w", err)
	}
	var again []string
	dropped, applied := 0, 0
	for _, event := range events {
		if !intents[event.PaymentIntent] || len(event.Deliveries) == 0 {
			continue
		}
		switch {
		case event.Deliveries[0].Status == control.DeliveryDropped && dropped < redeliverDropped:
			dropped++
		case event.Deliveries[0].Status == control.DeliveryDelivered && applied < redeliverApplied:
			applied++
		default:
			continue
		}
		again = append(again, event.ID)
	}
	for _, id := range again {
		if _, err := stack.Twin.Deliver(ctx, id, control.Deliver{}); err != nil {
			return 0, fmt.Errorf("deliver event %s again: %w", id, err)
		}
	}
	return len(again), nil
}

// runIntents are the intents that the payments of the run are bound to.
func runIntents(ctx context.Context, stack *devstack.Stack, run int) (map[string]bool, error) {
	rows, err := stack.Reader.Query(ctx, `SELECT intent_id FROM payonce.payments
		WHERE tenant = $1 AND starts_with(reference, $2) AND intent_id IS NOT NULL`, stack.Tenant.UUID, Prefix(run))
	if err != nil {
		return nil, fmt.Errorf("read intents: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("read intents: %w", err)
	}
	intents := make(map[string]bool, len(ids))
	for _, id := range ids {
		intents[id] = true
	}
	return intents, nil
}

// uuids are the payments' ids as the database takes them.
func uuids(payments map[uuid.UUID]heldPayment) []uuid.UUID {
	ids := make([]uuid.UUID, 0, len(payments))
	for id := range payments {
		ids = append(ids, id)
	}
	return ids
}
