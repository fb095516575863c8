package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"payonce/boundaries"
	"payonce/internal/paymentstore"
	"payonce/internal/tenants"
	"payonce/payments"
	"payonce/workflows"
)

// command is an open command of a payment.
type command struct {
	record     payments.RecordID
	operation  payments.Operation
	attempt    int // n of its owner key
	number     int
	status     boundaries.RecordStatus
	sealed     []byte
	fence      int64
	late       bool // its deadline has passed
	answeredBy *uuid.UUID
	since      time.Time // its claim
	kind       string    // of what it makes or is about
	resource   uuid.UUID

	capturedBefore int64                   // of a capture: what the payment had captured when it was accepted
	capturedAfter  int64                   // and the total that it leads to; 0: all that is held
	refused        *payments.ProviderError // by the fact that settles it, which left the payment as it was
}

// situation is a payment with its open commands, read at one time.
type situation struct {
	payment payments.Payment
	open    []command
	sentAt  *time.Time // when the first confirm was first sent
	settled int        // confirms that have their outcome
	refused int        // cancels that Stripe refused
	untaken int        // captures of everything that Stripe refused
	now     time.Time  // payonce.clock()

	calls []boundaries.RecordCall // the newest call of each open command; not under the lock
	key   tenants.SealedKey       // of the account that the payment is pinned to; not under the lock
	begun *boundaries.Call        // the next command's call, when it was begun with what made the payment stand here
}

// openCommands is the queue: lowest number first. An unknown record stays in the list but is never next. A refund has a workflow of its own. A number
// follows the owner key of what acts on the payment itself.
const openCommands = selectCommand + `
	WHERE r.payment = $1 AND r.status IN ('in_progress', 'unknown') AND r.resource_kind <> 'refund' ORDER BY r.number`

const selectCommand = `
	SELECT r.id, r.operation,
	       CASE WHEN r.resource_kind IN ('payment', 'customer', 'connected_account') THEN coalesce(substring(r.owner_key FROM '#([0-9]+)$')::int, 1) ELSE 1 END,
	       coalesce(r.number, 0), r.status, r.command, r.fence, coalesce(r.not_after <= payonce.clock(), false), r.answered_by, r.created_at,
	       r.resource_kind, r.resource_id, coalesce(r.captured_before, 0), coalesce(r.captured_after, 0)
	FROM payonce.idempotency_records r `

// read reads the situation and what a call needs, in one round trip.
func (a *Activities) read(ctx context.Context, id payments.PaymentID) (situation, error) {
	var s situation
	batch := &pgx.Batch{}
	a.queueSituation(batch, id, paymentstore.SelectByID, &s)
	boundaries.QueueNewest(batch, id, &s.calls)
	tenants.QueueKeyOf(batch, id, &s.key)
	if err := a.Pool.SendBatch(ctx, batch).Close(); err != nil {
		return situation{}, fmt.Errorf("read payment %s: %w", id, err)
	}
	return s, nil
}

// queueLock queues the reading of the situation with a lock of the payment's row to the end of the transaction.
func (a *Activities) queueLock(batch *pgx.Batch, id payments.PaymentID, s *situation) {
	a.queueSituation(batch, id, paymentstore.SelectByID+` FOR NO KEY UPDATE OF p`, s)
}

func (a *Activities) queueSituation(batch *pgx.Batch, id payments.PaymentID, selectPayment string, s *situation) {
	batch.Queue(selectPayment, id.UUID).QueryRow(func(row pgx.Row) (err error) {
		s.payment, err = paymentstore.Scan(row, a.Sealer)
		return err
	})
	batch.Queue(openCommands, id.UUID).Query(func(rows pgx.Rows) (err error) {
		s.open, err = pgx.CollectRows(rows, scanCommand)
		return err
	})
	batch.Queue(`
		SELECT payonce.clock(), (SELECT min(first_sent_at) FROM payonce.provider_calls WHERE payment = $1 AND operation = $2),
		       count(*) FILTER (WHERE operation = $2 AND status = 'completed'), count(*) FILTER (WHERE operation = $3 AND response_code = 409),
		       count(*) FILTER (WHERE operation = $4 AND response_code >= 400 AND starts_with(owner_key, $1::text || '/capture#'))
		FROM payonce.idempotency_records WHERE payment = $1`,
		id.UUID, payments.OperationConfirm, payments.OperationCancel, payments.OperationCapture,
	).QueryRow(func(row pgx.Row) error { return row.Scan(&s.now, &s.sentAt, &s.settled, &s.refused, &s.untaken) })
}

