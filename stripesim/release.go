package stripesim

// Before API version 2025-03-31 Stripe writes what a partial capture or a cancellation gives back of a hold as a Refund
// too. A partial capture then has two balance transactions: of all that was held, and of what was not captured (Stripe's
// changelog, "Partially capturing or canceling payments no longer creates a Refund"). An account does so when it is told
// to.

func (b *books) releasesAsRefunds(in *intent) bool {
	a := b.accounts.byID[in.Account]
	return a != nil && a.ReleasesAsRefunds
}

// bookedFor is the amount of a capture's balance transaction.
func (b *books) bookedFor(in *intent, c *charge, amount int64) int64 {
	if b.releasesAsRefunds(in) && c.CaptureBefore != 0 && !c.Multicapture {
		return c.Amount
	}
	return amount
}

// release writes as a refund what was given back of a hold, where the account does so.
func (t *transition) release(in *intent, c *charge, reason string) {
	if !t.books.releasesAsRefunds(in) || c.Released == 0 {
		return
	}
	r := &refund{ID: newID("re"), Account: in.Account, Livemode: in.Livemode, Created: t.now.Unix(), Intent: in.ID, Charge: c.ID, Amount: c.Released,
		Currency: in.Currency, Status: succeeded, Reason: reason, Metadata: map[string]string{}, Released: true}
	t.books.refunds.add(r)
	t.touch(r)
	t.touch(in)
	in.Refunds = append(in.Refunds, r.ID)
	t.bookReleased(in, c)
	t.emitRefund("refund.created", in, r, nil)
	t.emitRefund("charge.refund.updated", in, r, map[string]any{})
}

// bookReleased books what was held and not captured, once the capture's own balance transaction is there.
func (t *transition) bookReleased(in *intent, c *charge) {
	for _, id := range in.Refunds {
		r := t.books.refunds.byID[id]
		if !r.Released || r.Charge != c.ID || r.BalanceTransaction != "" || c.BalanceTransaction == "" || c.Multicapture {
			continue
		}
		bt := t.entry(in, "refund", "partial_capture_reversal", r.ID, -r.Amount)
		bt.Fee = feeOf(bt.Rate.convert(c.AmountCaptured)) - feeOf(bt.Rate.convert(c.Amount))
		bt.Description = "REFUND FOR CHARGE"
		t.enter(in, bt)
		t.touch(r)
		r.BalanceTransaction = bt.ID
	}
}
