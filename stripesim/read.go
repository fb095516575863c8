package stripesim

import "path"

// lookup finds an object by id.
func lookup[T record](c *call, p *params, kind, noun string, from func(*books) *table[T], show func(*books, T, expansion) any) effect {
	expand := readExpand(p, kind, false)
	return func(t *transition) (any, *apiError) {
		row, found := from(t.books).find(t.who.scope, c.id)
		if !found {
			return nil, missingIn(from(t.books), t.who.scope, noun, c.id, "id")
		}
		return show(t.books, row, expand), nil
	}
}

type wireList struct {
	Object  string `json:"object"`
	Data    []any  `json:"data"`
	HasMore bool   `json:"has_more"`
	URL     string `json:"url"`
}

// listing pages through the objects of the caller, newest first.
func listing[T record](url, kind string, p *params, from func(*books) *table[T], keep func(T) bool, show func(*books, T, expansion) any) effect {
	q := readListQuery(p)
	expand := readExpand(p, kind, true)
	return func(t *transition) (any, *apiError) {
		rows, more, err := from(t.books).page(t.who.scope, q, keep)
		if err != nil {
			return nil, err
		}
		answer := wireList{Object: "list", Data: make([]any, 0, len(rows)), HasMore: more, URL: url}
		for _, row := range rows {
			answer.Data = append(answer.Data, show(t.books, row, expand))
		}
		return answer, nil
	}
}

func intentsOf(b *books) *table[*intent]                  { return b.intents }
func chargesOf(b *books) *table[*charge]                  { return b.charges }
func transactionsOf(b *books) *table[*balanceTransaction] { return b.transactions }
func customersOf(b *books) *table[*customer]              { return b.customers }
func eventsOf(b *books) *table[*event]                    { return b.events }

func showIntent(b *books, in *intent, e expansion) any { return b.renderIntent(in, e) }
func showCharge(b *books, c *charge, e expansion) any  { return b.renderCharge(c, e) }
func showTransaction(b *books, t *balanceTransaction, e expansion) any {
	return b.renderBalanceTransaction(t, e)
}

func prepareGetIntent(c *call, p *params) effect {
	p.text("client_secret")
	return lookup(c, p, "payment_intent", "payment_intent", intentsOf, showIntent)
}

func prepareListIntents(_ *call, p *params) effect {
	customer, _ := p.text("customer")
	return listing("/v1/payment_intents", "payment_intent", p, intentsOf,
		func(in *intent) bool { return customer == "" || in.Customer == customer }, showIntent)
}

func prepareGetCharge(c *call, p *params) effect {
	return lookup(c, p, "charge", "charge", chargesOf, showCharge)
}

// prepareListCharges is GET /v1/charges. With payment_intent only that intent's charges are looked at.
func prepareListCharges(c *call, p *params) effect {
	customer, _ := p.text("customer")
	intentID, ofIntent := p.text("payment_intent")
	keep := func(ch *charge) bool {
		return (customer == "" || ch.Customer == customer) && (!ofIntent || ch.Intent == intentID)
	}
	if !ofIntent {
		return listing("/v1/charges", "charge", p, chargesOf, keep, showCharge)
	}
	return listing("/v1/charges", "charge", p, func(b *books) *table[*charge] {
		own := newTable[*charge](b.charges.bucket)
		if in, found := b.intents.find(c.who.scope, intentID); found {
			for _, id := range in.Charges {
				own.file(b.charges.byID[id])
			}
		}
		return own
	}, keep, showCharge)
}

func prepareGetTransaction(c *call, p *params) effect {
	return lookup(c, p, "balance_transaction", "balance_transaction", transactionsOf, showTransaction)
}

// prepareListTransactions is GET /v1/balance_transactions. With source only those of that object are looked at.
func prepareListTransactions(c *call, p *params) effect {
	source, ofSource := p.text("source")
	kind, _ := p.text("type")
	currency, _ := p.text("currency")
	payout, ofPayout := p.text("payout")
	keep := func(t *balanceTransaction) bool {
		return (!ofSource || t.Source == source) && (kind == "" || t.Kind == kind) && (currency == "" || t.Currency == currency) &&
			(!ofPayout || t.Payout == payout)
	}
	from := transactionsOf
	if ofSource {
		from = func(b *books) *table[*balanceTransaction] {
			own := newTable[*balanceTransaction](b.transactions.bucket)
			for _, id := range b.movedBy(c.who.scope, source) {
				own.file(b.transactions.byID[id])
			}
			return own
		}
	}
	return listing("/v1/balance_transactions", "balance_transaction", p, from, keep, showTransaction)
}

// movedBy names the balance transactions whose source an object is, oldest first.
func (b *books) movedBy(s scope, source string) []string {
	if c, found := b.charges.find(s, source); found {
		return c.Transactions
	}
	if d, found := b.disputes.find(s, source); found {
		return d.Transactions
	}
	var ids []string
	if r, found := b.refunds.find(s, source); found {
		for _, id := range []string{r.BalanceTransaction, r.FailureBalanceTransaction} {
			if id != "" {
				ids = append(ids, id)
			}
		}
	}
	if p, found := b.payouts.find(s, source); found {
		ids = append(ids, p.BalanceTransaction)
		if p.FailureBalanceTransaction != "" {
			ids = append(ids, p.FailureBalanceTransaction)
		}
	}
	return ids
}

func (tw *Twin) prepareGetEvent(c *call, p *params) effect {
	return lookup(c, p, "event", "event", eventsOf, tw.showEvent)
}

const (
	eventDays     = 30 // List Events goes back so many days (Stripe docs, List all events)
	secondsPerDay = 24 * 60 * 60
	mostTypes     = 20
)

// prepareListEvents is GET /v1/events.
func (tw *Twin) prepareListEvents(c *call, p *params) effect {
	kinds := p.array("types")
	if kind, found := p.text("type"); found {
		if len(kinds) > 0 {
			p.fail(invalidRequest("", "You may only specify one of these parameters: type, types.", ""))
		}
		kinds = append(kinds, kind)
	}
	if len(kinds) > mostTypes {
		p.fail(invalidRequest("", "You may specify up to 20 types.", "types"))
	}
	success, bySuccess := p.text("delivery_success")
	oldest := c.now.Unix() - eventDays*secondsPerDay
	return listing("/v1/events", "event", p, eventsOf, func(e *event) bool {
		return e.Created >= oldest && ofKind(e.Type, kinds) &&
			(!bySuccess || tw.deliveries.succeeded(e.ID) == (success == "true"))
	}, tw.showEvent)
}

func (tw *Twin) showEvent(_ *books, e *event, _ expansion) any {
	return renderEvent(e, tw.deliveries.pending(e.ID))
}

// ofKind says whether kind is one of the globs; no globs mean any.
func ofKind(kind string, globs []string) bool {
	if len(globs) == 0 {
		return true
	}
	for _, glob := range globs {
		if matches(glob, kind) {
			return true
		}
	}
	return false
}

// matches says whether text is glob, in which * is any run of letters within a path segment.
func matches(glob, text string) bool {
	ok, err := path.Match(glob, text)
	return err == nil && ok
}
