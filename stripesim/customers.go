package stripesim

import "strings"

// longestText is how long a text of a customer may be, in characters (Stripe's OpenAPI description, /v1/customers).
const longestText = 5000

// readCustomer reads the parameters of a customer, and which of them were sent.
func readCustomer(p *params) (sent customer, has map[string]bool) {
	has = map[string]bool{}
	for name, field := range sent.texts() {
		if value, found := p.text(name); found {
			*field, has[name] = value, true
		}
		if len([]rune(*field)) > longestText {
			p.fail(invalidRequest("", "The value of `"+name+"` is longer than 5000 characters.", name))
		}
	}
	if sent.Email != "" && (!strings.Contains(sent.Email, "@") || strings.ContainsAny(sent.Email, " \t\r\n")) {
		p.fail(invalidRequest("email_invalid", "Invalid email address: "+sent.Email, "email"))
	}
	sent.Metadata = readMetadata(p)
	return sent, has
}

// texts are the texts of a customer by parameter.
func (c *customer) texts() map[string]*string {
	return map[string]*string{"email": &c.Email, "name": &c.Name, "description": &c.Description, "phone": &c.Phone}
}

// prepareCreateCustomer is POST /v1/customers.
func prepareCreateCustomer(c *call, p *params) effect {
	made, _ := readCustomer(p)
	made.Account, made.Livemode, made.Platform = c.who.Account, c.who.Livemode, c.who.platform
	return func(t *transition) (any, *apiError) {
		made.ID, made.Created = "cus_"+randomLetters(14), t.now.Unix()
		t.books.customers.add(&made)
		t.touch(&made)
		t.emit("customer.created", made.about(), renderCustomer(&made), nil)
		return renderCustomer(&made), nil
	}
}

// prepareUpdateCustomer is POST /v1/customers/{id}.
func prepareUpdateCustomer(c *call, p *params) effect {
	members, cleared := p.peek("metadata")
	sent, has := readCustomer(p)
	return func(t *transition) (any, *apiError) {
		found, err := t.customer(c.id, 404, "id")
		if err != nil {
			return nil, err
		}
		before := *found
		holder := intent{Metadata: found.Metadata}
		if cleared {
			holder.Metadata, members = nil, before.Metadata
		} else if err := mergeMetadata(&holder, members); err != nil {
			return nil, err
		}
		previous := map[string]any{}
		if len(members) > 0 {
			previous["metadata"] = previousMembers(before.Metadata, members)
		}
		found.Metadata = copyOf(holder.Metadata)
		was, now := before.texts(), found.texts()
		for name, value := range sent.texts() {
			if has[name] && *value != *was[name] {
				previous[name] = orNil(*was[name])
				*now[name] = *value
			}
		}
		if len(previous) > 0 {
			t.touch(found)
			t.emit("customer.updated", found.about(), renderCustomer(found), previous)
		}
		return renderCustomer(found), nil
	}
}

// prepareDeleteCustomer is DELETE /v1/customers/{id}.
func prepareDeleteCustomer(c *call, _ *params) effect {
	return func(t *transition) (any, *apiError) {
		found, err := t.customer(c.id, 404, "id")
		if err != nil {
			return nil, err
		}
		t.touch(found)
		t.emit("customer.deleted", found.about(), renderCustomer(found), nil)
		found.Deleted = true
		return showCustomer(t.books, found, nil), nil
	}
}

// prepareGetCustomer is GET /v1/customers/{id}.
func prepareGetCustomer(c *call, p *params) effect {
	return lookup(c, p, "customer", "customer", customersOf, showCustomer)
}

// prepareListCustomers is GET /v1/customers.
func prepareListCustomers(_ *call, p *params) effect {
	email, byEmail := p.text("email")
	return listing("/v1/customers", "customer", p, customersOf,
		func(c *customer) bool { return !c.Deleted && (!byEmail || c.Email == email) }, showCustomer)
}

// customer finds a customer of the caller that is not deleted.
func (t *transition) customer(id string, status int, param string) (*customer, *apiError) {
	found, known := t.books.customers.find(t.who.scope, id)
	if !known {
		e := missingIn(t.books.customers, t.who.scope, "customer", id, param)
		e.status = status
		return nil, e
	}
	if found.Deleted {
		return nil, resourceMissing(status, "customer", id, param)
	}
	return found, nil
}

// customerExists refuses an intent's customer that is not there. Empty is no customer.
func (t *transition) customerExists(id string) *apiError {
	if id == "" {
		return nil
	}
	_, err := t.customer(id, 400, "customer")
	return err
}
