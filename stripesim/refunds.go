package stripesim

// prepareCreateRefund is POST /v1/refunds.
func prepareCreateRefund(c *call, p *params) effect {
	chargeID, _ := p.text("charge")
	intentID, _ := p.text("payment_intent")
	amount := p.integer("amount")
	reason := p.oneOf("reason", "duplicate", "fraudulent", "requested_by_customer")
	metadata := readMetadata(p)
	expand := readExpand(p, "refund", false)
	if chargeID == "" && intentID == "" {
		p.fail(invalidRequest("parameter_missing", "One of the following params should be provided for this request: payment_intent or charge.", ""))
	}
	if amount != nil && *amount < 1 {
		p.fail(invalidRequest("parameter_invalid_integer", "This value must be greater than or equal to 1.", "amount"))
	}
	return func(t *transition) (any, *apiError) {
		ch, err := t.paid(chargeID, intentID)
		if err != nil {
			return nil, err
		}
		money, err := t.refundable(ch, amount, chargeID == "")
		if err != nil {
			return nil, err
		}
		r := &refund{Amount: money, Reason: reason, Metadata: metadata}
		t.refund(ch, r)
		return t.books.renderRefund(r, expand), nil
	}
}

// paid finds the charge that a refund is of: the one named, or the last one of the intent that succeeded.
func (t *transition) paid(chargeID, intentID string) (*charge, *apiError) {
	if chargeID != "" {
		c, found := t.books.charges.find(t.who.scope, chargeID)
		if !found {
			return nil, missingParamObject(t.books.charges, t.who.scope, "charge", chargeID, "charge")
		}
		if intentID != "" && c.Intent != intentID {
			return nil, refusal("", "The charge "+chargeID+" is not of the PaymentIntent "+intentID+".", "charge")
		}
		return c, nil
	}
	in, found := t.books.intents.find(t.who.scope, intentID)
	if !found {
		return nil, missingParamObject(t.books.intents, t.who.scope, "payment_intent", intentID, "payment_intent")
	}
	for i := len(in.Charges) - 1; i >= 0; i-- {
		if c := t.books.charges.byID[in.Charges[i]]; c.Status == succeeded {
			return c, nil
		}
	}
	return nil, refusal("", "This PaymentIntent ("+intentID+") does not have a successful charge to refund.", "payment_intent")
}

// missingParamObject is the refusal of an id in a parameter, where missingIn is that of one in the path.
func missingParamObject[T record](of *table[T], s scope, noun, id, param string) *apiError {
	e := missingIn(of, s, noun, id, param)
	e.status = 400
	return e
}

// refundable is how much a refund takes: what is left where no amount is named. byIntent says that the request named
// the intent and not the charge.
func (t *transition) refundable(c *charge, amount *int64, byIntent bool) (int64, *apiError) {
	in := t.books.intents.byID[c.Intent]
	left := c.refundable()
	switch {
	case c.Status != succeeded:
		return 0, refusal("", "Charge "+c.ID+" is not a successful charge; there is nothing to refund.", "")
	case !c.Captured:
		return 0, t.unexpectedState(in, "This PaymentIntent could not be refunded because it has a status of "+in.Status+
			" and nothing of it was captured. Cancel it instead.")
	case c.ChargedBack && byIntent && t.books.lost(in):
		return 0, refusal("refund_disputed_payment", "This PaymentIntent ("+in.ID+") was disputed and the dispute was lost; it cannot be refunded.", "")
	case c.ChargedBack:
		return 0, refusal("charge_disputed", "Charge "+c.ID+" has been charged back; cannot issue a refund.", "")
	case left == 0:
		return 0, refusal("charge_already_refunded", "Charge "+c.ID+" has already been refunded.", "")
	case amount == nil:
		return left, nil
	case *amount > left:
		return 0, refusal("amount_too_large", "Refund amount ("+display(*amount, c.Currency)+") is greater than unrefunded amount on charge ("+
			display(left, c.Currency)+")", "amount")
	}
	return *amount, amountFault(*amount, c.Currency, "amount")
}

