package recovery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"payonce/activities"
	"payonce/boundaries"
	"payonce/internal/clock"
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
//
// What nobody woke is the backlog of an outage: of that, InFlight are under way at a time, less those that came just now and are under way too, but one
// at least: who comes now does not wait behind the backlog, and it drains. Not safe for concurrent use but for Behind.
type Relay struct {
	Pool       *pgxpool.Pool
	Activities *activities.Activities
	Waker      Waker
	Anew       Waker // also starts again what has completed: of a command that is open all the same
	Timing     timing.Timing
	InFlight   int           // commands under way at a time while a backlog drains, at least 1
	Linger     time.Duration // room is left for so long after somebody came: the next one follows
	Log        *slog.Logger

	away   atomic.Bool // the newest wake-up failed: one at a time is tried until it does not
	behind atomic.Bool // more were due than the newest round took
	came   time.Time   // when a command that came just now was last seen under way
}

// Waker starts and wakes workflows. Both return workflows.ErrOver when the payment's has ended.
type Waker interface {
	Start(ctx context.Context, payment payments.PaymentID) error
	Wake(ctx context.Context, payment payments.PaymentID) error
	WakeRefund(ctx context.Context, payment payments.PaymentID, refund payments.RefundID) error
	WakePayout(ctx context.Context, payout payments.PayoutID) error
	WakeProvision(ctx context.Context, provision payments.ProvisionID, record payments.RecordID) error
}

// Behind tells whether a backlog waits for those under way: then each that ends is to be followed by another round.
func (r *Relay) Behind() bool { return r.behind.Load() }

type dueCommand struct {
	Record    uuid.UUID
	Payment   uuid.UUID // nil UUID: the command is about none
	Operation payments.Operation
	Late      bool
	Settled   bool // its payment ended without the workflow, which is to learn of it once
	First     bool // nobody but its caller woke it yet
	Kind      string
	Resource  uuid.UUID
}

