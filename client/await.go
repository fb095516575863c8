package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"payonce/payments"
)

// Await waits until the answer's command has its outcome and the payment is either over or needs you, and gives the payment as it is then:
//
//   - its stage is ledger_applied: it is over, and the books agree;
//   - its status is requires_payment_method (the payer has to hand in another method: see LastError), requires_action (the payer has to act, for
//     instance in 3D Secure) or requires_capture (you have to capture, the rest of it too).
//
// While there is no outcome it repeats the command with its key, so that a confirm under way is not taken for the decline before it. It waits
// as long as the context: a bank debit is processing for days, and a payment under review waits for a person. The errors are *RefusedError and the
// context's.
func (c *Client) Await(ctx context.Context, answer Answer) (Payment, error) {
	for try := 1; !answer.Settled && answer.request != nil; try++ {
		if err := c.sleep(ctx, c.watch().pause(try, answer.retryAfter)); err != nil {
			return Payment{}, err
		}
		again, err := c.ask(ctx, answer.request)
		if err == nil {
			answer = again
		} else if ended := lasting(ctx, err); ended != nil {
			return Payment{}, ended
		}
	}
	if fresh := answer.Settled && !answer.Replayed; fresh && needsYouOrIsOver(answer.Payment) {
		return answer.Payment, nil
	}
	return c.pollPayment(ctx, answer.Payment.ID, needsYouOrIsOver)
}

// AwaitEnd waits until the payment's stage is ledger_applied, whoever has to act before. It waits as long as the context. The errors are
// *RefusedError and the context's.
func (c *Client) AwaitEnd(ctx context.Context, id PaymentID) (Payment, error) {
	return c.pollPayment(ctx, id, isOver)
}

func isOver(payment Payment) bool { return payment.Stage == payments.StageLedgerApplied }

func needsYouOrIsOver(payment Payment) bool {
	switch payment.Status {
	case payments.StatusRequiresPaymentMethod, payments.StatusRequiresAction, payments.StatusRequiresCapture:
		return true
	default:
		return isOver(payment)
	}
}

// pollPayment reads the payment until it is as wanted.
func (c *Client) pollPayment(ctx context.Context, id PaymentID, wanted func(Payment) bool) (Payment, error) {
	return poll(ctx, c, func(ctx context.Context) (Payment, error) { return c.Payment(ctx, id) }, wanted)
}

// poll reads until what is read is as wanted.
func poll[T any](ctx context.Context, c *Client, read func(context.Context) (T, error), wanted func(T) bool) (T, error) {
	var none T
	for try := 1; ; try++ {
		seen, err := read(ctx)
		if err == nil && wanted(seen) {
			return seen, nil
		}
		if ended := lasting(ctx, err); ended != nil {
			return none, ended
		}
		if err := c.sleep(ctx, c.watch().pause(try, 0)); err != nil {
			return none, err
		}
	}
}

// lasting is the error that ends the waiting: an answer that is missing does not.
func lasting(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("payonce: wait: %w", ctx.Err())
	}
	if errors.Is(err, ErrNoAnswer) {
		return nil
	}
	return err
}

// watch is the back-off between two looks at a payment, a refund or a payout.
func (c *Client) watch() backoff {
	return backoff{first: 250 * time.Millisecond, longest: 5 * time.Second, random: c.backoff.random}
}
