package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Pipelined runs a READ COMMITTED transaction in two round trips where work itself makes none: what first queues travels with BEGIN, and what work
// queues into last travels with COMMIT. Like InTransaction it runs the whole again when it lost a race; work must touch nothing outside the database.
func Pipelined(ctx context.Context, pool *pgxpool.Pool, first func(*pgx.Batch), work func(tx pgx.Tx, last *pgx.Batch) error) error {
	var err error
	for range maxTransactionTries {
		err = pipelinedOnce(ctx, pool, first, work)
		if err == nil || !Retryable(err) {
			return err
		}
	}
	return err
}

func pipelinedOnce(ctx context.Context, pool *pgxpool.Pool, first func(*pgx.Batch), work func(tx pgx.Tx, last *pgx.Batch) error) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer conn.Release()
	begin := &pgx.Batch{}
	begin.BeginTx(pgx.TxOptions{})
	first(begin)
	begun := conn.SendBatch(ctx, begin)
	tx := begun.Tx()
	last := &pgx.Batch{}
	if err = begun.Close(); err == nil {
		err = work(tx, last)
	}
	if err == nil {
		err = commitWith(ctx, tx, last)
	}
	if err != nil && tx != nil {
		_ = tx.Rollback(ctx) // the error that led here is the one to tell
	}
	return err
}

// commitWith sends the last statements and COMMIT. The transaction object does not learn that it is over: it is dropped.
func commitWith(ctx context.Context, tx pgx.Tx, last *pgx.Batch) error {
	committed := ""
	last.Queue("commit").Exec(func(tag pgconn.CommandTag) error {
		committed = tag.String()
		return nil
	})
	if err := tx.SendBatch(ctx, last).Close(); err != nil {
		return err
	}
	if committed != "COMMIT" {
		return pgx.ErrTxCommitRollback
	}
	return nil
}
