package activities

import (
	"context"
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/boundaries"
	"payonce/internal/budget"
	"payonce/internal/seal"
	"payonce/internal/stripeapi"
	"payonce/internal/timing"
	"payonce/payments"
)

// Waker wakes the workflow of a payment, without content: it reads what is new from Postgres. It returns workflows.ErrOver when that has ended.
type Waker interface {
	Wake(ctx context.Context, payment payments.PaymentID) error
	WakeRefund(ctx context.Context, payment payments.PaymentID, refund payments.RefundID) error
	WakePayout(ctx context.Context, payout payments.PayoutID) error
	WakeProvision(ctx context.Context, provision payments.ProvisionID, record payments.RecordID) error
}

// Activities are the acts, with what they need. Every exported field is required.
type Activities struct {
	Pool    *pgxpool.Pool // the system role
	Sealer  *seal.Sealer
	Stripe  *stripeapi.Client
	Calls   *boundaries.Calls
	Budget  *budget.Budget // asked before each call
	Timing  timing.Timing
	Settled *boundaries.Settled // wakes callers that wait in this process
	Nudge   func()              // tells the dispatcher of this process that messages were queued
	Waker   Waker
	Log     *slog.Logger

	ahead ahead
}
