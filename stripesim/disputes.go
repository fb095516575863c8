package stripesim

// evidenceDays is how long an account has to answer a dispute. Stripe says 7 to 21 days, by network.
const evidenceDays = 9

// dispute opens a dispute of a charge: as an inquiry without money, with the money withdrawn, or lost at once, which is
// how bank debits are disputed.
func (t *transition) dispute(c *charge, d *dispute) {
	in := t.books.intents.byID[c.Intent]
	t.open(in)
	d.ID, d.Account, d.Livemode, d.Created = newID("dp"), in.Account, in.Livemode, t.now.Unix()
	d.Intent, d.Charge, d.Currency, d.Metadata = in.ID, c.ID, in.Currency, map[string]string{}
	if !d.over() {
		d.DueBy = d.Created + evidenceDays*secondsPerDay
	}
	c.Disputed = true
	in.Disputes = append(in.Disputes, d.ID)
	t.books.disputes.add(d)
	t.touch(d)
	t.touch(c)
	t.touch(in)
	inquiry := d.Status == warningNeedsResponse
	if !inquiry {
		t.withdrawFunds(in, c, d)
	}
	t.emitDispute("created", in, d, nil)
	if !inquiry {
		t.emitDispute("funds_withdrawn", in, d, nil)
	}
	if d.over() {
		t.emitDispute("closed", in, d, nil)
	}
}

// updateDispute gives an open dispute another status; an inquiry that becomes a chargeback takes the money.
func (t *transition) updateDispute(d *dispute, status string, evidence bool) {
	in, c := t.books.intents.byID[d.Intent], t.books.charges.byID[d.Charge]
	t.open(in)
	t.touch(d)
	previous := map[string]any{}
	if status != d.Status {
		previous["status"] = d.Status
		d.Status = status
	}
	if evidence {
		previous["evidence_details"] = map[string]any{"has_evidence": d.Submissions > 0, "submission_count": d.Submissions}
		d.Submissions++
	}
	takes := d.Withdrawn == 0 && (status == needsResponse || status == underReview)
	if takes {
		previous["balance_transactions"] = []any{}
		t.withdrawFunds(in, c, d)
	}
	t.emitDispute("updated", in, d, previous)
	if takes {
		t.emitDispute("funds_withdrawn", in, d, nil)
	}
}

// closeDispute ends a dispute. What was won comes back, with the fee if Stripe returns it; reinstatedFirst says in which
// order that is told.
func (t *transition) closeDispute(d *dispute, status string, returnFee, reinstatedFirst bool) {
	in, c := t.books.intents.byID[d.Intent], t.books.charges.byID[d.Charge]
	t.open(in)
	t.touch(d)
	d.Status = status
	returns := status == won && d.Withdrawn > d.Reinstated
	if returns {
		t.reinstateFunds(in, c, d, returnFee)
	}
	if returns && reinstatedFirst {
		t.emitDispute("funds_reinstated", in, d, nil)
	}
	t.emitDispute("closed", in, d, nil)
	if returns && !reinstatedFirst {
		t.emitDispute("funds_reinstated", in, d, nil)
	}
}

// withdrawFunds takes the disputed money and the fee from the account's balance.
func (t *transition) withdrawFunds(in *intent, c *charge, d *dispute) {
	bt := t.entry(in, adjustment, "dispute", d.ID, -d.Amount)
	bt.Fee, bt.Description = d.Fee, "Chargeback withdrawal for "+c.ID
	t.enter(in, bt)
	t.touch(c)
	c.ChargedBack = true
	d.Withdrawn = d.Amount
	d.Transactions = append(d.Transactions, bt.ID)
	in.Disputed += d.Amount
}

// reinstateFunds gives it back.
func (t *transition) reinstateFunds(in *intent, c *charge, d *dispute, returnFee bool) {
	bt := t.entry(in, adjustment, "dispute_reversal", d.ID, d.Amount)
	bt.Description = "Chargeback reversal for " + c.ID
	if returnFee {
		bt.Fee = -d.Fee
	}
	t.enter(in, bt)
	t.touch(c)
	c.ChargedBack = false
	d.Reinstated = d.Amount
	d.Transactions = append(d.Transactions, bt.ID)
	in.Reinstated += d.Amount
}

func (t *transition) emitDispute(what string, in *intent, d *dispute, previous map[string]any) {
	t.emit("charge.dispute."+what, in.about(), t.books.renderDispute(d, nil), previous)
}
