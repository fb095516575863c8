package main

import (
	"context"
	"strings"
	"sync"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// statement is one that the product sent.
type statement struct {
	sql       string
	arguments []any
}

// writes tells whether the statement changes rows.
func (s statement) writes() bool {
	text := strings.ToUpper(s.sql)
	return strings.Contains(text, "INSERT INTO") || strings.HasPrefix(strings.TrimSpace(text), "UPDATE")
}

// again is the statement with the arguments of another command: every id but those that are kept is a fresh one, and so is every text that names
// the order.
func (s statement) again(order, fresh string, keep ...uuid.UUID) statement {
	arguments := make([]any, len(s.arguments))
	ids := map[uuid.UUID]uuid.UUID{}
	for _, id := range keep {
		ids[id] = id
	}
	other := func(id uuid.UUID) uuid.UUID {
		if _, known := ids[id]; !known {
			ids[id] = uuid.New()
		}
		return ids[id]
	}
	for i, argument := range s.arguments {
		switch value := argument.(type) {
		case uuid.UUID:
			arguments[i] = other(value)
		case *uuid.UUID:
			if value != nil {
				id := other(*value)
				arguments[i] = &id
			}
		case string:
			arguments[i] = strings.ReplaceAll(value, order, fresh)
		case *string:
			if value != nil {
				text := fresh + *value
				arguments[i] = &text
			}
		default:
			arguments[i] = argument
		}
	}
	return statement{sql: s.sql, arguments: arguments}
}

// capture is a tracer of pgx that keeps the statements that are sent.
type capture struct {
	mutex sync.Mutex
	sent  []statement
}

func (c *capture) keep(sql string, arguments []any) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.sent = append(c.sent, statement{sql: sql, arguments: arguments})
}

// TraceQueryStart keeps a statement that is sent alone.
func (c *capture) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	c.keep(data.SQL, data.Args)
	return ctx
}

// TraceQueryEnd does nothing.
func (c *capture) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TraceBatchStart does nothing.
func (c *capture) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

// TraceBatchQuery keeps a statement of a batch.
func (c *capture) TraceBatchQuery(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	c.keep(data.SQL, data.Args)
}

// TraceBatchEnd does nothing.
func (c *capture) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}
