package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"payonce/internal/budget"
	"payonce/internal/paymentstore"
	"payonce/internal/stripeapi"
	"payonce/internal/tenants"
	"payonce/payments"
	"payonce/workflows"
)

// ReadAtStripe reads the payment's intent and says when the read began, by payonce.clock().
func (a *Activities) ReadAtStripe(ctx context.Context, p payments.Payment, intent string) (stripeapi.Intent, time.Time, error) {
	return a.readAtStripe(ctx, p, intent, budget.Reads)
}

func (a *Activities) readAtStripe(ctx context.Context, p payments.Payment, intent string, priority budget.Priority) (stripeapi.Intent, time.Time, error) {
	credentials, err := a.credentials(ctx, p.Account)
	if err != nil {
		return stripeapi.Intent{}, time.Time{}, err
	}
	if err := a.mayRead(ctx, p.Account, budget.ReadIntent, priority); err != nil {
		return stripeapi.Intent{}, time.Time{}, err
	}
	var begun time.Time
	if err := a.Pool.QueryRow(ctx, `SELECT payonce.clock()`).Scan(&begun); err != nil {
		return stripeapi.Intent{}, time.Time{}, fmt.Errorf("read clock: %w", err)
	}
	reading, cancel := context.WithTimeout(ctx, a.Timing.Send)
	defer cancel()
	read, err := a.Stripe.ReadIntent(reading, credentials, intent, inFull(p)...)
	return read, begun, a.refusedAccount(ctx, p.Account, err)
}

// inFull is what a read of the intent asks for in full: the charge of a manual capture says until when the hold lasts.
func inFull(p payments.Payment) []string {
	if p.CaptureMethod == payments.CaptureManual {
		return []string{"latest_charge"}
	}
	return nil
}

// RefusedRead tells whether err is Stripe's definite refusal to show an object, as when there is none of that id: no retry changes it. An account that
// Stripe refuses altogether is another thing.
func RefusedRead(err error) bool { return err != nil && causeOf(err) == causeRefused }

// refusedAccount stops the account when err says that Stripe refuses its key; it returns err.
func (a *Activities) refusedAccount(ctx context.Context, account payments.Account, err error) error {
	if err == nil || causeOf(err) != causeAccountStopped {
		return err
	}
	a.Log.Error("Stripe refuses this account: its calls are stopped until an operator resumes it",
		"account", account.ID, "livemode", account.Livemode, "error", err)
	return errors.Join(err, tenants.StopAccount(ctx, a.Pool, account, err.Error()))
}

// Poll reads the intent of an open payment and applies what it is now: for what no event ever told.
func (a *Activities) Poll(ctx context.Context, id payments.PaymentID) error {
	p, err := paymentstore.ByID(ctx, a.Pool, a.Sealer, id)
	if err != nil || p.IntentID == "" || p.Status.Terminal() {
		return err
	}
	intent, begun, err := a.readAtStripe(ctx, p, p.IntentID, budget.Backlog)
	if errors.Is(err, errLimited) {
		return nil // commands go first, and the next poll is due already
	}
	if err != nil {
		return err
	}
	_, err = a.Apply(ctx, id, Learnt{Source: SourcePoll, Intent: &intent, BegunAt: begun, EffectiveAt: begun})
	return err
}

// ExpireUnsent ends a payment whose create was not sent in time, when no intent can exist: for the relay, while Temporal is down. It does nothing
// when the command was frozen or is in time.
func (a *Activities) ExpireUnsent(ctx context.Context, id payments.PaymentID) error {
	s, err := a.read(ctx, id)
	if err != nil {
		return err
	}
	c := s.find(payments.OperationCreate)
	if c == nil || !c.late {
		return nil
	}
	newest, err := a.Calls.Newest(ctx, c.record)
	if err != nil || newest != nil {
		return err
	}
	_, err = a.unsent(ctx, s)
	return err
}

// unsent ends the payment of a command whose deadline passed before its call was frozen.
func (a *Activities) unsent(ctx context.Context, s situation) (workflows.Step, error) {
	applied, err := a.Apply(ctx, s.payment.ID, Learnt{Source: SourceEngine, EffectiveAt: s.now, Unsent: true})
	return applied.Step, err
}

// stillUnsent tells, under its record's lock, whether the command is open and no call of it is frozen: one that was being frozen when the deadline
// passed is sent. Lock order: payment, record.
func stillUnsent(ctx context.Context, tx pgx.Tx, c *command) (bool, error) {
	if c == nil || c.operation == payments.OperationCancel {
		return false, nil
	}
	var open, frozen bool
	err := tx.QueryRow(ctx, `SELECT status = 'in_progress' FROM payonce.idempotency_records WHERE id = $1 FOR NO KEY UPDATE`, c.record.UUID).Scan(&open)
	if err != nil {
		return false, fmt.Errorf("lock record: %w", err)
	}
	// A new statement: a call that was frozen while the lock was waited for is invisible to the one before.
	err = tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM payonce.provider_calls WHERE record = $1)`, c.record.UUID).Scan(&frozen)
	if err != nil {
		return false, fmt.Errorf("read calls: %w", err)
	}
	return open && !frozen, nil
}
