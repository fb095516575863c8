package boundaries_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"payonce/activities"
	"payonce/boundaries"
	"payonce/internal/stripeapi"
	"payonce/ledger"
	"payonce/notifications"
	"payonce/payments"
)

// offer is one claim: who, under which identity, with which content.
type offer struct {
	Boundary string
	Tenant   int // index in place.Tenants and Accounts
	Identity string
	Amount   int64 // the content
}

// boundary is one of the four as the suite sees it; the command boundary is seen at its three doors.
type boundary struct {
	name     string
	table    string             // the claim is an insert into it
	compares bool               // other content under the identity is a mismatch; otherwise the first content stands
	repeat   boundaries.Outcome // what a repeat gets before the claim is completed
	prepare  func(context.Context, *engine, offer) error
	claim    func(context.Context, *engine, offer) (boundaries.Outcome, error)
	within   func(context.Context, pgx.Tx, *engine, offer) (boundaries.Outcome, error) // claim and effect in one transaction; nil: the effect is outside
	complete func(context.Context, *engine, offer) error                               // nil: complete with its commit
	effects  func(context.Context, *engine, offer) ([]int64, error)                    // the contents of what stands under the identity
}

// allBoundaries are the four boundaries.
func allBoundaries() []boundary {
	return []boundary{commandDoor(), recordDoor(), callDoor(), eventBoundary(), ledgerBoundary(), notificationBoundary()}
}

func boundaryNamed(name string) (boundary, error) {
	for _, b := range allBoundaries() {
		if b.name == name {
			return b, nil
		}
	}
	return boundary{}, fmt.Errorf("no boundary %q", name)
}

// commandDoor is the command boundary at our edge: a caller's key.
func commandDoor() boundary {
	return boundary{
		name: "command", table: "idempotency_keys", compares: true, repeat: boundaries.InProgress,
		claim: func(ctx context.Context, e *engine, o offer) (boundaries.Outcome, error) {
			claim, err := e.create(ctx, o.Tenant, boundaries.CallerKey(o.Identity), paid(o.Identity, o.Amount))
			return claim.Outcome, err
		},
		complete: func(ctx context.Context, e *engine, o offer) error {
			return e.apply(ctx, e.payment(o), activities.Learnt{Intent: intentOf(e, o, stripeapi.IntentSucceeded)})
		},
		effects: func(ctx context.Context, e *engine, o offer) ([]int64, error) {
			return amounts(ctx, e, `SELECT amount FROM payonce.payments WHERE tenant = $1 AND reference = $2`, e.Tenants[o.Tenant].UUID, o.Identity)
		},
	}
}

// recordDoor is the command boundary for an owner that acts outside the database within a lease. Each claim is a stranger's.
func recordDoor() boundary {
	return boundary{
		name: "record", table: "idempotency_records", compares: true, repeat: boundaries.InProgress,
		claim: func(ctx context.Context, e *engine, o offer) (boundaries.Outcome, error) {
			held, err := boundaries.ClaimRecord(ctx, e.system, e.attempt(o), uuid.NewString(), e.timing.Lease)
			return held.Outcome, err
		},
		complete: func(ctx context.Context, e *engine, o offer) error {
			attempt := e.attempt(o)
			record := boundaries.RecordID(attempt.Tenant, attempt.Operation, attempt.Owner)
			var fence int64
			if err := e.system.QueryRow(ctx, `SELECT fence FROM payonce.idempotency_records WHERE id = $1`, record.UUID).Scan(&fence); err != nil {
				return err
			}
			done, err := boundaries.Complete(ctx, e.system, record, fence, "po_1", 200, map[string]any{"status": "paid"})
			if err == nil && !done {
				err = errors.New("not completed")
			}
			return err
		},
		effects: func(ctx context.Context, e *engine, o offer) ([]int64, error) {
			return texts(ctx, e, "", `SELECT command FROM payonce.idempotency_records WHERE tenant = $1 AND owner_key = $2`,
				e.Tenants[o.Tenant].UUID, string(e.attempt(o).Owner))
		},
	}
}

