package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/boundaries"
	"payonce/internal/seal"
	"payonce/internal/timing"
	"payonce/internal/together"
	"payonce/payments"
)

// MaxBody bounds the bytes of a command.
const MaxBody = 64 << 10

// CommandBoundary claims commands and waits for their outcome.
type CommandBoundary interface {
	// ClaimCreate claims a create command for a caller's key. It returns *boundaries.ConflictError when the reference is taken,
	// *boundaries.DestinationError for a wallet that is not there and *boundaries.CustomerError for a customer that is not linked.
	ClaimCreate(ctx context.Context, asking boundaries.Asking, command payments.CreateCommand) (boundaries.Claim, error)

	// ClaimConfirm, ClaimCapture, ClaimCancel and ClaimRefund claim a command on a payment that exists. They return paymentstore.ErrNotFound for no payment of the
	// tenant, *boundaries.ConflictError when its state rules the command out, and *boundaries.AmountError when its currency rules the amount out.
	ClaimConfirm(ctx context.Context, asking boundaries.Asking, command payments.ConfirmCommand) (boundaries.Claim, error)
	ClaimCapture(ctx context.Context, asking boundaries.Asking, command payments.CaptureCommand) (boundaries.Claim, error)
	ClaimCancel(ctx context.Context, asking boundaries.Asking, command payments.CancelCommand) (boundaries.Claim, error)
	ClaimRefund(ctx context.Context, asking boundaries.Asking, command payments.RefundCommand) (boundaries.Claim, error)

	// ClaimPayout claims a payout. It returns *boundaries.ConflictError when its reference is taken, and when there is less to pay out.
	ClaimPayout(ctx context.Context, asking boundaries.Asking, command payments.PayoutCommand) (boundaries.Claim, error)

	// ClaimProvision claims what is to be linked to an owner. It returns *boundaries.ConflictError when the owner has it with other content.
	ClaimProvision(ctx context.Context, asking boundaries.Asking, command payments.ProvisionCommand) (boundaries.Claim, error)

	// Await calls begin, which sets going what was claimed, and waits for its outcome. When the context ends first, the answer is nil.
	Await(ctx context.Context, claim boundaries.Claim, begin func()) (*boundaries.Answer, error)

	// Leave says that the caller is no longer waiting.
	Leave(ctx context.Context, claim boundaries.Claim) error
}

// Waker wakes the workflow of a payment that has an open command. A wake-up may be lost, doubled or late: the relay wakes too.
type Waker interface {
	// Wake starts or signals the workflow that acts on what was claimed. What was claimed on a payment that is over has its outcome at once.
	Wake(ctx context.Context, claim boundaries.Claim) error
}

// Config is what the API needs. Webhook is optional, everything else is required.
type Config struct {
	Pool     *pgxpool.Pool // of the tenant role
	Sealer   *seal.Sealer
	Commands CommandBoundary
	Waker    Waker
	Ready    func(ctx context.Context) error // whether requests can be served: database reachable, no migration pending
	Timing   timing.Timing
	Log      *slog.Logger
	Webhook  http.Handler // answers /webhooks/stripe, any method

	BodyWithin time.Duration // in which a body must have arrived
}

// api answers requests.
type api struct {
	Config

	looks *together.Trips[look, seen]
}

// New makes the handler of every route.
func New(config Config) (http.Handler, error) {
	if config.Pool == nil || config.Sealer == nil || config.Commands == nil || config.Waker == nil || config.Ready == nil || config.Log == nil ||
		config.BodyWithin <= 0 {
		return nil, errors.New("api: incomplete configuration")
	}
	a := &api{Config: config}
	a.looks = together.New(together.Limits{AtOnce: 1, Most: looksTogether, Within: config.Timing.Statement}, a.lookUp)
	mux := http.NewServeMux()
	a.mount(mux)
	if config.Webhook != nil {
		mux.Handle("/webhooks/stripe", config.Webhook)
	}
	return a.observe(mux), nil
}
