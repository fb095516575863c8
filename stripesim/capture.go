package stripesim

// mostCaptures is how often a hold with multicapture may be captured (Stripe docs, Capture a payment multiple times).
const mostCaptures = 50

// readMulticapture reads whether a card's hold is to be captured several times.
func readMulticapture(p *params, in *intent) {
	in.Multicapture = p.oneOf("payment_method_options[card][request_multicapture]", "if_available", "never")
}

// prepareCapture is POST /v1/payment_intents/{id}/capture: in full or in part and, where the hold has multicapture,
// several times.
func prepareCapture(c *call, p *params) effect {
	amount := p.integer("amount_to_capture")
	fee := p.integer("application_fee_amount")
	if amount != nil && *amount < 0 {
		p.fail(invalidRequest("parameter_invalid_integer", "This value must be greater than or equal to 0.", "amount_to_capture"))
	}
	keep := p.has("final_capture") && !p.boolean("final_capture")
	members, _ := p.object("metadata")
	expand := readExpand(p, "payment_intent", false)
	return func(t *transition) (any, *apiError) {
		in, err := t.intent(c.id)
		if err != nil {
			return nil, err
		}
		ch, money, err := t.capturable(in, amount, keep)
		if err != nil {
			return nil, err
		}
		if err := mergeMetadata(in, members); err != nil {
			return nil, err
		}
		if fee != nil {
			in.ApplicationFee = fee
		}
		if money > 0 {
			in.CapturesExecuted++
		}
		t.capture(in, ch, money, keep)
		return t.books.renderIntent(in, expand), nil
	}
}

// capturable finds the hold of an intent and the money that a capture takes of it: all that is left where no amount is
// named. None (0) ends a hold that has been captured in part.
func (t *transition) capturable(in *intent, amount *int64, keep bool) (*charge, int64, *apiError) {
	if in.Status != requiresCapture {
		return nil, 0, t.unexpectedState(in, "This PaymentIntent could not be captured because it has a status of "+in.Status+
			". Only a PaymentIntent with one of the following statuses may be captured: requires_capture.")
	}
	c := t.books.charges.byID[in.latestCharge()]
	if keep && !c.Multicapture {
		return nil, 0, refusal("", "This account is not eligible for multicapture.", "final_capture")
	}
	money := in.AmountCapturable
	if amount != nil {
		money = *amount
	}
	if money > in.AmountCapturable {
		return nil, 0, refusal("amount_too_large", "You cannot capture more than the authorized amount: "+
			display(in.AmountCapturable, in.Currency)+".", "amount_to_capture")
	}
	if money == 0 && c.Captured && !keep {
		return c, 0, nil
	}
	if c.Captures >= mostCaptures {
		return nil, 0, refusal("", "A PaymentIntent can be captured up to 50 times.", "")
	}
	return c, money, amountFault(money, in.Currency, "amount_to_capture")
}

// capture takes money of a hold, or none and ends it. What is left is given back, unless it is to be kept for another
// capture; when nothing is left there is nothing to keep.
func (t *transition) capture(in *intent, c *charge, amount int64, keep bool) {
	was := *c
	keep = keep && amount < in.AmountCapturable
	if amount > 0 {
		t.captured(in, c, amount, keep)
	} else {
		t.finish(in, c)
	}
	if !was.Captured {
		t.emitCharge("charge.captured", in, c)
	}
	if c.Multicapture {
		t.emitChanges(in, &was, c)
	}
	if released := c.Released > was.Released; released && t.books.releasesAsRefunds(in) {
		t.emitCharge("charge.refunded", in, c)
		t.release(in, c, "")
	}
	if keep {
		t.emitIntent("payment_intent.amount_capturable_updated", in)
		return
	}
	t.emitIntent("payment_intent.succeeded", in)
}

// emitChanges tells of a charge that was changed, with what it was before.
func (t *transition) emitChanges(in *intent, was, c *charge) {
	previous := map[string]any{}
	if was.AmountCaptured != c.AmountCaptured {
		previous["amount_captured"] = was.AmountCaptured
	}
	if was.Captured != c.Captured {
		previous["captured"] = was.Captured
	}
	if was.AmountRefunded != c.AmountRefunded {
		previous["amount_refunded"] = was.AmountRefunded
	}
	if was.BalanceTransaction != c.BalanceTransaction {
		previous["balance_transaction"] = orNil(was.BalanceTransaction)
	}
	if len(previous) > 0 {
		t.emit("charge.updated", in.about(), t.books.renderCharge(c, nil), previous)
	}
}
