package stripesim

import (
	"time"
)

// How long an authorisation holds (Stripe docs, Place a hold): seven days when the customer was there, four days and
// eighteen hours for a Visa charged by the merchant alone.
const (
	holdAttended   = 7 * 24 * time.Hour
	holdUnattended = 4*24*time.Hour + 18*time.Hour
)

// attempt charges the intent's payment method once. The error is a decline: the attempt has been made.
func (t *transition) attempt(in *intent, m *method) *apiError {
	t.touch(in)
	in.LastError, in.NextAction, in.PaymentMethod = nil, "", m.ID
	test := m.test()
	switch test.Behaviour {
	case declines:
		return t.decline(in, m, test.Decline)
	case challenges:
		if in.Authenticated {
			in.Authenticated = false
			if test.After != nil {
				return t.decline(in, m, *test.After)
			}
			t.pay(in, m)
			return nil
		}
		if in.OffSession {
			return t.decline(in, m, test.Decline)
		}
		t.challenge(in)
	case settles, bounces, stays:
		t.process(in, m)
	default:
		t.pay(in, m)
	}
	return nil
}

// pay charges a card with success: captured at once, or held.
func (t *transition) pay(in *intent, m *method) {
	c := t.charge(in, m)
	c.Status, c.Paid = "succeeded", true
	in.ChargesSucceeded++
	if in.CaptureMethod == "manual" {
		hold := holdAttended
		if in.OffSession && m.test().Brand == "visa" {
			hold = holdUnattended
		}
		c.CaptureBefore, c.Multicapture = t.now.Add(hold).Unix(), in.Multicapture == "if_available"
		in.Status, in.AmountCapturable = requiresCapture, in.Amount
		in.due(t.now.Add(hold), dueExpire)
		t.books.plan(in)
		t.emitCharge("charge.succeeded", in, c)
		t.emitIntent("payment_intent.amount_capturable_updated", in)
		return
	}
	t.captured(in, c, in.Amount, false)
	t.emitCharge("charge.succeeded", in, c)
	t.emitIntent("payment_intent.succeeded", in)
}

// captured books money of a charge; keep leaves what is left of the hold for another capture.
func (t *transition) captured(in *intent, c *charge, amount int64, keep bool) {
	t.touch(c)
	t.touch(in)
	c.Captured, c.AmountCaptured, c.Captures = true, c.AmountCaptured+amount, c.Captures+1
	in.AmountReceived, in.AmountCapturable = in.AmountReceived+amount, in.AmountCapturable-amount
	in.Captured += amount
	t.bookCapture(in, c, amount)
	if !keep {
		t.finish(in, c)
	}
}

// finish ends a payment with success; what is left of a hold is given back.
func (t *transition) finish(in *intent, c *charge) {
	t.touch(c)
	t.touch(in)
	c.Released = c.Amount - c.AmountCaptured
	c.giveBack()
	in.Status, in.AmountCapturable = succeeded, 0
	in.notDue()
}

// decline records a failed charge and sends the intent back for another payment method.
func (t *transition) decline(in *intent, m *method, d decline) *apiError {
	c := t.charge(in, m)
	return t.fail(in, c, m, d)
}

// fail ends a charge without money.
func (t *transition) fail(in *intent, c *charge, m *method, d decline) *apiError {
	t.touch(c)
	t.touch(in)
	c.Status, c.Paid, c.Captured, c.AmountCaptured, c.Failure = "failed", false, false, 0, &d
	in.ChargesFailed++
	in.notDue()
	in.LastError = newError(402, typeCard, d.Code, d.Message, "")
	in.LastError.Charge, in.LastError.DeclineCode = c.ID, d.DeclineCode
	in.LastError.PaymentMethod = encode(renderMethod(m))
	in.Status, in.PaymentMethod, in.NextAction = requiresPaymentMethod, "", ""
	t.emitCharge("charge.failed", in, c)
	t.emitIntent("payment_intent.payment_failed", in)
	refused := *in.LastError
	refused.PaymentIntent = encode(t.books.renderIntent(in, nil))
	return &refused
}

// challenge asks the payer to authenticate. No charge exists yet. A page of an earlier attempt is stale from here on.
func (t *transition) challenge(in *intent) {
	in.Status, in.NextAction = requiresAction, "use_stripe_sdk"
	if in.ReturnURL != "" {
		in.NextAction = "redirect_to_url"
	}
	in.Challenge = randomLetters(24)
	in.ChallengeURL = t.who.base + "/challenge/" + in.ID + "/" + in.Challenge
	t.emitIntent("payment_intent.requires_action", in)
}

// authenticated ends a challenge well. With manual confirmation the server has to confirm once more.
func (t *transition) authenticated(in *intent) {
	t.touch(in)
	in.NextAction = ""
	if in.ConfirmationMethod == "manual" {
		in.Authenticated, in.Status = true, requiresConfirmation
		return
	}
	m := t.books.methods.byID[in.PaymentMethod]
	if after := m.test().After; after != nil {
		_ = t.decline(in, m, *after) // the refusal is on the intent
		return
	}
	t.pay(in, m)
}

// unauthenticated ends a challenge badly. There is no charge.
func (t *transition) unauthenticated(in *intent) {
	t.touch(in)
	m := t.books.methods.byID[in.PaymentMethod]
	in.LastError = newError(402, typeInvalidRequest, "payment_intent_authentication_failure",
		"The provided PaymentMethod has failed authentication. You can provide payment_method_data or a new PaymentMethod "+
			"to attempt to fulfill this PaymentIntent again.", "")
	in.LastError.PaymentMethod = encode(renderMethod(m))
	in.Status, in.PaymentMethod, in.NextAction = requiresPaymentMethod, "", ""
	t.emitIntent("payment_intent.payment_failed", in)
}

// charge opens a charge of the intent.
func (t *transition) charge(in *intent, m *method) *charge {
	c := &charge{ID: newID("ch"), Account: in.Account, Livemode: in.Livemode, Created: t.now.Unix(), Intent: in.ID,
		Amount: in.Amount, Currency: in.Currency, Customer: in.Customer, Description: in.Description, ReceiptEmail: in.ReceiptEmail,
		StatementDescriptor: in.StatementDescriptor, StatementDescriptorSuffix: in.StatementDescriptorSuffix,
		TransferDestination: in.TransferDestination, TransferGroup: in.TransferGroup, TransferAmount: in.TransferAmount,
		ApplicationFee: in.ApplicationFee, Metadata: copyOf(in.Metadata), PaymentMethod: m.ID}
	if m.test().Kind != card {
		c.ID = newID("py")
	}
	in.Charges = append(in.Charges, c.ID)
	t.books.charges.add(c)
	t.touch(c)
	return c
}

func copyOf(m map[string]string) map[string]string {
	c := make(map[string]string, len(m))
	for name, value := range m {
		c[name] = value
	}
	return c
}
