package budget

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/payments"
)

// A bucket holds 0.2 s worth of calls and a process takes 0.05 s worth at a time, at least one call each: within any second a single process sends at
// most 1.25 times the rate, which makes Stripe's 100 of our 80 and its 25 of our 20.
const (
	burst = 200 * time.Millisecond
	lease = 50 * time.Millisecond
)

// leaseLife is how long a process may use what it took; what is left then is lost.
const leaseLife = time.Second

// takeWithin bounds one look at the buckets.
const takeWithin = 5 * time.Second

// want is what a process asks of the buckets: calls to one endpoint, for the most urgent that waits for it.
type want struct {
	endpoint Endpoint
	priority Priority
}

// got is the answer to a want.
type got struct {
	calls int           // 0: none, until wait is over
	wait  time.Duration // positive when calls is 0
	rate  float64       // calls a second that the buckets let through
}

// take asks the buckets of an account for calls, in the order given, in one round trip.
func take(ctx context.Context, pool *pgxpool.Pool, account payments.Account, wants []want) ([]got, error) {
	ctx, cancel := context.WithTimeout(ctx, takeWithin)
	defer cancel()
	all := make([]got, len(wants))
	batch := &pgx.Batch{}
	for i, w := range wants {
		batch.Queue(`SELECT granted, wait_seconds, rate FROM payonce.take_calls($1, $2, $3, $4, $5, $6)`,
			account.ID, account.Livemode, string(w.endpoint), w.priority.reserve(), burst.Seconds(), lease.Seconds(),
		).QueryRow(func(row pgx.Row) error {
			var wait float64
			if err := row.Scan(&all[i].calls, &wait, &all[i].rate); err != nil {
				return err
			}
			if all[i].calls == 0 {
				all[i].wait = max(time.Millisecond, seconds(wait))
			}
			return nil
		})
	}
	if err := pool.SendBatch(ctx, batch).Close(); err != nil {
		return nil, fmt.Errorf("take calls of account %s, livemode %t: %w", account.ID, account.Livemode, err)
	}
	return all, nil
}

// seconds is a duration of at most a year, which no caller waits for.
func seconds(s float64) time.Duration {
	return time.Duration(min(s, 365*24*3600) * float64(time.Second))
}
