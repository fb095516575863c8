package activities

import (
	"context"
	"errors"
	"net/url"

	"payonce/boundaries"
	"payonce/payments"
	"payonce/workflows"
)

// CancelIntent cancels the payment's intent. A payment ends as failed, expired or canceled only when Stripe has said so: whoever holds the
// client secret could pay an open intent without us.
func (a *Activities) CancelIntent(ctx context.Context, in workflows.Act) (workflows.Step, error) {
	s, err := a.read(ctx, in.Payment)
	if err != nil {
		return workflows.Step{}, unknownPayment(err)
	}
	c := s.find(payments.OperationCancel)
	if c == nil {
		return s.step(), nil
	}
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
	case errors.Is(err, boundaries.ErrSettled):
		return a.ReadPayment(ctx, in)
	case err != nil:
		return workflows.Step{}, err
	case result.look || result.refusal != nil:
		// A refused cancel met another state: what the intent is now decides.
		return a.readIntent(ctx, in, s, c, result.call)
	default:
		return a.applied(ctx, s, c, result.call, result.learnt())
	}
}