// attempt is a payout's: an operation whose record is claimed by an owner.
func (e *engine) attempt(o offer) boundaries.Attempt {
	owner := boundaries.PayoutOwnerKey(e.Accounts[o.Tenant].ID, "usd", o.Identity)
	normalised, err := boundaries.Normalise(payments.OperationPayout, "/v1/payouts", o.Amount)
	if err != nil {
		panic(err) // an integer can be encoded
	}
	resource := boundaries.ResourceID(e.Tenants[o.Tenant], payments.OperationPayout, owner)
	key := boundaries.ProviderKey{
		Tenant: e.Tenants[o.Tenant], ResourceKind: "payout", ResourceID: resource, Operation: payments.OperationPayout, Attempt: 1,
	}
	return boundaries.Attempt{
		Tenant: e.Tenants[o.Tenant], Operation: payments.OperationPayout, Owner: owner, IdempotencyKey: key.IdempotencyKey(),
		ResourceKind: "payout", ResourceID: resource, Hash: normalised.Hash, Command: []byte(strconv.FormatInt(o.Amount, 10)),
	}
}

// callDoor is the command boundary towards Stripe. Each claim is a stranger's.
func callDoor() boundary {
	return boundary{
		name: "call", table: "provider_calls", repeat: boundaries.InProgress,
		prepare: preparePayment,
		claim: func(ctx context.Context, e *engine, o offer) (boundaries.Outcome, error) {
			_, err := e.calls.Begin(ctx, e.freeze(o, uuid.NewString()))
			switch {
			case errors.Is(err, boundaries.ErrLeased):
				return boundaries.InProgress, nil
			case errors.Is(err, boundaries.ErrSettled):
				return boundaries.Replay, nil
			default:
				return boundaries.Acquired, err
			}
		},
		complete: func(ctx context.Context, e *engine, o offer) error {
			intent := intentOf(e, o, stripeapi.IntentRequiresPaymentMethod)
			intent.Money.Amount = preparedAmount
			return e.apply(ctx, e.payment(o), activities.Learnt{Intent: intent})
		},
		effects: func(ctx context.Context, e *engine, o offer) ([]int64, error) {
			return texts(ctx, e, boundaries.ColumnCallBody, `SELECT body FROM payonce.provider_calls WHERE payment = $1`, e.payment(o).UUID)
		},
	}
}

// freeze is the create call of a prepared payment, with the offer's amount as its body.
func (e *engine) freeze(o offer, owner string) boundaries.Freeze {
	tenant, payment := e.Tenants[o.Tenant], e.payment(o)
	return boundaries.Freeze{
		Key: boundaries.ProviderKey{
			Tenant: tenant, ResourceKind: boundaries.ResourcePayment, ResourceID: payment.UUID, Operation: payments.OperationCreate, Attempt: 1,
		},
		Record:  boundaries.RecordID(tenant, payments.OperationCreate, boundaries.CreateOwnerKey(o.Identity, 1)),
		Payment: payment, Owner: owner, Account: e.Accounts[o.Tenant],
		Path: "/v1/payment_intents", Body: []byte(strconv.FormatInt(o.Amount, 10)), Version: "2023-10-16",
	}
}

// eventBoundary stores a fact; it has no content that must not differ.
func eventBoundary() boundary {
	b := boundary{
		name: "event", table: "provider_events", repeat: boundaries.Replay,
		within: func(ctx context.Context, tx pgx.Tx, e *engine, o offer) (boundaries.Outcome, error) {
			outcome, _, err := boundaries.StoreEvent(ctx, tx, e.sealer, succeededEvent(e, o))
			return outcome, err
		},
		effects: func(ctx context.Context, e *engine, o offer) ([]int64, error) {
			bodies, err := column(ctx, e, "", `SELECT body FROM payonce.provider_events WHERE account = $1 AND event_id = $2`,
				e.Accounts[o.Tenant].ID, "evt_"+o.Identity)
			found := make([]int64, len(bodies))
			for i, sealed := range bodies {
				body, err := boundaries.OpenEventBody(e.sealer, sealed)
				if err != nil {
					return nil, err
				}
				event, err := stripeapi.ParseEvent(body, e.Accounts[o.Tenant])
				if err != nil {
					return nil, err
				}
				found[i] = event.Intent.Money.Amount
			}
			return found, err
		},
	}
	b.claim = inOneTransaction(b.within)
	return b
}

