package boundaries

import (
	"context"

	"payonce/payments"
)

// ClaimConfirm claims the next confirm of a payment for a caller's key, or says what the key already names. One confirm is open at a time: a fresh
// key with its content attaches to it. It returns paymentstore.ErrNotFound, and *ConflictError when the open confirm holds other content or the
// payment's state rules a confirm out.
func (c *Commands) ClaimConfirm(ctx context.Context, asking Asking, command payments.ConfirmCommand) (Claim, error) {
	return c.claimFurther(ctx, asking, further{
		payment: command.Payment, operation: payments.OperationConfirm, judge: judgeConfirm, names: numbered(payments.OperationConfirm, ConfirmOwnerKey),
		deadline: &c.timing.CommandDeadline,
	})
}

// judgeConfirm says whether a confirm may be claimed. A payment in requires_action may be confirmed again, with another method: Stripe gives up the
// challenge (https://docs.stripe.com/api/payment_intents/confirm).
func judgeConfirm(at standing, normalised Normalised) error {
	switch {
	case at.held != nil && at.held.differs(normalised):
		return &ConflictError{Code: ConflictReference, Payment: at.payment, Status: at.status}
	case at.held != nil:
		return nil
	case at.status == payments.StatusSucceeded:
		return &ConflictError{Code: ConflictPaymentSucceeded, Payment: at.payment, Status: at.status}
	case at.status.Terminal() || at.ending:
		return &ConflictError{Code: ConflictPaymentEnded, Payment: at.payment, Status: at.status}
	case at.status == payments.StatusProcessing || at.status == payments.StatusRequiresCapture:
		return &ConflictError{Code: ConflictUnexpectedState, Payment: at.payment, Status: at.status}
	default:
		return nil
	}
}
