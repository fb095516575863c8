package boundaries

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/internal/seal"
	"payonce/internal/together"
)

// eventsTogether is how many events are stored in one round trip at most.
const eventsTogether = 64

// Events is the event boundary of a door at which many events arrive at once: those that come while a commit is under way are committed together.
type Events struct {
	pool   *pgxpool.Pool
	sealer *seal.Sealer
	trips  *together.Trips[eventRow, bool]
}

// NewEvents makes the boundary. pool has the system role and commits synchronously; within bounds a round trip.
func NewEvents(pool *pgxpool.Pool, sealer *seal.Sealer, within time.Duration) *Events {
	e := &Events{pool: pool, sealer: sealer}
	e.trips = together.New(together.Limits{AtOnce: 1, Most: eventsTogether, Within: within}, e.insert)
	return e
}

// Store is StoreEvent, together with the events that others store at the same time; it returns after the commit.
func (e *Events) Store(ctx context.Context, event Event) (Outcome, uuid.UUID, error) {
	row, err := newEventRow(e.sealer, event)
	if err != nil {
		return "", uuid.Nil, err
	}
	first, err := e.trips.Do(ctx, row)
	switch {
	case err != nil:
		return "", uuid.Nil, fmt.Errorf("store event %s: %w", event.ID, err)
	case first:
		return Acquired, row.id, nil
	default:
		return row.store(ctx, e.pool)
	}
}

// insert claims the identities of events in one statement and tells which of them were new. Of one that was stored before, also a moment ago by
// another of these, nothing is changed: a repeat is counted outside, since it waits while its row is being applied, and others must not wait with it.
// The rows go in by their identity, so that two such statements wait for each other and never both.
func (e *Events) insert(ctx context.Context, rows []eventRow) ([]bool, error) {
	n := len(rows)
	ids, accounts, modes, eventIDs, types := make([]uuid.UUID, n), make([]string, n), make([]bool, n), make([]string, n), make([]string, n)
	versions, kinds, objects, intents := make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	created, bodies, sources, ignored := make([]*time.Time, n), make([][]byte, n), make([]string, n), make([]string, n)
	place := make(map[uuid.UUID]int, n)
	for i, row := range rows {
		place[row.id] = i
		ids[i], accounts[i], modes[i], eventIDs[i], types[i] = row.id, row.Account.ID, row.Account.Livemode, row.ID, row.Type
		versions[i], kinds[i], objects[i], intents[i] = row.APIVersion, row.ObjectKind, row.ObjectID, row.IntentID
		created[i], bodies[i], sources[i], ignored[i] = row.created, row.sealed, string(row.Source), row.Ignored
	}
	found, err := e.pool.Query(ctx, `INSERT INTO payonce.provider_events
			(id, account, livemode, event_id, type, api_version, object_kind, object_id, intent_id, created, body, source,
			 status, reason, next_try_at, received_at, settled_at)
		SELECT e.id, e.account, e.livemode, e.event_id, e.type, nullif(e.api_version, ''), nullif(e.object_kind, ''), nullif(e.object_id, ''),
			nullif(e.intent_id, ''), coalesce(e.created, at.now), e.body, e.source, CASE WHEN e.ignored = '' THEN 'stored' ELSE 'ignored' END,
			nullif(e.ignored, ''), CASE WHEN e.ignored = '' THEN at.now END, at.now, CASE WHEN e.ignored <> '' THEN at.now END
		FROM unnest($1::uuid[], $2::text[], $3::bool[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
			$10::timestamptz[], $11::bytea[], $12::text[], $13::text[])
			AS e (id, account, livemode, event_id, type, api_version, object_kind, object_id, intent_id, created, body, source, ignored),
			(SELECT payonce.clock() AS now) at
		ORDER BY e.account, e.livemode, e.event_id, e.type
		ON CONFLICT ON CONSTRAINT provider_events_identity DO NOTHING
		RETURNING id`,
		ids, accounts, modes, eventIDs, types, versions, kinds, objects, intents, created, bodies, sources, ignored)
	if err != nil {
		return nil, fmt.Errorf("store events: %w", err)
	}
	first := make([]bool, n)
	var id uuid.UUID
	_, err = pgx.ForEachRow(found, []any{&id}, func() error {
		first[place[id]] = true
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("store events: %w", err)
	}
	return first, nil
}
