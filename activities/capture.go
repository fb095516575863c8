package activities

import (
	"context"
	"net/url"
	"strconv"

	"payonce/payments"
	"payonce/workflows"
)

// CaptureIntent takes money of the payment's hold. A refusal leaves the payment authorised, unless the intent has ended.
func (a *Activities) CaptureIntent(ctx context.Context, in workflows.Act) (workflows.Step, error) {
	return a.act(ctx, in, payments.OperationCapture, func(s situation, c *command) (workflows.Step, error) {
		capture, err := openCommand[payments.CaptureCommand](a, c)
		if err != nil {
			return workflows.Step{}, err
		}
		result, err := a.send(ctx, in, s, c, "/v1/payment_intents/"+url.PathEscape(s.payment.IntentID)+"/capture", captureBody(s.payment, capture))
		switch {
		case err != nil:
			return workflows.Step{}, err
		case result.look || result.refusal != nil:
			// What the intent is now decides: captured, and the capture has what it wanted; ended, and it came too late; or held, and it was refused.
			return a.readIntent(ctx, in, s, c, result.call, result.refusedCommand())
		default:
			return a.applied(ctx, s, c, result.call, result.learnt(), nil)
		}
	})
}

// captureBody leaves out what Stripe would take anyway: all that is held, and that this capture is the last one
// (https://docs.stripe.com/api/payment_intents/capture).
func captureBody(p payments.Payment, capture payments.CaptureCommand) url.Values {
	body := url.Values{}
	if capture.Amount != nil {
		body.Set("amount_to_capture", strconv.FormatInt(*capture.Amount, 10))
	}
	if capture.Amount != nil && *capture.Amount == 0 { // ours, of a hold captured in part: see engineRelease
		body.Set("final_capture", "true")
	}
	if p.Multicapture && capture.Final != nil && !*capture.Final {
		body.Set("final_capture", "false")
	}
	return body
}

// captureSettled tells whether the open capture has its outcome: the payment is over, Stripe refused it, its own answer came, or a read begun after its
// newest send had ended shows the total that it leads to.
func (ch *change) captureSettled(c command, learnt Learnt) bool {
	if ch.after.Status.Terminal() || learnt.refused(payments.OperationCapture) {
		return true
	}
	own := learnt.Answer != nil && learnt.Answer.Call.Operation == payments.OperationCapture && learnt.Answer.Call.Fence == c.fence
	return own || learnt.readAfterSend() && c.capturedAfter != 0 && ch.after.AmountCaptured == c.capturedAfter
}

// ambiguous tells whether the total is neither what it was before the capture nor what the capture leads to: somebody else captured too, and which of
// the two it was nobody can say.
func (c command) ambiguous(captured int64) bool {
	return c.operation == payments.OperationCapture && captured != c.capturedBefore
}
