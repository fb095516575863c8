package main

import (
	"context"
	"fmt"

	"payonce/internal/bench/result"
)

const rowClaim = "claim_complete"

// measureClaim compares the claim of a create and its completion, as the product makes them, with the statements of both that write, sent raw.
func (s *session) measureClaim(ctx context.Context) ([]result.Row, error) {
	tracer := &capture{}
	traced, err := s.still.openCommands(ctx, tracer)
	if err != nil {
		return nil, err
	}
	order := newReference()
	claim, err := traced.claim(ctx, order)
	if err == nil {
		err = traced.complete(ctx, claim)
	}
	traced.close()
	if err != nil {
		return nil, err
	}
	var written []statement
	for _, sent := range tracer.sent {
		if sent.writes() {
			written = append(written, sent)
		}
	}
	if len(written) != 2 {
		return nil, fmt.Errorf("claim and complete write by %d statements, not 2: say which is which", len(written))
	}
	product, err := s.still.openCommands(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer product.close()
	values, baselines, err := s.contest(ctx,
		func(ctx context.Context) error {
			claim, err := product.claim(ctx, newReference())
			if err != nil {
				return err
			}
			return product.complete(ctx, claim)
		},
		func(ctx context.Context) error {
			insert := written[0].again(order, newReference(), s.still.tenant.UUID)
			if tag, err := product.tenant.Exec(ctx, insert.sql, insert.arguments...); err != nil || tag.RowsAffected() != 1 {
				return fmt.Errorf("raw claim, %s: %w", tag, err)
			}
			update := written[1]
			update.arguments = append([]any{insert.arguments[5]}, update.arguments[1:]...)
			if tag, err := product.system.Exec(ctx, update.sql, update.arguments...); err != nil || tag.RowsAffected() != 1 {
				return fmt.Errorf("raw completion, %s: %w", tag, err)
			}
			return nil
		})
	if err != nil {
		return nil, err
	}
	const against = "the statements of both that write, raw from pgx, each its own transaction"
	row := result.NewRow(rowClaim, "commands/s", values, against, baselines, result.AtLeast(0.65))
	row.Note = fmt.Sprintf("ClaimCreate with its confirm, hashed and sealed, and Complete; %d callers", microInFlight)
	return []result.Row{row}, nil
}
