package doctor

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// pageSize is how many rows are held at a time.
const pageSize = 500

// page reads a table in pages by its uuid. The statement takes the last id as $1 and the limit as $2, then the arguments, and answers one row
// an id, in its order, with the columns of T by position.
func page[T any](ctx context.Context, e *examiner, sql string, arguments []any, id func(T) uuid.UUID, look func([]T) error) error {
	after := uuid.Nil
	for {
		found, err := e.Owner.Query(ctx, sql, append([]any{after, pageSize}, arguments...)...)
		if err != nil {
			return err
		}
		rows, err := pgx.CollectRows(found, pgx.RowToStructByPos[T])
		if err != nil {
			return err
		}
		if len(rows) > 0 {
			if err := look(rows); err != nil {
				return err
			}
		}
		if len(rows) < pageSize {
			return nil
		}
		after = id(rows[len(rows)-1])
	}
}

// judged is a row that a statement has judged itself.
type judged struct {
	ID      uuid.UUID
	Subject string
	Faults  []string
}

// judge walks a statement that names the faults of each row.
func (e *examiner) judge(ctx context.Context, c *Check, next, sql string, arguments ...any) error {
	err := page(ctx, e, sql, arguments, func(row judged) uuid.UUID { return row.ID }, func(rows []judged) error {
		for _, row := range rows {
			c.Examined++
			for _, fault := range row.Faults {
				c.violate(row.Subject, next, "%s", fault)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("check %s: %w", c.Name, err)
	}
	return nil
}
