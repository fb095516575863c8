package recovery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/payments"
)

// replayBatch is how many events one statement of a replay asks for.
const replayBatch = 200

// Selection says which stored events are meant, in exactly one way.
type Selection struct {
	Events   []string            // their ids at Stripe, evt_…
	Payment  *payments.PaymentID // those that were matched to the payment
	From, To time.Time           // those received at From or later and before To; both are given
}

// ErrSelection is returned for a selection that names events in no way or in several.
var ErrSelection = errors.New("name events either by their ids, by their payment, or by a time from and to")

// Replay has stored events applied again by the applier, from the bytes that came first, however they were settled before: what is already applied is
// suppressed by the boundaries as a redelivery is. They become due in the order in which they came, at most perSecond a second, beside those that arrive
// meanwhile. It returns how many it asked for; told, if any, hears the number so far.
func Replay(ctx context.Context, pool *pgxpool.Pool, of Selection, perSecond float64, told func(asked int)) (int, error) {
	condition, argument, err := of.condition()
	if err != nil {
		return 0, err
	}
	if perSecond <= 0 {
		return 0, errors.New("the pace of a replay must be above zero events a second")
	}
	asked, last := 0, uuid.Nil
	for {
		rows, err := pool.Query(ctx, `
			WITH chosen AS MATERIALIZED (
				SELECT e.id FROM payonce.provider_events e WHERE `+condition+` AND e.id > $2 ORDER BY e.id LIMIT $3 FOR UPDATE),
			numbered AS (
				SELECT id, row_number() OVER (ORDER BY id) AS n FROM chosen)
			UPDATE payonce.provider_events e
			SET status = 'stored', reason = NULL, settled_at = NULL, tries = 0, replayed_at = payonce.clock(),
			    next_try_at = payonce.clock() + make_interval(secs => ($4 + n.n) / $5::float8)
			FROM numbered n WHERE e.id = n.id
			RETURNING e.id`, argument, last, replayBatch, asked, perSecond)
		if err != nil {
			return asked, fmt.Errorf("replay events: %w", err)
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
		if err != nil {
			return asked, fmt.Errorf("replay events: %w", err)
		}
		for _, id := range ids {
			if id.String() > last.String() {
				last = id
			}
		}
		asked += len(ids)
		if told != nil {
			told(asked)
		}
		if len(ids) < replayBatch {
			return asked, nil
		}
	}
}

// condition is the selection in SQL, with its one argument.
func (s Selection) condition() (condition string, argument any, err error) {
	byTime := !s.From.IsZero() || !s.To.IsZero()
	switch {
	case len(s.Events) > 0 && s.Payment == nil && !byTime:
		return `e.event_id = ANY($1::text[]) AND (e.provider, e.account, e.livemode) IN (
			SELECT provider, account, livemode FROM payonce.provider_accounts)`, s.Events, nil
	case len(s.Events) == 0 && s.Payment != nil && !byTime:
		return `e.payment = $1::uuid`, s.Payment.UUID, nil
	case len(s.Events) == 0 && s.Payment == nil && s.From.Before(s.To) && !s.From.IsZero():
		during := pgtype.Range[time.Time]{Lower: s.From, Upper: s.To, LowerType: pgtype.Inclusive, UpperType: pgtype.Exclusive, Valid: true}
		return `e.received_at <@ $1::tstzrange`, during, nil
	default:
		return "", nil, ErrSelection
	}
}
