package stripesim

func refundsOf(b *books) *table[*refund] { return b.refunds }

func showRefund(b *books, r *refund, e expansion) any { return b.renderRefund(r, e) }

func prepareGetRefund(c *call, p *params) effect {
	return lookup(c, p, "refund", "refund", refundsOf, showRefund)
}

// prepareListRefunds is GET /v1/refunds. With payment_intent or charge only that intent's refunds are looked at.
func prepareListRefunds(c *call, p *params) effect {
	intentID, ofIntent := p.text("payment_intent")
	chargeID, ofCharge := p.text("charge")
	keep := func(r *refund) bool {
		return (!ofIntent || r.Intent == intentID) && (!ofCharge || r.Charge == chargeID)
	}
	return listing("/v1/refunds", "refund", p, ofOneIntent(c, intentID, chargeID, refundsOf, func(in *intent) []string { return in.Refunds }), keep, showRefund)
}

// ofOneIntent narrows a table to the rows of one intent, where a list asks for those of an intent or a charge.
func ofOneIntent[T record](c *call, intentID, chargeID string, from func(*books) *table[T], own func(*intent) []string) func(*books) *table[T] {
	if intentID == "" && chargeID == "" {
		return from
	}
	return func(b *books) *table[T] {
		id := intentID
		if ch, found := b.charges.find(c.who.scope, chargeID); found && id == "" {
			id = ch.Intent
		}
		few := newTable[T](from(b).bucket)
		if in, found := b.intents.find(c.who.scope, id); found {
			for _, row := range own(in) {
				few.file(from(b).byID[row])
			}
		}
		return few
	}
}

// prepareUpdateRefund is POST /v1/refunds/{id}: metadata.
func prepareUpdateRefund(c *call, p *params) effect {
	members, cleared := p.object("metadata")
	readMetadata(p)
	expand := readExpand(p, "refund", false)
	return func(t *transition) (any, *apiError) {
		r, found := t.books.refunds.find(t.who.scope, c.id)
		if !found {
			return nil, missingIn(t.books.refunds, t.who.scope, "refund", c.id, "id")
		}
		before := r.Metadata
		holder := intent{Metadata: before}
		if cleared {
			holder.Metadata, members = map[string]string{}, before
		} else if err := mergeMetadata(&holder, members); err != nil {
			return nil, err
		}
		if len(members) > 0 {
			t.touch(r)
			r.Metadata = holder.Metadata
			t.emitUpdatedRefund(t.books.intents.byID[r.Intent], r, map[string]any{"metadata": previousMembers(before, members)})
		}
		return t.books.renderRefund(r, expand), nil
	}
}

// prepareCancelRefund is POST /v1/refunds/{id}/cancel: only of one that waits for the payer.
func prepareCancelRefund(c *call, p *params) effect {
	expand := readExpand(p, "refund", false)
	return func(t *transition) (any, *apiError) {
		r, found := t.books.refunds.find(t.who.scope, c.id)
		if !found {
			return nil, missingIn(t.books.refunds, t.who.scope, "refund", c.id, "refund")
		}
		if r.Status != requiresAction {
			return nil, refusal("", "You cannot cancel this refund because it has a status of "+r.Status+
				". Only a refund with the status requires_action may be canceled.", "")
		}
		t.settleRefund(r, canceled, "")
		return t.books.renderRefund(r, expand), nil
	}
}