// newest is the newest call of a command, or nil.
func (s situation) newest(c *command) *boundaries.Call {
	for i := range s.calls {
		if s.calls[i].Record == c.record {
			return &s.calls[i].Call
		}
	}
	return nil
}

func scanCommand(row pgx.CollectableRow) (command, error) {
	var c command
	err := row.Scan(&c.record.UUID, &c.operation, &c.attempt, &c.number, &c.status, &c.sealed, &c.fence, &c.late, &c.answeredBy, &c.since,
		&c.kind, &c.resource, &c.capturedBefore, &c.capturedAfter)
	return c, err
}

// next is the command to act on: the lowest open one that waits for an act of ours. A create whose intent exists waits for its confirm, and a
// refused or unsent confirm for the cancel that ends its payment. A confirm behind a create whose outcome is unknown waits until the intent is known.
func (s situation) next() *command {
	for i := range s.open {
		c := &s.open[i]
		created := c.operation == payments.OperationCreate && s.payment.IntentID != ""
		ending := c.operation == payments.OperationConfirm && s.payment.Failure != nil
		early := c.operation != payments.OperationCreate && s.payment.IntentID == ""
		if c.status == boundaries.RecordInProgress && !created && !ending && !early {
			return c
		}
	}
	return nil
}

// find is the open command of the operation that is to be acted on, or nil.
func (s situation) find(operation payments.Operation) *command {
	if next := s.next(); next != nil && next.operation == operation {
		return next
	}
	return nil
}

// undecided tells whether the payment is over and a command of it still waits for its answer: one that came when it was over.
func (s situation) undecided() bool {
	return s.payment.Status.Terminal() && slices.ContainsFunc(s.open, func(c command) bool { return c.status == boundaries.RecordInProgress })
}

// step tells the workflow where the payment stands.
func (s situation) step() workflows.Step {
	step := workflows.Step{Version: 1, Stage: s.payment.Stage, Status: s.payment.Status}
	if next := s.next(); next != nil {
		step.Next = next.operation
	}
	step.Over = s.payment.Status.Terminal() && !s.undecided()
	return step
}

// ReadPayment tells where a payment stands and what comes next, from Postgres.
func (a *Activities) ReadPayment(ctx context.Context, in workflows.Act) (workflows.Step, error) {
	s, err := a.read(ctx, in.Payment)
	switch {
	case err != nil:
		return workflows.Step{}, unknownPayment(err)
	case s.undecided():
		return a.Decide(ctx, in.Payment)
	default:
		return s.step(), nil
	}
}

// act performs the command that is to be acted on now, if it is one of the operation, and tells where that leaves the payment.
func (a *Activities) act(ctx context.Context, in workflows.Act, operation payments.Operation,
	perform func(s situation, c *command) (workflows.Step, error),
) (workflows.Step, error) {
	s, begun := a.ahead.take(in, operation, a.Timing)
	if !begun {
		var err error
		if s, err = a.read(ctx, in.Payment); err != nil {
			return workflows.Step{}, unknownPayment(err)
		}
	}
	if s.undecided() {
		return a.Decide(ctx, in.Payment)
	}
	c := s.find(operation)
	if c == nil {
		return s.step(), nil
	}
	step, err := perform(s, c)
	switch {
	case errors.Is(err, boundaries.ErrUnsent):
		return a.unsent(ctx, s)
	case errors.Is(err, boundaries.ErrSettled):
		return a.ReadPayment(ctx, in)
	default:
		return step, err
	}
}

// Decide answers the open commands of a payment that is over: what it became is their outcome, and nothing is asked of Stripe. Of a payment that
// goes on it changes nothing.
func (a *Activities) Decide(ctx context.Context, id payments.PaymentID) (workflows.Step, error) {
	applied, err := a.Apply(ctx, id, Learnt{Source: SourceEngine})
	return applied.Step, err
}

// unknownPayment makes a missing payment an error that no retry mends: the claim commits before anybody is woken.
func unknownPayment(err error) error {
	if errors.Is(err, paymentstore.ErrNotFound) {
		return neverRetry("unknown_payment", err)
	}
	return err
}
