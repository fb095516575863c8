// Package clock tells the time, and is the only package of the engine that asks
// for it.
//
// Two clocks, because they answer different questions. Postgres is the time of
// every decision: ages, leases, deadlines and effective times all come from the
// one SQL function payonce.clock(), so that all processes agree and a test can
// move a day. Wall is this machine's time and serves only what must agree with
// the outside world now: the timestamps inside signatures.
//
// It imports pgx for one interface and nothing of payonce; it must not know what
// the times are used for.
package clock

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Wall is this machine's time in UTC. Use it for signatures and for nothing that
// is compared with a time stored in Postgres.
func Wall() time.Time {
	return time.Now().UTC()
}

// Querier is a pgx pool, connection or transaction.
type Querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Postgres is the engine's time: the database's, plus the offset that only the
// owner role can set and that is zero in production.
type Postgres struct {
	Source Querier
}

// Now reads the clock once; microsecond precision, in UTC. Inside a transaction
// it moves on between two calls (it is clock_timestamp, not now()).
func (p Postgres) Now(ctx context.Context) (time.Time, error) {
	var now time.Time
	if err := p.Source.QueryRow(ctx, "SELECT payonce.clock()").Scan(&now); err != nil {
		return time.Time{}, fmt.Errorf("read payonce.clock(): %w", err)
	}
	return now.UTC(), nil
}