// ledgerBoundary posts an effect: other amounts under its key are a mismatch.
func ledgerBoundary() boundary {
	b := boundary{
		name: "ledger", table: "ledger_journals", compares: true, repeat: boundaries.Replay,
		within: func(ctx context.Context, tx pgx.Tx, e *engine, o offer) (boundaries.Outcome, error) {
			results, err := ledger.Post(ctx, tx, capture(e, o))
			if err != nil {
				return "", err
			}
			return results[0].Outcome, nil
		},
		effects: func(ctx context.Context, e *engine, o offer) ([]int64, error) {
			return amounts(ctx, e, `SELECT e.amount FROM payonce.ledger_journals j JOIN payonce.ledger_entries e ON e.journal = j.id
				WHERE j.tenant = $1 AND j.posting_key = $2 AND e.amount > 0`, e.Tenants[o.Tenant].UUID, string(capture(e, o).Key))
		},
	}
	b.claim = inOneTransaction(b.within)
	return b
}

// notificationBoundary queues a message: the bytes of the first one stand.
func notificationBoundary() boundary {
	b := boundary{
		name: "notification", table: "notifications", repeat: boundaries.Replay,
		prepare: preparePayment,
		within: func(ctx context.Context, tx pgx.Tx, e *engine, o offer) (boundaries.Outcome, error) {
			queued, err := notifications.Enqueue(ctx, tx, e.sealer, succeededMessage(e, o))
			switch {
			case err != nil:
				return "", err
			case queued.Queued == 1 && queued.Suppressed == 0:
				return boundaries.Acquired, nil
			case queued.Queued == 0 && queued.Suppressed == 1:
				return boundaries.Replay, nil
			default:
				return "", fmt.Errorf("told %d receivers, not %d", queued.Queued, queued.Suppressed)
			}
		},
		effects: func(ctx context.Context, e *engine, o offer) ([]int64, error) {
			return texts(ctx, e, "notifications.body", `SELECT body FROM payonce.notifications WHERE tenant = $1 AND payment = $2`,
				e.Tenants[o.Tenant].UUID, e.payment(o).UUID)
		},
	}
	b.claim = inOneTransaction(b.within)
	return b
}

func inOneTransaction(within func(context.Context, pgx.Tx, *engine, offer) (boundaries.Outcome, error),
) func(context.Context, *engine, offer) (boundaries.Outcome, error) {
	return func(ctx context.Context, e *engine, o offer) (outcome boundaries.Outcome, err error) {
		err = pgx.BeginFunc(ctx, e.system, func(tx pgx.Tx) error {
			outcome, err = within(ctx, tx, e, o)
			return err
		})
		return outcome, err
	}
}

// amounts reads a column of amounts.
func amounts(ctx context.Context, e *engine, sql string, arguments ...any) ([]int64, error) {
	rows, err := e.system.Query(ctx, sql, arguments...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}

// texts reads a column that holds amounts as text, sealed unless no column's name is given.
func texts(ctx context.Context, e *engine, sealedAs, sql string, arguments ...any) ([]int64, error) {
	bodies, err := column(ctx, e, sealedAs, sql, arguments...)
	if err != nil {
		return nil, err
	}
	found := make([]int64, len(bodies))
	for i, body := range bodies {
		if found[i], err = strconv.ParseInt(strings.TrimSpace(string(body)), 10, 64); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func column(ctx context.Context, e *engine, sealedAs, sql string, arguments ...any) ([][]byte, error) {
	rows, err := e.system.Query(ctx, sql, arguments...)
	if err != nil {
		return nil, err
	}
	values, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	if err != nil || sealedAs == "" {
		return values, err
	}
	for i := range values {
		if values[i], err = e.sealer.Open(sealedAs, values[i]); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// succeededEvent is Stripe's word that the offer's payment took its amount.
func succeededEvent(e *engine, o offer) boundaries.Event {
	body, err := json.Marshal(map[string]any{
		"id": "evt_" + o.Identity, "object": "event", "type": "payment_intent.succeeded", "created": 1_900_000_000,
		"data": map[string]any{"object": map[string]any{
			"id": "pi_" + o.Identity, "object": "payment_intent", "status": "succeeded", "amount": o.Amount, "amount_received": o.Amount,
			"currency": "usd", "capture_method": "automatic", "latest_charge": "ch_" + o.Identity, "created": 1_900_000_000,
			"metadata": map[string]string{payments.MetadataPayment: e.payment(o).String()},
		}},
	})
	if err != nil {
		panic(err) // texts and integers can be encoded
	}
	return boundaries.Event{
		Account: e.Accounts[o.Tenant], ID: "evt_" + o.Identity, Type: "payment_intent.succeeded", IntentID: "pi_" + o.Identity,
		Body: body, Source: boundaries.EventFromWebhook,
	}
}
