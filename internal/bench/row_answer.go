package main

import (
	"context"
	"fmt"

	"payonce/internal/bench/result"
)

// measureFirstAnswer takes how long one payment at a time takes to its first answer, and a bare workflow to its result, by turns; and then how long the
// payment takes with API and worker apart.
func (s *session) measureFirstAnswer(ctx context.Context) ([]result.Row, error) {
	const against = againstBare + ": start to result"
	if err := s.ready(ctx, s.grown, s.grown.together()); err != nil {
		return nil, err
	}
	var together, apart, bare []float64
	for n := range s.options.rounds {
		run, err := s.runBare(ctx, 1, s.lengths.answers)
		if err != nil {
			return nil, fmt.Errorf("round %d: bare: %w", n+1, err)
		}
		p50, err := s.answerRound(ctx)
		if err != nil {
			return nil, fmt.Errorf("round %d: %w", n+1, err)
		}
		bare, together = append(bare, run.P50), append(together, p50)
		s.say("first answer: bare %.1f ms, payonce %.1f ms", run.P50, p50)
	}
	row := result.NewRow(rowFirstAnswer, "ms", together, against, bare, result.AtMost(2.5))
	row.Note = "one in flight, over HTTP, from the request to the 201 with the outcome"
	if !s.options.wants(rowFirstAnswerApart) {
		return []result.Row{row}, nil
	}
	if err := s.ready(ctx, s.grown, s.grown.apart()); err != nil {
		return nil, err
	}
	for n := range s.options.rounds {
		p50, err := s.answerRound(ctx)
		if err != nil {
			return nil, fmt.Errorf("round %d: apart: %w", n+1, err)
		}
		apart = append(apart, p50)
		s.say("first answer: apart %.1f ms", p50)
	}
	beside := result.NewRow(rowFirstAnswerApart, "ms", apart, against, bare, nil)
	beside.Note = "the same with serve and worker as two processes"
	return []result.Row{row, beside}, nil
}

// answerRound makes one payment after the other for a while and returns the p50 of their first answers in milliseconds.
func (s *session) answerRound(ctx context.Context) (float64, error) {
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
