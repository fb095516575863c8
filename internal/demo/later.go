package demo

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"payonce/stripesim/control"
)

// Moves of the clock. Stripe holds a card's money for seven days, and the policy acts ten minutes before; bank debits take four and five days, a refund
// of one takes four; whose card was declined is given up after one.
const (
	untilDebitsSettle = 6*24*time.Hour + time.Hour
	untilHoldsRunOut  = 7*24*time.Hour - 8*time.Minute - untilDebitsSettle
	untilRefundsEnd   = 4*24*time.Hour + time.Hour
)

// later lets the days pass in which holds run out, debits settle and refunds fail, and what people do meanwhile.
func (s *session) later(ctx context.Context, outcomes []Outcome) error {
	if err := s.giveBackAtStripe(ctx, outcomes); err != nil {
		return err
	}
	if err := s.openDisputes(ctx, outcomes); err != nil {
		return err
	}
	if err := s.passes(ctx, untilDebitsSettle, waits{holds: true}); err != nil {
		return err
	}
	s.giveDebitsBack(ctx, outcomes)
	if err := s.closeDisputes(ctx); err != nil {
		return err
	}
	if err := s.payOut(ctx); err != nil {
		return err
	}
	if err := s.passes(ctx, untilHoldsRunOut, waits{refunds: true}); err != nil {
		return err
	}
	return s.passes(ctx, untilRefundsEnd, waits{})
}

// passes moves the clock and waits for quiet; what may still wait then is said.
func (s *session) passes(ctx context.Context, by time.Duration, meanwhile waits) error {
	if _, err := s.stack.Reader.Exec(ctx, `UPDATE payonce.clock_offset SET offset_interval = offset_interval + $1`, by); err != nil {
		return fmt.Errorf("move the clock: %w", err)
	}
	if err := s.stack.Twin.Tick(ctx); err != nil {
		return fmt.Errorf("let the twin see the clock: %w", err)
	}
	fmt.Fprintf(s.out, "the clock is moved by %s\n", by)
	if err := awaitQuiet(ctx, s.stack, s.out, meanwhile); err != nil {
		return s.unquiet(ctx, err)
	}
	return nil
}

// giveBackAtStripe makes the refunds that people make at Stripe's dashboard, without a key or metadata of ours.
func (s *session) giveBackAtStripe(ctx context.Context, outcomes []Outcome) error {
	for _, outcome := range outcomes {
		if outcome.Order.Plan != PlanRefundElsewhere || outcome.Payment.PaymentIntent == "" {
			continue
		}
		if _, err := s.stack.Twin.RefundElsewhere(ctx, outcome.Payment.PaymentIntent, control.RefundElsewhere{Amount: outcome.Order.third()}); err != nil {
			return fmt.Errorf("give back at Stripe: %w", err)
		}
	}
	return nil
}

// giveDebitsBack asks for the refunds of bank debits, which have settled by now.
func (s *session) giveDebitsBack(ctx context.Context, outcomes []Outcome) {
	backend := newClient(s.stack.APIURL, s.stack.APIKey)
	defer backend.close()
	group := errgroup.Group{}
	for i := range outcomes {
		if outcomes[i].Order.Plan != PlanDebitRefund {
			continue
		}
		group.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, orderWithin)
			defer cancel()
			b := &buyer{client: backend, outcome: outcomes[i]}
			b.ask(ctx, "refunds", map[string]any{})
			outcomes[i] = b.outcome
			return nil
		})
	}
	_ = group.Wait() // what fails is noted with its order
}
