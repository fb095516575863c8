package recovery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"payonce/activities"
	"payonce/internal/timing"
	"payonce/payments"
	"payonce/workflows"
)

// Bounds of one round of the relay.
const (
	relayBatch    = 100
	relayParallel = 16
)

// Relay wakes the workflow of every command that is open for longer than WakeAfter, and of every payment that ended without it: the commit and the
// wake-up are two writes, and a crash between them leaves only the first. While Temporal is down it ends the creates that were not sent in time.
type Relay struct {
	Pool       *pgxpool.Pool
	Activities *activities.Activities
	Waker      activities.Waker
	Timing     timing.Timing
	Log        *slog.Logger
}

type dueCommand struct {
	Record    uuid.UUID
	Payment   uuid.UUID
	Operation payments.Operation
	Late      bool
	Settled   bool // its payment ended without the workflow, which is to learn of it once
}

// Wake takes the due commands and wakes their workflows. It returns how many it woke.
func (r *Relay) Wake(ctx context.Context) (int, error) {
	rows, err := r.Pool.Query(ctx, `
		UPDATE payonce.idempotency_records r
		SET wakes = wakes + 1,
		    next_wake_at = payonce.clock() + least($1::interval * power(2, least(wakes, 20)), $2::interval)
		WHERE id IN (
			SELECT id FROM payonce.idempotency_records
			WHERE next_wake_at <= (SELECT payonce.clock()) ORDER BY next_wake_at LIMIT $3 FOR UPDATE SKIP LOCKED)
		RETURNING id, payment, operation, coalesce(not_after <= payonce.clock(), false), status = 'completed'`,
		r.Timing.WakeAfter, r.Timing.WakeMaximum, relayBatch)
	if err != nil {
		return 0, fmt.Errorf("take due commands: %w", err)
	}
	due, err := pgx.CollectRows(rows, pgx.RowToStructByPos[dueCommand])
	if err != nil {
		return 0, fmt.Errorf("take due commands: %w", err)
	}
	failed := make([]error, len(due))
	group := errgroup.Group{}
	group.SetLimit(relayParallel)
	for i, command := range due {
		group.Go(func() error {
			failed[i] = r.wakeOne(ctx, command)
			return nil
		})
	}
	_ = group.Wait() // each keeps its own error: one payment holds up no other
	return len(due), errors.Join(failed...)
}

func (r *Relay) wakeOne(ctx context.Context, command dueCommand) error {
	payment := payments.PaymentID{UUID: command.Payment}
	woken := r.Waker.Wake(ctx, payment)
	if errors.Is(woken, workflows.ErrOver) && !command.Settled {
		_, err := r.Activities.Decide(ctx, payment)
		return err
	}
	if errors.Is(woken, workflows.ErrOver) {
		woken = nil
	}
	if woken != nil && command.Late && command.Operation == payments.OperationCreate {
		return r.Activities.ExpireUnsent(ctx, payment)
	}
	if woken != nil || !command.Settled {
		return woken
	}
	_, err := r.Pool.Exec(ctx, `UPDATE payonce.idempotency_records SET next_wake_at = NULL WHERE id = $1 AND status = 'completed'`, command.Record)
	if err != nil {
		return fmt.Errorf("note the last wake-up: %w", err)
	}
	return nil
}
