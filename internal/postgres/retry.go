package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// maxTransactionTries bounds how often a transaction that lost a race is run again.
const maxTransactionTries = 5

// InTransaction runs work in a READ COMMITTED transaction and runs it again, at most maxTransactionTries times in all, when it lost a
// serialisation race or a deadlock. work must touch nothing outside the database.
func InTransaction(ctx context.Context, pool *pgxpool.Pool, work func(pgx.Tx) error) error {
	var err error
	for range maxTransactionTries {
		err = pgx.BeginFunc(ctx, pool, work)
		if err == nil || !Retryable(err) {
			return err
		}
	}
	return err
}