// Wake takes the due commands and wakes their workflows. It returns how many it woke.
func (r *Relay) Wake(ctx context.Context) (int, error) {
	due, err := r.take(ctx)
	if err != nil {
		return 0, err
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
	return len(due), errors.Join(errors.Join(failed...), r.giveBack(ctx, due, failed))
}

// take takes the commands that are due: of those that nobody woke yet as many as fit beside those under way, the others up to a batch,
// and so of those that are too late, which end in Postgres.
func (r *Relay) take(ctx context.Context) ([]dueCommand, error) {
	fresh, again := max(r.InFlight, 1), relayBatch
	if r.away.Load() {
		fresh, again = 1, 0
	}
	room := 0
	if clock.Wall().Sub(r.came) < r.Linger {
		room = 1
	}
	rows, err := r.Pool.Query(ctx, `
		WITH at AS MATERIALIZED (SELECT payonce.clock() AS now),
		under_way AS (
			SELECT count(*)::int AS n FROM at, payonce.idempotency_records u
			WHERE u.next_wake_at > (SELECT now FROM at) AND u.wakes = 1 AND u.status = 'in_progress'),
		live AS (
			SELECT count(*)::int AS n FROM (
				SELECT FROM payonce.idempotency_records l
				WHERE l.next_wake_at > (SELECT now FROM at) AND l.wakes = 0 AND l.status = 'in_progress' LIMIT $3 - 1) few),
		fresh AS (
			SELECT id FROM payonce.idempotency_records
			WHERE next_wake_at <= (SELECT now FROM at) AND wakes = 0 AND coalesce(not_after > (SELECT now FROM at), true) ORDER BY next_wake_at
			LIMIT (SELECT greatest($3 - least(greatest(live.n, $6), $3 - 1) - under_way.n, 0) FROM under_way, live) FOR UPDATE SKIP LOCKED),
		again AS (
			SELECT id FROM payonce.idempotency_records
			WHERE next_wake_at <= (SELECT now FROM at) AND wakes > 0 AND coalesce(not_after > (SELECT now FROM at), true) ORDER BY next_wake_at
			LIMIT $4 FOR UPDATE SKIP LOCKED),
		late AS (
			SELECT id FROM payonce.idempotency_records
			WHERE next_wake_at <= (SELECT now FROM at) AND not_after <= (SELECT now FROM at) ORDER BY next_wake_at
			LIMIT $5 FOR UPDATE SKIP LOCKED)
		UPDATE payonce.idempotency_records r
		SET wakes = wakes + 1, next_wake_at = at.now + least($1::interval * power(2, least(wakes, 20)), $2::interval)
		FROM at WHERE id IN (SELECT id FROM fresh UNION ALL SELECT id FROM again UNION ALL SELECT id FROM late)
		RETURNING id, coalesce(payment, '00000000-0000-0000-0000-000000000000'::uuid), operation, coalesce(not_after <= at.now, false),
		          status = 'completed', wakes = 1, resource_kind, resource_id`,
		r.Timing.WakeAfter, r.Timing.WakeMaximum, fresh, again, relayBatch, room)
	if err != nil {
		return nil, fmt.Errorf("take due commands: %w", err)
	}
	due, err := pgx.CollectRows(rows, pgx.RowToStructByPos[dueCommand])
	if err != nil {
		return nil, fmt.Errorf("take due commands: %w", err)
	}
	return due, r.look(ctx)
}

// look notes whether more is due than was taken, and whether somebody came just now.
func (r *Relay) look(ctx context.Context) error {
	var behind, came bool
	err := r.Pool.QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM payonce.idempotency_records WHERE next_wake_at <= (SELECT payonce.clock())),
		       EXISTS (SELECT FROM payonce.idempotency_records
		               WHERE next_wake_at > (SELECT payonce.clock()) AND wakes = 0 AND status = 'in_progress')`).Scan(&behind, &came)
	if err != nil {
		return fmt.Errorf("look for further due commands: %w", err)
	}
	r.behind.Store(behind)
	if came {
		r.came = clock.Wall()
	}
	return nil
}

// giveBack makes due again at once what could not be woken, as if it had not been tried: while Temporal is away no back-off grows.
func (r *Relay) giveBack(ctx context.Context, due []dueCommand, failed []error) error {
	var unwoken []uuid.UUID
	for i, command := range due {
		if failed[i] != nil {
			unwoken = append(unwoken, command.Record)
		}
	}
	if len(due) > 0 {
		r.away.Store(len(unwoken) == len(due))
	}
	if len(unwoken) == 0 {
		return nil
	}
	_, err := r.Pool.Exec(ctx, `
		UPDATE payonce.idempotency_records SET wakes = wakes - 1, next_wake_at = payonce.clock() + $2::interval
		WHERE id = ANY ($1) AND next_wake_at IS NOT NULL AND wakes > 0`, unwoken, r.Timing.RetryInitial)
	if err != nil {
		return fmt.Errorf("give commands back: %w", err)
	}
	return nil
}

// wake starts the workflow of a payment whose caller could not, straight to a worker of this process where there is one. A workflow that runs already
// acts on its create unasked, and is signalled from the next time on.
func (command dueCommand) wake(ctx context.Context, waker Waker) error {
	payment := payments.PaymentID{UUID: command.Payment}
	if command.Kind == boundaries.ResourceRefund {
		return waker.WakeRefund(ctx, payment, payments.RefundID{UUID: command.Resource})
	}
	if command.Kind == boundaries.ResourcePayout {
		return waker.WakePayout(ctx, payments.PayoutID{UUID: command.Resource})
	}
	if command.Kind == boundaries.ResourceCustomer || command.Kind == boundaries.ResourceConnectedAccount {
		return waker.WakeProvision(ctx, payments.ProvisionID{UUID: command.Resource}, payments.RecordID{UUID: command.Record})
	}
	if command.First && command.Operation == payments.OperationCreate && !command.Settled {
		return waker.Start(ctx, payment)
	}
	return waker.Wake(ctx, payment)
}

// wakeEnded decides the command of a workflow that has ended by what the payment became. One that goes on all the same, in a database that was restored
// to before that end, gets its workflow anew.
func (r *Relay) wakeEnded(ctx context.Context, command dueCommand) error {
	if command.Payment != uuid.Nil {
		step, err := r.Activities.Decide(ctx, payments.PaymentID{UUID: command.Payment})
		if err != nil || command.Kind == boundaries.ResourcePayment && step.Over {
			return err
		}
	}
	return command.wake(ctx, r.Anew)
}

func (r *Relay) wakeOne(ctx context.Context, command dueCommand) error {
	woken := command.wake(ctx, r.Waker)
	if errors.Is(woken, workflows.ErrOver) && !command.Settled {
		return r.wakeEnded(ctx, command)
	}
	if errors.Is(woken, workflows.ErrOver) {
		woken = nil
	}
	if woken != nil && command.Late && command.Operation == payments.OperationCreate {
		return r.Activities.ExpireUnsent(ctx, payments.PaymentID{UUID: command.Payment})
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
