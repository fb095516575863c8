package activities

import (
	"context"
	"net/url"

	"payonce/payments"
	"payonce/workflows"
)

// CancelIntent cancels the payment's intent. A payment ends as failed, expired or canceled only when Stripe has said so: whoever holds the
// client secret could pay an open intent without us.
func (a *Activities) CancelIntent(ctx context.Context, in workflows.Act) (workflows.Step, error) {
	return a.act(ctx, in, payments.OperationCancel, func(s situation, c *command) (workflows.Step, error) {
		cancel, err := openCommand[payments.CancelCommand](a, c)
		if err != nil {
			return workflows.Step{}, err
		}
		body := url.Values{}
		if cancel.Reason != nil {
			body.Set("cancellation_reason", *cancel.Reason)
		}
		result, err := a.send(ctx, in, s, c, "/v1/payment_intents/"+url.PathEscape(s.payment.IntentID)+"/cancel", body)
		switch {
		case err != nil:
			return workflows.Step{}, err
		case result.look || result.refusal != nil:
			// What the intent is now decides: ended, and the cancel has what it wanted or came too late; or open, and it was refused.
			return a.readIntent(ctx, in, s, c, result.call, result.refusedCommand())
		default:
			return a.applied(ctx, s, c, result.call, result.learnt(), nil)
		}
	})
}

// refusedCommand is the refusal that the send of a cancel or a capture met, also one that an earlier try was told of; nil when it met none.
func (s sent) refusedCommand() *AnsweredCall {
	switch {
	case s.refusal != nil && causeOf(s.refusal) == causeDeclined: // a card error of a capture is no decline of the payment
		return s.answered().asRefusal()
	case s.refusal != nil && (causeOf(s.refusal) == causeUnexpectedState || causeOf(s.refusal) == causeRefused):
		return s.answered()
	case cause(s.call.Code) == causeUnexpectedState && s.call.HTTPStatus != nil:
		return &AnsweredCall{Call: s.call, Status: *s.call.HTTPStatus, Refusal: &payments.ProviderError{Code: s.call.Code}}
	default:
		return nil
	}
}
