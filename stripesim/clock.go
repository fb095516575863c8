package stripesim

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Clock tells the time of the twin: every age (keys, authorisations, retries, the created of objects) comes from it.
type Clock interface {
	// Now returns the present time. It is called once or more per request.
	Now(ctx context.Context) (time.Time, error)
}

// WallClock is the machine's own clock.
type WallClock struct{}

// Now returns the wall time; it never fails.
func (WallClock) Now(context.Context) (time.Time, error) { return time.Now(), nil }

// DatabaseClock reads payonce.clock(), so that the twin's days pass when the database's do. Callers that wait
// together share one query, which is always sent after each of them asked. While the database is away the twin goes
// on with the last known distance to the wall clock: Stripe does not stop when our database does.
type DatabaseClock struct {
	pool *pgxpool.Pool
	log  *slog.Logger

	sending sync.Mutex // held by the one who queries

	mu     sync.Mutex
	next   *reading
	offset time.Duration
}

type reading struct {
	done chan struct{}
	now  time.Time
}

// NewDatabaseClock connects to url, whose role needs to be able to execute payonce.clock() and nothing else, and
// reads the clock once. It fails if that does.
func NewDatabaseClock(ctx context.Context, url string, log *slog.Logger) (*DatabaseClock, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("clock url: %w", err)
	}
	config.MaxConns = 1
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("clock: %w", err)
	}
	c := &DatabaseClock{pool: pool, log: log}
	if _, err := c.query(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("clock: %w", err)
	}
	return c, nil
}

// Close ends the connection.
func (c *DatabaseClock) Close() { c.pool.Close() }

// Now returns payonce.clock(). It fails only when ctx ends.
func (c *DatabaseClock) Now(ctx context.Context) (time.Time, error) {
	c.mu.Lock()
	mine := c.next
	leader := mine == nil
	if leader {
		mine = &reading{done: make(chan struct{})}
		c.next = mine
	}
	c.mu.Unlock()
	if leader {
		c.sending.Lock()
		c.mu.Lock()
		c.next = nil // from here on others need a later query
		c.mu.Unlock()
		mine.now = c.read()
		close(mine.done)
		c.sending.Unlock()
	}
	select {
	case <-mine.done:
		return mine.now, nil
	case <-ctx.Done():
		return time.Time{}, ctx.Err()
	}
}

func (c *DatabaseClock) read() time.Time {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	now, err := c.query(ctx)
	if err == nil {
		return now
	}
	c.log.Warn("clock: the database does not answer, going on with the last offset", "err", err)
	return c.Lately()
}

// Lately returns the present time by the offset of the last reading, without asking the database.
func (c *DatabaseClock) Lately() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.offset)
}

// lately is the time of something that follows a reading of the clock: a webhook after the request that caused it,
// or after the tick that made it due.
func lately(ctx context.Context, clock Clock) (time.Time, error) {
	if knows, ok := clock.(interface{ Lately() time.Time }); ok {
		return knows.Lately(), ctx.Err()
	}
	return clock.Now(ctx)
}

func (c *DatabaseClock) query(ctx context.Context) (time.Time, error) {
	var now time.Time
	if err := c.pool.QueryRow(ctx, `SELECT payonce.clock()`).Scan(&now); err != nil {
		return time.Time{}, err
	}
	c.mu.Lock()
	c.offset = time.Until(now)
	c.mu.Unlock()
	return now, nil
}

// wallNow is the wall time, for signatures only.
func wallNow() time.Time { return time.Now() }
