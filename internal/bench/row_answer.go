package main

import (
	"context"
	"fmt"

	"payonce/internal/bench/result"
)

// measureFirstAnswer takes how long one payment at a time takes to its first answer, and a bare workflow to its result.
func (s *session) measureFirstAnswer(ctx context.Context) ([]result.Row, error) {
	var together, apart, bare []float64
	for n := range s.options.rounds {
		run, err := s.runBare(ctx, 1, s.lengths.answers)
		if err != nil {
			return nil, fmt.Errorf("round %d: bare: %w", n+1, err)
		}
		bare = append(bare, run.P50)
		for _, turn := range []struct {
			processes []payonce
			into      *[]float64
		}{{s.grown.together(), &together}, {s.grown.apart(), &apart}} {
			p50, err := s.answerRound(ctx, turn.processes)
			if err != nil {
				return nil, fmt.Errorf("round %d: %w", n+1, err)
			}
			*turn.into = append(*turn.into, p50)
		}
		s.say("first answer: bare %.1f ms, together %.1f ms, apart %.1f ms", bare[n], together[n], apart[n])
	}
	rows := []result.Row{
		result.NewRow(rowFirstAnswer, "ms", together, againstBare+": start to result", bare, result.AtMost(2.5)),
		result.NewRow(rowFirstAnswerApart, "ms", apart, againstBare+": start to result", bare, nil),
	}
	rows[0].Note = "one in flight, over HTTP, from the request to the 201 with the outcome"
	rows[1].Note = "the same with serve and worker as two processes"
	return rows, s.grown.run(ctx)
}

func (s *session) answerRound(ctx context.Context, processes []payonce) (float64, error) {
	if err := s.ready(ctx, s.grown, processes); err != nil {
		return 0, err
	}
	var answered series
	_, _, err := loop(ctx, 1, s.lengths.answers, func(ctx context.Context) error {
		took, err := s.grown.shop.buy(ctx)
		answered.add(took)
		return err
	})
	if err != nil {
		return 0, err
	}
	_, err = s.grown.awaitQuiet(ctx)
	return result.Median(answered.all()), err
}
