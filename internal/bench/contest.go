package main

import (
	"context"
	_ "embed" // the raw tables
	"fmt"
)

// microInFlight is how many callers a row of single calls has, on both sides; each side has a pool of as many connections.
const microInFlight = 16

//go:embed raw.sql
var rawSQL string

// side is one of the two things that a contest compares, done once a call.
type side func(ctx context.Context) error

// contest does product and baseline by turns and returns how often each was done a second, by round.
func (s *session) contest(ctx context.Context, product, baseline side) (values, baselines []float64, err error) {
	for _, each := range []side{product, baseline} { // connections, statements, and the pages of indexes over random ids
		if _, _, err := loop(ctx, microInFlight, s.lengths.micro, each); err != nil {
			return nil, nil, fmt.Errorf("warm up: %w", err)
		}
	}
	for n := range s.options.rounds {
		for _, turn := range []struct {
			side side
			into *[]float64
		}{{baseline, &baselines}, {product, &values}} {
			done, seconds, err := loop(ctx, microInFlight, s.lengths.micro, turn.side)
			if err != nil {
				return nil, nil, fmt.Errorf("round %d: %w", n+1, err)
			}
			*turn.into = append(*turn.into, float64(done)/seconds)
		}
	}
	return values, baselines, nil
}

// makeRaw makes the raw tables of the site once.
func (s *site) makeRaw(ctx context.Context) error {
	conn, err := s.connect(ctx, s.database)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var there bool
	if err := conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'raw')`).Scan(&there); err != nil || there {
		return err
	}
	_, err = conn.Exec(ctx, rawSQL)
	return err
}
