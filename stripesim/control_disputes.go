package stripesim

import (
	"net/http"
	"slices"
	"time"

	"payonce/stripesim/control"
)

// disputeFee is what a withdrawal costs: 15.00 in a currency of two decimals.
const disputeFee = 1500

func (tw *Twin) openDispute(r *http.Request) (any, error) {
	var how control.OpenDispute
	if err := readJSON(r, &how); err != nil {
		return nil, err
	}
	id := r.PathValue("id")
	return changing(tw, r, func(t *transition) (control.Dispute, error) {
		if t.books.intents.byID[id] == nil {
			return control.Dispute{}, notFound("payment intent", id)
		}
		t.who.scope = t.books.intents.byID[id].owner()
		c, refused := t.paid("", id)
		t.who.scope = scope{}
		if refused != nil {
			return control.Dispute{}, refusedThere(refused)
		}
		d := &dispute{Amount: orDefault(how.Amount, c.refundable()), Fee: disputeFee, Reason: orDefault(how.Reason, "fraudulent"),
			Status: orDefault(how.Status, needsResponse)}
		if how.Status == "" && t.books.kindOf(c) != card {
			d.Status = lost
		}
		if how.Fee != nil {
			d.Fee = *how.Fee
		}
		switch {
		case !slices.Contains([]string{warningNeedsResponse, needsResponse, lost}, d.Status):
			return control.Dispute{}, badRequest("a dispute opens in warning_needs_response, needs_response or lost")
		case !c.Captured || d.Amount < 1 || d.Amount > c.AmountCaptured || c.ChargedBack:
			return control.Dispute{}, &controlError{http.StatusConflict, "there is not so much of the charge to dispute"}
		}
		t.dispute(c, d)
		return disputeOf(d), nil
	})
}

func (tw *Twin) updateDispute(r *http.Request) (any, error) {
	var how control.UpdateDispute
	if err := readJSON(r, &how); err != nil {
		return nil, err
	}
	return tw.disputing(r, (*dispute).over, func(t *transition, d *dispute) error {
		status := orDefault(how.Status, d.Status)
		if !slices.Contains([]string{warningNeedsResponse, warningUnderReview, needsResponse, underReview}, status) {
			return badRequest("an open dispute is warning_needs_response, warning_under_review, needs_response or under_review")
		}
		if d.Withdrawn > 0 && (status == warningNeedsResponse || status == warningUnderReview) {
			return badRequest("a dispute that took money is no inquiry any more")
		}
		t.updateDispute(d, status, how.Evidence)
		return nil
	})
}

func (tw *Twin) closeDispute(r *http.Request) (any, error) {
	var how control.CloseDispute
	if err := readJSON(r, &how); err != nil {
		return nil, err
	}
	final := func(d *dispute) bool { return d.over() && (d.Status != lost || how.Status != won) } // a bank may change its mind
	return tw.disputing(r, final, func(t *transition, d *dispute) error {
		ends := []string{won, lost}
		if d.Withdrawn == 0 {
			ends = []string{warningClosed}
		}
		if !slices.Contains(ends, how.Status) {
			return badRequest("this dispute ends in " + oxford(ends))
		}
		t.closeDispute(d, how.Status, how.ReturnFee, how.ReinstatedFirst)
		return nil
	})
}

// disputing changes a dispute that is not final and answers with it.
func (tw *Twin) disputing(r *http.Request, final func(*dispute) bool, do func(*transition, *dispute) error) (any, error) {
	id := r.PathValue("id")
	return changing(tw, r, func(t *transition) (control.Dispute, error) {
		d := t.books.disputes.byID[id]
		switch {
		case d == nil:
			return control.Dispute{}, notFound("dispute", id)
		case final(d):
			return control.Dispute{}, &controlError{http.StatusConflict, "the dispute is " + d.Status}
		}
		err := do(t, d)
		return disputeOf(d), err
	})
}

func disputeOf(d *dispute) control.Dispute {
	return control.Dispute{ID: d.ID, PaymentIntent: d.Intent, Charge: d.Charge, Amount: d.Amount, Currency: d.Currency, Status: d.Status,
		Reason: d.Reason, Withdrawn: d.Withdrawn, Reinstated: d.Reinstated, BalanceTransactions: slices.Clone(d.Transactions),
		Created: time.Unix(d.Created, 0).UTC()}
}
