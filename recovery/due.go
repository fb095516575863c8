package recovery

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// dueBatch bounds one round of what is due.
const dueBatch = 50

// actOnDue does what is due to each row that a statement names by its id. It returns how many were due; one whose act failed holds up no other.
func actOnDue(ctx context.Context, pool *pgxpool.Pool, what string, act func(context.Context, uuid.UUID) error, sql string, arguments ...any) (int, error) {
	rows, err := pool.Query(ctx, sql, arguments...)
	if err != nil {
		return 0, fmt.Errorf("find %s: %w", what, err)
	}
	due, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return 0, fmt.Errorf("find %s: %w", what, err)
	}
	var failed []error
	for _, id := range due {
		failed = append(failed, act(ctx, id))
	}
	return len(due), errors.Join(failed...)
}
