package doctor

import (
	"payonce/payments"
	"payonce/stripesim/control"
)

// bound: a bound intent is the payment's own, for its amount.
func (e *examiner) bound(c *Check, p paymentRow, book control.Book) {
	c.Examined++
	if named := book.Metadata[payments.MetadataPayment]; named != p.ID.String() {
		c.violate(p.String(), "a person must say whose intent this is", "is bound to intent %s, which names payment %q", book.ID, named)
	}
	if book.Amount != p.Amount || book.Currency != p.Currency {
		c.violate(p.String(), "a person must say whose intent this is", "is for %d %s, and its intent %s for %d %s",
			p.Amount, p.Currency, book.ID, book.Amount, book.Currency)
	}
}

// unbound: an intent that names our payment and is not bound to it was never confirmed by us and is canceled; its money is in suspense and its
// payment marked. made tells that our own create made it.
func (e *examiner) unbound(c *Check, p paymentRow, book control.Book, made bool) {
	c.Examined++
	if made && book.ConfirmsExecuted > 0 {
		c.violate(p.String(), "the payer may have been charged twice: refund what the surplus intent took", "had its surplus intent %s confirmed by us (captured %d)",
			book.ID, book.Captured)
		return
	}
	adoptable := p.Intent == "" && !p.Status.Terminal()
	switch {
	case book.Captured > 0:
		if !p.Review && e.mustBeDone(book.Created) {
			c.violate(p.String(), "redeliver the events of the intent, then settle the review",
				"is not marked for review, and intent %s, which it is not bound to, took %d %s", book.ID, book.Captured, book.Currency)
		}
	case !made || book.Canceled:
	case adoptable && e.mustBeDone(book.Created):
		c.violate(p.String(), "is the worker running? It looks for the intent and binds it", "has the intent %s at Stripe and has not adopted it", book.ID)
	case !adoptable && e.mustBeDone(book.Created):
		c.violate(p.String(), "redeliver payment_intent.created of the surplus intent: it is then canceled",
			"has a surplus intent %s that is %s: whoever holds its secret can pay it", book.ID, book.Status)
	}
}

// effects: what Stripe executed for a payment is not more than what we asked for.
func (e *examiner) effects(c *Check, p paymentRow, book control.Book) {
	c.Examined++
	const next = "compare payonce.provider_calls of the payment with the twin's log of requests"
	lost := e.outlived(book.Created)
	if book.ConfirmsExecuted > p.Confirms && !lost {
		c.violate(p.String(), next, "had %d confirms executed at Stripe for %d confirm attempts", book.ConfirmsExecuted, p.Confirms)
	}
	if book.CapturesExecuted > p.Captures && !lost {
		c.violate(p.String(), next, "had %d captures executed at Stripe for %d captures", book.CapturesExecuted, p.Captures)
	}
	if book.ChargesSucceeded > 1 {
		c.violate(p.String(), "refund what was taken twice", "was charged %d times", book.ChargesSucceeded)
	}
	if book.Captured > book.Amount {
		c.violate(p.String(), "refund what was taken beyond the amount", "took %d of %d %s", book.Captured, book.Amount, book.Currency)
	}
}
