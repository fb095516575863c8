package boundaries

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/internal/seal"
	"payonce/payments"
)

// EventStatus is what has become of a stored event.
type EventStatus string

// The statuses of an event. Stored and parked ones are still to be settled.
const (
	EventStored      EventStatus = "stored"      // to be applied
	EventParked      EventStatus = "parked"      // names a payment that is not known yet
	EventApplied     EventStatus = "applied"     // its fact is in the payment
	EventStale       EventStatus = "stale"       // the payment is ahead of it
	EventIgnored     EventStatus = "ignored"     // of a kind or mode that is not consumed
	EventForeign     EventStatus = "foreign"     // not one of ours
	EventQuarantined EventStatus = "quarantined" // names a payment that it does not fit
)

// EventSource is who brought an event.
type EventSource string

// The sources of an event.
const (
	EventFromWebhook  EventSource = "webhook"
	EventFromBackfill EventSource = "backfill"
)

// Event is a provider fact as it is stored. Its identity is (provider, account, mode, event id, type): the sample events of
// Stripe's dashboard share one id.
type Event struct {
	Account    payments.Account
	ID         string // evt_…, 1 to 255 characters
	Type       string // 1 to 255 characters
	APIVersion string // empty when not given, and so are the next three
	ObjectKind string // data.object.object
	ObjectID   string // data.object.id
	IntentID   string // the PaymentIntent that the object is or names
	Created    time.Time
	Body       []byte // the raw bytes, as they were verified
	Source     EventSource
	Ignored    string // why it is not consumed; empty: it is stored to be applied
}

// EventIsConsumed tells whether events of the type are applied. Others that are delivered are stored as ignored, so that nothing that was acknowledged is
// out of sight.
func EventIsConsumed(eventType string) bool {
	for _, family := range []string{"payment_intent.", "charge.", "refund.", "payout."} {
		if strings.HasPrefix(eventType, family) {
			return true
		}
	}
	return false
}

// rowQuerier is a pool, a connection or a transaction.
type rowQuerier interface {
	QueryRow(ctx context.Context, sql string, arguments ...any) pgx.Row
}

// StoreEvent claims the event's identity: a pure creation, so its insert is the claim. It answers Acquired the first time
// and Replay afterwards, with the id of the row; a repeat keeps the first body and only counts. Suppressed is what was
// applied, never what was only seen: that is the applier's to judge.
//
// One statement; the pool must commit synchronously, since the sender forgets the event once it was answered. An event
// without Created is taken as created now.
func StoreEvent(ctx context.Context, db rowQuerier, sealer *seal.Sealer, event Event) (Outcome, uuid.UUID, error) {
	row, err := newEventRow(sealer, event)
	if err != nil {
		return "", uuid.Nil, err
	}
	return row.store(ctx, db)
}

// SelectKnownEvents reads which of an account's events are stored, by the index of their identity.
const SelectKnownEvents = `
	SELECT event_id FROM payonce.provider_events WHERE provider = 'stripe' AND account = $1 AND livemode = $2 AND event_id = ANY($3)`

// KnownEvents are those of an account's event ids that are stored.
func KnownEvents(ctx context.Context, pool *pgxpool.Pool, account payments.Account, ids []string) ([]string, error) {
	rows, err := pool.Query(ctx, SelectKnownEvents, account.ID, account.Livemode, ids)
	if err != nil {
		return nil, fmt.Errorf("read known events: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// eventRow is an event as a new row has it.
type eventRow struct {
	Event

	id      uuid.UUID
	created *time.Time // nil: not given
	sealed  []byte
}

func newEventRow(sealer *seal.Sealer, event Event) (eventRow, error) {
	row := eventRow{Event: event}
	if !event.Created.IsZero() {
		row.created = &event.Created
	}
	var err error
	if row.id, err = uuid.NewV7(); err != nil {
		return row, fmt.Errorf("make event row id: %w", err)
	}
	row.sealed, err = sealEventBody(sealer, event.Body)
	return row, err
}

// store inserts the row, or counts a delivery of the one that is there.
func (r eventRow) store(ctx context.Context, db rowQuerier) (Outcome, uuid.UUID, error) {
	status := EventStored
	if r.Ignored != "" {
		status = EventIgnored
	}
	var (
		id    uuid.UUID
		first bool
	)
	err := db.QueryRow(ctx, `INSERT INTO payonce.provider_events AS known
			(id, account, livemode, event_id, type, api_version, object_kind, object_id, intent_id, created, body, source,
			 status, reason, next_try_at, received_at, settled_at)
		SELECT $1, $2, $3, $4, $5, nullif($6, ''), nullif($7, ''), nullif($8, ''), nullif($9, ''), coalesce($10, at.now), $11, $12,
			$13, nullif($14, ''), CASE WHEN $14 = '' THEN at.now END, at.now, CASE WHEN $14 <> '' THEN at.now END
		FROM (SELECT payonce.clock() AS now) at
		ON CONFLICT ON CONSTRAINT provider_events_identity DO UPDATE SET deliveries = known.deliveries + 1
		RETURNING id, xmax = 0`,
		r.id, r.Account.ID, r.Account.Livemode, r.ID, r.Type, r.APIVersion, r.ObjectKind, r.ObjectID,
		r.IntentID, r.created, r.sealed, r.Source, status, r.Ignored).Scan(&id, &first)
	if err != nil {
		return "", uuid.Nil, fmt.Errorf("store event %s: %w", r.ID, err)
	}
	if first {
		return Acquired, id, nil
	}
	return Replay, id, nil
}
