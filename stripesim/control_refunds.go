package stripesim

import (
	"net/http"
	"slices"
	"time"

	"payonce/stripesim/control"
)

// debitRefundS is how long a refund to a bank account stays pending, in seconds. Stripe says some business days.
const debitRefundS = 4 * secondsPerDay

// planned takes what is to become of the next refund: what was set for the intent, else for the account, else what its
// payment method does.
func (t *transition) planned(in *intent, c *charge) control.RefundPlan {
	if plan := in.NextRefund; plan != nil {
		in.NextRefund = nil
		return *plan
	}
	if a := t.books.accounts.byID[in.Account]; a != nil && a.NextRefund != nil {
		plan := *a.NextRefund
		a.NextRefund = nil
		t.touch(a)
		return plan
	}
	test := t.books.methods.byID[c.PaymentMethod].test()
	if test.Kind != card {
		return control.RefundPlan{Status: pending, AfterS: debitRefundS}
	}
	return test.Refund
}

// planProblem says what is wrong with a plan, or "".
func planProblem(plan control.RefundPlan) string {
	switch {
	case !slices.Contains([]string{succeeded, pending, requiresAction, failed}, plan.Status):
		return "status must be succeeded, pending, requires_action or failed"
	case plan.Then != "" && plan.Then != succeeded && plan.Then != failed:
		return "then must be succeeded or failed"
	case plan.AfterS < 0 || plan.AfterS == 0 && plan.Then != "":
		return "then takes after_s above 0"
	}
	return ""
}

// planRefund sets what becomes of the next refund of an intent.
func (tw *Twin) planRefund(r *http.Request) (any, error) {
	var plan control.RefundPlan
	if err := readJSON(r, &plan); err != nil {
		return nil, err
	}
	if problem := planProblem(plan); problem != "" {
		return nil, badRequest(problem)
	}
	return tw.act(r, nobody, func(t *transition, in *intent) error {
		in.NextRefund = &plan
		t.touch(in)
		return nil
	})
}

// refundElsewhere makes a refund as the Dashboard does: without a key and without metadata of ours.
func (tw *Twin) refundElsewhere(r *http.Request) (any, error) {
	var how control.RefundElsewhere
	if err := readJSON(r, &how); err != nil {
		return nil, err
	}
	id := r.PathValue("id")
	return changing(tw, r, func(t *transition) (control.Refund, error) {
		in := t.books.intents.byID[id]
		if in == nil {
			return control.Refund{}, notFound("payment intent", id)
		}
		t.who = elsewhere(in)
		c, refused := t.paid("", id)
		if refused != nil {
			return control.Refund{}, refusedThere(refused)
		}
		var amount *int64
		if how.Amount != 0 {
			amount = &how.Amount
		}
		money, refused := t.refundable(c, amount, true)
		if refused != nil {
			return control.Refund{}, refusedThere(refused)
		}
		made := &refund{Amount: money, Reason: how.Reason, Metadata: copyOf(how.Metadata)}
		t.refund(c, made)
		return refundOf(made), nil
	})
}

// settleRefundNow settles a refund that is pending or waits for the payer, or fails one that had succeeded.
func (tw *Twin) settleRefundNow(r *http.Request) (any, error) {
	var how control.SettleRefund
	if err := readJSON(r, &how); err != nil {
		return nil, err
	}
	id := r.PathValue("id")
	return changing(tw, r, func(t *transition) (control.Refund, error) {
		made := t.books.refunds.byID[id]
		if made == nil {
			return control.Refund{}, notFound("refund", id)
		}
		if made.Released || !slices.Contains(nextOfRefund(made.Status), how.Status) {
			return control.Refund{}, &controlError{http.StatusConflict, "the refund is " + made.Status + " and cannot become " + how.Status}
		}
		t.settleRefund(made, how.Status, how.FailureReason)
		return refundOf(made), nil
	})
}

// nextOfRefund is what a refund may become.
func nextOfRefund(status string) []string {
	switch status {
	case pending:
		return []string{succeeded, failed, canceled, requiresAction}
	case requiresAction:
		return []string{pending, succeeded, failed, canceled}
	case succeeded:
		return []string{failed}
	}
	return nil
}

func refundOf(r *refund) control.Refund {
	return control.Refund{ID: r.ID, PaymentIntent: r.Intent, Charge: r.Charge, Amount: r.Amount, Currency: r.Currency, Status: r.Status,
		Reason: r.Reason, FailureReason: r.FailureReason, BalanceTransaction: r.BalanceTransaction,
		FailureBalanceTransaction: r.FailureBalanceTransaction, Metadata: copyOf(r.Metadata), Released: r.Released, Created: time.Unix(r.Created, 0).UTC()}
}

func refusedThere(e *apiError) error { return &controlError{http.StatusConflict, e.Message} }

// captureElsewhere captures as the Dashboard does.
func (tw *Twin) captureElsewhere(r *http.Request) (any, error) {
	var how control.CaptureElsewhere
	if err := readJSON(r, &how); err != nil {
		return nil, err
	}
	return tw.act(r, elsewhere, func(t *transition, in *intent) error {
		var amount *int64
		if how.Amount != 0 {
			amount = &how.Amount
		}
		c, money, refused := t.capturable(in, amount, how.Keep)
		if refused != nil {
			return refusedThere(refused)
		}
		t.capture(in, c, money, how.Keep)
		return nil
	})
}

// cancelElsewhere cancels as the Dashboard does.
func (tw *Twin) cancelElsewhere(r *http.Request) (any, error) {
	how := control.CancelElsewhere{Reason: "requested_by_customer"}
	if err := readJSON(r, &how); err != nil {
		return nil, err
	}
	return tw.act(r, elsewhere, func(t *transition, in *intent) error {
		if refused := t.cancelable(in); refused != nil {
			return refusedThere(refused)
		}
		t.cancel(in, how.Reason)
		return nil
	})
}

// elsewhere is a request of somebody else who may act for the account, such as the Dashboard.
func elsewhere(in *intent) origin { return payer(in) }

// changing runs do as a change of the books and answers with what it made.
func changing[T any](tw *Twin, r *http.Request, do func(*transition) (T, error)) (any, error) {
	now, err := tw.clock.Now(r.Context())
	if err != nil {
		return nil, err
	}
	var made T
	var outcome error
	if failure := tw.change(now, func(t *transition) *apiError {
		made, outcome = do(t)
		return nil
	}); failure != nil {
		return nil, &controlError{failure.status, failure.Message}
	}
	return made, outcome
}
