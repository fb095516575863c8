package activities

import (
	"context"
	"net/url"

	"payonce/payments"
	"payonce/workflows"
)

// ConfirmIntent confirms the payment's intent with the command's method. A decline is a result.
func (a *Activities) ConfirmIntent(ctx context.Context, in workflows.Act) (workflows.Step, error) {
	return a.act(ctx, in, payments.OperationConfirm, func(s situation, c *command) (workflows.Step, error) {
		confirm, err := openCommand[payments.ConfirmCommand](a, c)
		if err != nil {
			return workflows.Step{}, err
		}
		result, err := a.send(ctx, in, s, c, confirmPath(s.payment), confirmBody(s.payment, confirm))
		switch {
		case err != nil:
			return workflows.Step{}, err
		case result.look:
			return a.readIntent(ctx, in, s, c, result.call, nil)
		default:
			return a.applied(ctx, s, c, result.call, result.learnt(), nil)
		}
	})
}

func confirmPath(p payments.Payment) string {
	return "/v1/payment_intents/" + url.PathEscape(p.IntentID) + "/confirm"
}

func confirmBody(p payments.Payment, confirm payments.ConfirmCommand) url.Values {
	body := url.Values{"payment_method": {confirm.PaymentMethod}}
	if p.CaptureMethod == payments.CaptureManual {
		body.Set("expand[]", "latest_charge") // it says until when the hold lasts
	}
	if confirm.ReturnURL != nil {
		body.Set("return_url", *confirm.ReturnURL)
	}
	if confirm.OffSession != nil && *confirm.OffSession {
		body.Set("off_session", "true")
	}
	return body
}
