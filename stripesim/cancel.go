package stripesim

// cancel ends an intent. A hold is given back first.
func (t *transition) cancel(in *intent, reason string) {
	t.touch(in)
	if in.Status == processing {
		t.withdraw(in)
	}
	if in.Status == requiresCapture {
		c := t.books.charges.byID[in.latestCharge()]
		t.touch(c)
		c.Released = c.Amount
		c.giveBack()
		kind, why := "charge.refunded", ""
		if reason == "automatic" {
			kind, why = "charge.expired", "expired_uncaptured_charge"
		}
		t.emitCharge(kind, in, c)
		t.release(in, c, why)
	}
	in.Status, in.AmountCapturable, in.NextAction = canceled, 0, ""
	in.CanceledAt, in.CancellationReason = t.now.Unix(), reason
	in.notDue()
	t.emitIntent("payment_intent.canceled", in)
}

// prepareCancel is POST /v1/payment_intents/{id}/cancel.
func prepareCancel(c *call, p *params) effect {
	reason := p.oneOf("cancellation_reason", "duplicate", "fraudulent", "requested_by_customer", "abandoned")
	expand := readExpand(p, "payment_intent", false)
	return func(t *transition) (any, *apiError) {
		in, err := t.intent(c.id)
		if err != nil {
			return nil, err
		}
		if err := t.cancelable(in); err != nil {
			return nil, err
		}
		t.cancel(in, reason)
		return t.books.renderIntent(in, expand), nil
	}
}

// cancelable refuses an intent that is over, on its way or captured in part.
func (t *transition) cancelable(in *intent) *apiError {
	if !in.in(requiresPaymentMethod, requiresCapture, requiresConfirmation, requiresAction) && !t.books.withdrawable(in) {
		return t.unexpectedState(in, "You cannot cancel this PaymentIntent because it has a status of "+in.Status+
			". Only a PaymentIntent with one of the following statuses may be canceled: requires_payment_method, "+
			"requires_capture, requires_confirmation, requires_action, processing.")
	}
	if t.books.partlyCaptured(in) {
		return t.unexpectedState(in, "You cannot cancel this PaymentIntent because it has been captured in part. "+
			"Capture an amount of 0 with final_capture to release what is left.")
	}
	return nil
}

// partlyCaptured says whether the intent is a hold of which money was taken and some is left.
func (b *books) partlyCaptured(in *intent) bool {
	return in.Status == requiresCapture && b.charges.byID[in.latestCharge()].Captured
}

// expire ends an authorisation whose time is over. Where it was captured in part the payment has succeeded.
func (t *transition) expire(in *intent) {
	if !t.books.partlyCaptured(in) {
		t.cancel(in, "automatic")
		return
	}
	t.capture(in, t.books.charges.byID[in.latestCharge()], 0, false)
}

// withdrawable says whether the intent is a bank debit that has not been handed to the bank.
func (b *books) withdrawable(in *intent) bool {
	return in.Status == processing && b.methods.byID[in.PaymentMethod].test().Behaviour == stays
}

// intent finds the intent of a request's path among those that the caller may see.
func (t *transition) intent(id string) (*intent, *apiError) {
	in, found := t.books.intents.find(t.who.scope, id)
	if !found {
		return nil, missingIn(t.books.intents, t.who.scope, "payment_intent", id, "intent")
	}
	if !in.countUpdate(t.now) {
		return nil, rateLimited(0)
	}
	t.open(in)
	return in, nil
}

// unexpectedState is the refusal of an intent that is in the wrong state; it shows the intent.
func (t *transition) unexpectedState(in *intent, message string) *apiError {
	e := refusal("payment_intent_unexpected_state", message, "")
	e.PaymentIntent = encode(t.books.renderIntent(in, nil))
	return e
}
