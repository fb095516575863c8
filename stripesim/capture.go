package stripesim

// prepareCapture is POST /v1/payment_intents/{id}/capture: once, in full or in part.
func prepareCapture(c *call, p *params) effect {
	amount := p.integer("amount_to_capture")
	fee := p.integer("application_fee_amount")
	if amount != nil && *amount < 1 {
		p.fail(invalidRequest("parameter_invalid_integer", "This value must be greater than or equal to 1.", "amount_to_capture"))
	}
	if final, sent := p.text("final_capture"); sent && final != "true" {
		p.fail(invalidRequest("", "This account is not eligible for multicapture.", "final_capture"))
	}
	members, _ := p.object("metadata")
	expand := readExpand(p, "payment_intent", false)
	return func(t *transition) (any, *apiError) {
		in, err := t.intent(c.id)
		if err != nil {
			return nil, err
		}
		if in.Status != requiresCapture {
			return nil, t.unexpectedState(in, "This PaymentIntent could not be captured because it has a status of "+in.Status+
				". Only a PaymentIntent with one of the following statuses may be captured: requires_capture.")
		}
		money := in.AmountCapturable
		if amount != nil {
			money = *amount
		}
		if money > in.AmountCapturable {
			return nil, refusal("amount_too_large", "You cannot capture more than the authorized amount: "+
				display(in.AmountCapturable, in.Currency)+".", "amount_to_capture")
		}
		if err := mergeMetadata(in, members); err != nil {
			return nil, err
		}
		if fee != nil {
			in.ApplicationFee = fee
		}
		t.capture(in, money)
		return t.books.renderIntent(in, expand), nil
	}
}

// capture takes the money of a hold; what is left of it is given back.
func (t *transition) capture(in *intent, amount int64) {
	c := t.books.charges.byID[in.latestCharge()]
	in.CapturesExecuted++
	t.captured(in, c, amount)
	t.emitCharge("charge.captured", in, c)
	t.emitIntent("payment_intent.succeeded", in)
}
