package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// lockKey names the advisory lock "this process is the Temporal server of this
// database". Any constant will do as long as it never changes.
const lockKey = 0x74656d706f72616c // "temporal"

var errSecondInstance = errors.New("another temporal-dev serves this database; stop it or choose another --prefix")

// acquire takes the single-instance lock on a connection of its own. The lock
// lives as long as the connection.
func acquire(ctx context.Context, databaseURL string) (*pgx.Conn, error) {
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return nil, err
	}
	var got bool
	err = conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1)", int64(lockKey)).Scan(&got)
	if err == nil && !got {
		err = errSecondInstance
	}
	if err != nil {
		_ = conn.Close(context.WithoutCancel(ctx))
		return nil, err
	}
	return conn, nil
}

// hold keeps the lock until ctx ends. When Postgres drops the connection it
// takes the lock again; it returns an error only when another process was
// faster, because then two servers would fight over the shards.
func hold(ctx context.Context, conn *pgx.Conn, databaseURL string) error {
	for ctx.Err() == nil {
		_, err := conn.WaitForNotification(ctx) // nobody notifies: returns when the connection ends
		if err == nil {
			continue
		}
		_ = conn.Close(context.WithoutCancel(ctx))
		conn, err = reacquire(ctx, databaseURL)
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("lost the single-instance lock: %w", err)
		}
	}
	if conn != nil {
		return conn.Close(context.WithoutCancel(ctx))
	}
	return nil
}

func reacquire(ctx context.Context, databaseURL string) (*pgx.Conn, error) {
	for {
		conn, err := acquire(ctx, databaseURL)
		if err == nil || errors.Is(err, errSecondInstance) {
			return conn, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}
