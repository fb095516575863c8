package stripesim

// prepareUpdate is POST /v1/payment_intents/{id}. It causes no event.
func prepareUpdate(c *call, p *params) effect {
	amount := p.integer("amount")
	currency, hasCurrency := p.text("currency")
	if hasCurrency {
		currency = readCurrency(p, currency)
	}
	if amount != nil {
		readAmount(p, *amount, currency, "amount")
	}
	token, hasMethod := p.text("payment_method")
	members, cleared := p.object("metadata")
	read := *p // the details are read again into the intent, when it is found
	readDetails(p, &intent{})
	readMetadata(p)
	expand := readExpand(p, "payment_intent", false)
	return func(t *transition) (any, *apiError) {
		in, err := t.intent(c.id)
		if err != nil {
			return nil, err
		}
		if amount != nil || hasCurrency || hasMethod {
			if !in.in(requiresPaymentMethod, requiresConfirmation, requiresAction) {
				return nil, t.unexpectedState(in, "This PaymentIntent's amount, currency and payment_method could not be updated because "+
					"it has a status of "+in.Status+". You may only update them on a PaymentIntent with one of the following statuses: "+
					"requires_payment_method, requires_confirmation, requires_action.")
			}
		}
		after := *in
		after.Metadata = copyOf(in.Metadata)
		if cleared {
			after.Metadata = map[string]string{}
		}
		if err := mergeMetadata(&after, members); err != nil {
			return nil, err
		}
		readDetails(&read, &after)
		if amount != nil {
			after.Amount = *amount
		}
		if hasCurrency {
			after.Currency = currency
			if after.Automatic {
				after.PaymentMethodTypes = automaticTypes(currency)
			}
		}
		if err := t.permissible(&after, after.Customer != in.Customer); err != nil {
			return nil, err
		}
		m, err := t.method(token, &after)
		if err != nil {
			return nil, err
		}
		if m != nil {
			after.PaymentMethod, after.Status, after.NextAction, after.Authenticated = m.ID, requiresConfirmation, "", false
		}
		*in = after
		t.touch(in)
		return t.books.renderIntent(in, expand), nil
	}
}

// mergeMetadata merges the members that a request sent; an empty value unsets.
func mergeMetadata(in *intent, members map[string]string) *apiError {
	after := copyOf(in.Metadata)
	for name, value := range members {
		if value == "" {
			delete(after, name)
			continue
		}
		after[name] = value
	}
	if len(after) > metadataKeys {
		return tooMuchMetadata()
	}
	in.Metadata = after
	return nil
}

// previousMembers is what previous_attributes says of the metadata that a request sent: null where there was nothing.
func previousMembers(before, sent map[string]string) map[string]any {
	old := map[string]any{}
	for name := range sent {
		old[name] = nil
		if value, had := before[name]; had {
			old[name] = value
		}
	}
	return old
}

// prepareUpdateCharge is POST /v1/charges/{id}: description, receipt_email and metadata. It causes charge.updated.
func prepareUpdateCharge(c *call, p *params) effect {
	description, hasDescription := p.text("description")
	email, hasEmail := p.text("receipt_email")
	members, _ := p.object("metadata")
	readMetadata(p)
	expand := readExpand(p, "charge", false)
	return func(t *transition) (any, *apiError) {
		ch, found := t.books.charges.find(t.who.scope, c.id)
		if !found {
			return nil, resourceMissing(404, "charge", c.id, "id")
		}
		previous := map[string]any{}
		holder := intent{Metadata: ch.Metadata}
		if err := mergeMetadata(&holder, members); err != nil {
			return nil, err
		}
		if len(members) > 0 {
			previous["metadata"] = previousMembers(ch.Metadata, members)
			ch.Metadata = holder.Metadata
		}
		if hasDescription && description != ch.Description {
			previous["description"] = orNil(ch.Description)
			ch.Description = description
		}
		if hasEmail && email != ch.ReceiptEmail {
			previous["receipt_email"] = orNil(ch.ReceiptEmail)
			ch.ReceiptEmail = email
		}
		if len(previous) > 0 {
			t.touch(ch)
			in := t.books.intents.byID[ch.Intent]
			t.emit("charge.updated", in.about(), t.books.renderCharge(ch, expansion{}), previous)
		}
		return t.books.renderCharge(ch, expand), nil
	}
}
