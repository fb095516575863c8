package activities

import (
	"context"
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/boundaries"
	"payonce/internal/seal"
	"payonce/internal/stripeapi"
	"payonce/internal/timing"
	"payonce/payments"
)

// Waker wakes the workflow of a payment, without content: it reads what is new from Postgres.
type Waker interface {
	Wake(ctx context.Context, payment payments.PaymentID) error
}

// Activities are the acts, with what they need. Every field is required.
type Activities struct {
	Pool    *pgxpool.Pool // the system role
	Sealer  *seal.Sealer
	Stripe  *stripeapi.Client
	Calls   *boundaries.Calls
	Timing  timing.Timing
	Settled *boundaries.Settled // wakes callers that wait in this process
	Nudge   func()              // tells the dispatcher of this process that messages were queued
	Waker   Waker
	Log     *slog.Logger
}

// In names what an activity acts on. It crosses into Temporal: ids and enums only.
type In struct {
	Version int                `json:"version"` // 1
	Payment payments.PaymentID `json:"payment"`
	Owner   string             `json:"owner"` // the workflow's id: the owner of the record's lease
	Local   bool               `json:"local"` // the short first try
}

// Step is where a payment stands after an act, and what comes next. It crosses into Temporal.
type Step struct {
	Version int                `json:"version"` // 1
	Stage   payments.Stage     `json:"stage"`
	Status  payments.Status    `json:"status"`
	Next    payments.Operation `json:"next,omitempty"` // the open command with the lowest number; empty: nothing to do
	Over    bool               `json:"over,omitempty"` // terminal, and no command is open
}
