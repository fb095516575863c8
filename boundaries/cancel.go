package boundaries

import (
	"context"

	"payonce/payments"
)

// ClaimCancel claims the cancel of a payment for a caller's key, or says what the key already names. A payment ends once: a fresh key attaches to
// the cancel that is there, also to the engine's own and whatever reason was given first; only a refused one is followed by another. Of a payment
// that is over the claim says Over: it is decided in Postgres. It returns paymentstore.ErrNotFound.
func (c *Commands) ClaimCancel(ctx context.Context, asking Asking, command payments.CancelCommand) (Claim, error) {
	return c.claimFurther(ctx, asking, further{
		payment: command.Payment, operation: payments.OperationCancel, judge: judgeCancel, names: numbered(payments.OperationCancel, CancelOwnerKey),
	})
}

// judgeCancel lets every cancel in: what the payment is decides its outcome, not whether it may be asked for.
func judgeCancel(standing, Normalised) error { return nil }
