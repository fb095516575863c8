package stripesim

// prepareConfirm is POST /v1/payment_intents/{id}/confirm.
func prepareConfirm(c *call, p *params) effect {
	token, _ := p.text("payment_method")
	offSession := readOffSession(p)
	failOnAction := p.boolean("error_on_requires_action")
	returnURL := readReturnURL(p)
	email, hasEmail := p.text("receipt_email")
	usage := p.oneOf("setup_future_usage", "on_session", "off_session")
	asked := &intent{}
	readMulticapture(p, asked)
	p.boolean("use_stripe_sdk")
	expand := readExpand(p, "payment_intent", false)
	return func(t *transition) (any, *apiError) {
		in, err := t.intent(c.id)
		if err != nil {
			return nil, err
		}
		if err := t.confirmable(in); err != nil {
			return nil, err
		}
		m, err := t.method(token, in)
		if err != nil {
			return nil, err
		}
		if m, err = t.chosen(in, m); err != nil {
			return nil, err
		}
		in.OffSession, in.ReturnURL = offSession, returnURL
		if hasEmail {
			in.ReceiptEmail = email
		}
		if usage != "" {
			in.SetupFutureUsage = usage
		}
		in.Multicapture = orDefault(asked.Multicapture, in.Multicapture)
		if err := t.confirm(in, m, failOnAction); err != nil {
			return nil, err
		}
		return t.books.renderIntent(in, expand), nil
	}
}

// confirmable refuses an intent that is over or on its way.
func (t *transition) confirmable(in *intent) *apiError {
	switch in.Status {
	case succeeded:
		return t.unexpectedState(in, "You cannot confirm this PaymentIntent because it has already succeeded after being previously confirmed.")
	case canceled, processing, requiresCapture:
		return t.unexpectedState(in, "This PaymentIntent's status is "+in.Status+
			", so it cannot be confirmed. Only a PaymentIntent with one of the following statuses may be confirmed: "+
			"requires_payment_method, requires_confirmation, requires_action.")
	}
	return nil
}

// chosen returns m, or the payment method that the intent already has.
func (t *transition) chosen(in *intent, m *method) (*method, *apiError) {
	if m == nil {
		m = t.books.methods.byID[in.PaymentMethod]
	}
	if m == nil {
		return nil, t.unexpectedState(in, "You cannot confirm this PaymentIntent because it's missing a payment method. You can either update "+
			"the PaymentIntent with a payment method and then confirm it again, or confirm it again directly with a payment method or ConfirmationToken.")
	}
	return m, nil
}

// confirm begins an attempt with the chosen payment method.
func (t *transition) confirm(in *intent, m *method, failOnAction bool) *apiError {
	if m.ID != in.PaymentMethod {
		in.Authenticated = false
	}
	in.ConfirmsExecuted++
	if failOnAction && m.test().Behaviour == challenges {
		t.touch(in)
		return t.decline(in, m, m.test().Decline)
	}
	return t.attempt(in, m)
}

// method finds the payment method that a parameter names, or makes one of a test payment method. An empty token is
// no payment method.
func (t *transition) method(token string, in *intent) (*method, *apiError) {
	if token == "" {
		return nil, nil
	}
	m, found := t.books.methods.find(t.who.scope, token)
	test, known := findTestMethod(token)
	switch {
	case found:
		test = m.test()
	case !known:
		return nil, resourceMissing(400, "PaymentMethod", token, "payment_method")
	}
	if !allowed(in.PaymentMethodTypes, test.Kind) {
		return nil, refusal("payment_intent_incompatible_payment_method", "The PaymentMethod provided ("+test.Kind+
			") is not allowed for this PaymentIntent. Please attach a PaymentMethod of one of the following types: "+
			oxford(in.PaymentMethodTypes)+".", "payment_method")
	}
	if found {
		return m, nil
	}
	m = &method{ID: newID("pm"), Account: t.who.Account, Livemode: t.who.Livemode, Created: t.now.Unix(), Token: token}
	t.books.methods.add(m)
	t.touch(m)
	return m, nil
}

func allowed(kinds []string, kind string) bool {
	for _, one := range kinds {
		if one == kind {
			return true
		}
	}
	return false
}