// refund makes a refund of a charge. What becomes of it is as planned, else as its payment method does.
func (t *transition) refund(c *charge, r *refund) {
	in := t.books.intents.byID[c.Intent]
	t.open(in)
	plan := t.planned(in, c)
	r.ID, r.Account, r.Livemode, r.Created = newID("re"), in.Account, in.Livemode, t.now.Unix()
	if t.books.kindOf(c) != card {
		r.ID = newID("pyr")
	}
	r.Intent, r.Charge, r.Currency, r.Status, r.Email = in.ID, c.ID, in.Currency, orDefault(plan.Status, succeeded), in.ReceiptEmail
	if r.Status == failed {
		r.FailureReason = orDefault(plan.FailureReason, "unknown")
	}
	if plan.AfterS > 0 {
		r.DueAt, r.DueStatus, r.DueReason = t.now.Unix()+plan.AfterS, orDefault(plan.Then, succeeded), plan.FailureReason
	}
	t.books.refunds.add(r)
	t.books.planAt(r.DueAt, dueRefund, r.ID)
	t.touch(r)
	t.touch(in)
	in.Refunds = append(in.Refunds, r.ID)
	if r.counts() {
		t.touch(c)
		c.Returned += r.Amount
		c.giveBack()
	}
	if r.Status == succeeded || r.Status == pending && !plan.Unfunded {
		t.payRefund(in, c, r)
	}
	t.announce(in, c, r)
}

// announce tells of a new refund. What a card's bank answers comes as an update within the same second.
func (t *transition) announce(in *intent, c *charge, r *refund) {
	t.emitRefund("refund.created", in, r, nil)
	if r.counts() {
		t.emitCharge("charge.refunded", in, c)
	}
	if r.Status == succeeded && t.books.kindOf(c) == card {
		r.Reference = "7" + randomDigits(22)
		t.emitUpdatedRefund(in, r, map[string]any{"destination_details": map[string]any{"card": map[string]any{
			"reference": nil, "reference_status": pending}}})
	}
	if r.Status == failed {
		t.emitRefund("refund.failed", in, r, nil)
	}
}

// payRefund takes the money of a refund from the account's balance.
func (t *transition) payRefund(in *intent, c *charge, r *refund) {
	kind := "refund"
	if t.books.kindOf(c) != card {
		kind = "payment_refund"
	}
	bt := t.entry(in, kind, "refund", r.ID, -r.Amount)
	bt.Description = "REFUND FOR CHARGE"
	t.enter(in, bt)
	t.touch(r)
	r.BalanceTransaction = bt.ID
	in.Refunded += r.Amount
}

// settleRefund gives a refund another status, and its money back to the account when that is failed or canceled.
func (t *transition) settleRefund(r *refund, status, reason string) {
	in, c := t.books.intents.byID[r.Intent], t.books.charges.byID[r.Charge]
	t.open(in)
	t.touch(r)
	previous := map[string]any{"status": r.Status}
	r.Status, r.DueAt = status, 0
	switch status {
	case succeeded:
		if r.BalanceTransaction == "" {
			previous["balance_transaction"] = nil
			t.payRefund(in, c, r)
		}
	case failed, canceled:
		if status == failed {
			r.FailureReason = orDefault(reason, "unknown")
			previous["failure_reason"] = nil
		}
		t.touch(c)
		c.Returned -= r.Amount
		c.giveBack()
		t.unpayRefund(in, r, previous)
	}
	t.emitUpdatedRefund(in, r, previous)
	if status == failed {
		t.emitRefund("refund.failed", in, r, nil)
	}
}

// unpayRefund gives the account back what a refund had taken from its balance.
func (t *transition) unpayRefund(in *intent, r *refund, previous map[string]any) {
	if r.BalanceTransaction == "" {
		return
	}
	bt := t.entry(in, "refund_failure", "refund_failure", r.ID, r.Amount)
	bt.Description = "REFUND FAILURE"
	t.enter(in, bt)
	r.FailureBalanceTransaction = bt.ID
	previous["failure_balance_transaction"] = nil
	in.Refunded -= r.Amount
}

func (t *transition) emitRefund(kind string, in *intent, r *refund, previous map[string]any) {
	t.emit(kind, in.about(), t.books.renderRefund(r, nil), previous)
}

// emitUpdatedRefund tells of a changed refund under both names that Stripe has for it; endpoints choose (refund_feed).
func (t *transition) emitUpdatedRefund(in *intent, r *refund, previous map[string]any) {
	t.emitRefund("refund.updated", in, r, previous)
	t.emitRefund("charge.refund.updated", in, r, previous)
}
