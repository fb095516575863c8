package stripesim

import "strings"

// prepareCreate is POST /v1/payment_intents.
func prepareCreate(c *call, p *params) effect {
	in := readNewIntent(p)
	in.Account, in.Livemode, in.Platform = c.who.Account, c.who.Livemode, c.who.platform
	token, _ := p.text("payment_method")
	confirm := p.boolean("confirm")
	in.OffSession = readOffSession(p)
	failOnAction := p.boolean("error_on_requires_action")
	in.ReturnURL = readReturnURL(p)
	p.boolean("use_stripe_sdk")
	expand := readExpand(p, "payment_intent", false)
	if !confirm {
		for _, name := range []string{"off_session", "error_on_requires_action", "return_url"} {
			if p.has(name) {
				p.fail(invalidRequest("", "You can only set `"+name+"` when `confirm` is true.", name))
			}
		}
	}
	return func(t *transition) (any, *apiError) {
		if err := t.permissible(in, true); err != nil {
			return nil, err
		}
		m, err := t.method(token, in)
		if err != nil {
			return nil, err
		}
		in.ID = newID("pi")
		in.ClientSecret = in.ID + "_secret_" + randomLetters(25)
		in.Created, in.Status = t.now.Unix(), requiresPaymentMethod
		if m != nil {
			in.PaymentMethod, in.Status = m.ID, requiresConfirmation
		}
		t.books.intents.add(in)
		t.touch(in)
		t.emitIntent("payment_intent.created", in)
		if confirm {
			if m, err = t.chosen(in, m); err != nil {
				return nil, err
			}
			if err := t.confirm(in, m, failOnAction); err != nil {
				return nil, err
			}
		}
		return t.books.renderIntent(in, expand), nil
	}
}

// permissible refuses an intent whose amount, kinds of payment methods or, when it is new, customer cannot be.
func (t *transition) permissible(in *intent, newCustomer bool) *apiError {
	if err := checkLimits(in.Amount, in.Currency); err != nil {
		return err
	}
	if err := checkTypes(in.PaymentMethodTypes, in.Currency); err != nil {
		return err
	}
	if !newCustomer {
		return nil
	}
	return t.customerExists(in.Customer)
}

// readNewIntent reads the parameters that describe an intent.
func readNewIntent(p *params) *intent {
	in := &intent{CaptureMethod: "automatic", ConfirmationMethod: "automatic"}
	p.required("amount")
	in.Currency = strings.ToLower(p.required("currency"))
	if in.Currency != "" {
		readCurrency(p, in.Currency)
	}
	if amount := p.integer("amount"); amount != nil {
		in.Amount = *amount
		readAmount(p, in.Amount, in.Currency, "amount")
	}
	if method := p.oneOf("capture_method", "automatic", "automatic_async", "manual"); method != "" {
		in.CaptureMethod = method
	}
	if method := p.oneOf("confirmation_method", "automatic", "manual"); method != "" {
		in.ConfirmationMethod = method
	}
	readDetails(p, in)
	in.Metadata = readMetadata(p)
	readMethodTypes(p, in)
	readTransfer(p, in)
	readMulticapture(p, in)
	return in
}

// readDetails reads the texts that do not change what happens.
func readDetails(p *params, in *intent) {
	for name, field := range map[string]*string{
		"customer": &in.Customer, "description": &in.Description, "receipt_email": &in.ReceiptEmail,
		"statement_descriptor": &in.StatementDescriptor, "statement_descriptor_suffix": &in.StatementDescriptorSuffix,
		"transfer_group": &in.TransferGroup, "on_behalf_of": &in.OnBehalfOf,
	} {
		if value, found := p.text(name); found {
			*field = value
		}
	}
	for _, descriptor := range []string{in.StatementDescriptor, in.StatementDescriptorSuffix} {
		if len(descriptor) > 22 || strings.ContainsAny(descriptor, `<>\'"*`) {
			p.fail(invalidRequest("", "The statement descriptor must be at most 22 characters and may not contain <, >, \\, ', \" or *.", "statement_descriptor"))
		}
	}
	if usage := p.oneOf("setup_future_usage", "on_session", "off_session"); usage != "" {
		in.SetupFutureUsage = usage
	}
}

func readMethodTypes(p *params, in *intent) {
	in.PaymentMethodTypes = p.array("payment_method_types")
	automatic := p.boolean("automatic_payment_methods[enabled]")
	in.AllowRedirects = p.oneOf("automatic_payment_methods[allow_redirects]", "always", "never")
	if automatic && len(in.PaymentMethodTypes) > 0 {
		p.fail(invalidRequest("", "You may only specify one of these parameters: automatic_payment_methods, payment_method_types.", ""))
	}
	for _, kind := range in.PaymentMethodTypes {
		if kind != card && kind != usBankAccount && kind != sepaDebit && kind != becsDebit {
			p.fail(invalidRequest("payment_intent_invalid_parameter", "The payment method type provided: "+kind+" is invalid.", "payment_method_types"))
		}
	}
	if len(in.PaymentMethodTypes) == 0 {
		in.Automatic, in.PaymentMethodTypes = true, automaticTypes(in.Currency) // the default since API version 2023-08-16
	}
}

func readTransfer(p *params, in *intent) {
	in.TransferDestination, _ = p.text("transfer_data[destination]")
	in.TransferAmount = p.integer("transfer_data[amount]")
	in.ApplicationFee = p.integer("application_fee_amount")
	if in.ApplicationFee != nil && (*in.ApplicationFee < 0 || *in.ApplicationFee > in.Amount) {
		p.fail(invalidRequest("", "The application fee amount must be between 0 and the amount.", "application_fee_amount"))
	}
	if in.TransferAmount != nil && in.TransferDestination == "" {
		p.fail(missingParam("transfer_data[destination]"))
	}
}

// readOffSession reads off_session, which is a boolean or a word.
func readOffSession(p *params) bool {
	value, _ := p.text("off_session")
	switch value {
	case "", "false":
		return false
	case "true", "one_off", "recurring":
		return true
	}
	p.fail(invalidRequest("", "Invalid off_session: "+value, "off_session"))
	return false
}

// Limits of metadata (Stripe docs, Metadata).
const (
	metadataKeys   = 50
	metadataName   = 40
	metadataLength = 500
)

// readMetadata returns the metadata that a request sends for a new object; an empty value is none.
func readMetadata(p *params) map[string]string {
	sent, _ := p.object("metadata")
	after := map[string]string{}
	for name, value := range sent {
		switch {
		case name == "" || strings.ContainsAny(name, "[]"):
			p.fail(invalidRequest("", "Invalid metadata key: `"+name+"`.", "metadata"))
		case len([]rune(name)) > metadataName:
			p.fail(invalidRequest("", "Metadata key names can be up to 40 characters: `"+name+"` is longer.", "metadata"))
		case len([]rune(value)) > metadataLength:
			p.fail(invalidRequest("", "Metadata values can be up to 500 characters; the value of `"+name+"` is longer.", "metadata["+name+"]"))
		case value == "":
		default:
			after[name] = value
		}
	}
	if len(after) > metadataKeys {
		p.fail(tooMuchMetadata())
	}
	return after
}

func tooMuchMetadata() *apiError {
	return invalidRequest("", "Metadata can have up to 50 keys.", "metadata")
}
