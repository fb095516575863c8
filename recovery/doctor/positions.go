package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"payonce/payments"
	"payonce/stripesim/control"
)

// net is what Stripe holds for us of an intent, before its fees.
func net(book control.Book) int64 {
	return book.Captured - book.Refunded - book.Disputed + book.Reinstated
}

// position: a payment's ledger position is what Stripe's books say.
func (e *examiner) position(c *Check, p paymentRow, book control.Book) {
	c.Examined++
	e.hold(c, p, book)
	switch behind := net(book) - p.Position; {
	case behind < 0:
		c.violate(p.String(), "find the journal that Stripe knows nothing of and reverse it", "has %d %s in the ledger and %d at Stripe (%s)",
			p.Position, p.Currency, net(book), book.ID)
	case behind > 0 && (e.Settled || p.Status.Terminal() && p.UpdatedAt.Before(e.overdue())):
		c.violate(p.String(), "redeliver the intent's events: apply posts what is missing, and only that", "has %d %s in the ledger and %d at Stripe (%s)",
			p.Position, p.Currency, net(book), book.ID)
	}
}

// heldAt is what Stripe holds of an intent and may still capture.
func heldAt(book control.Book) int64 {
	if book.Status != string(payments.StatusRequiresCapture) {
		return 0
	}
	return book.Amount - book.Captured
}

// hold: on a settled system the pending side is what Stripe holds, and it is known until when.
func (e *examiner) hold(c *Check, p paymentRow, book control.Book) {
	if held := heldAt(book); e.Settled && p.Held != held {
		c.violate(p.String(), "the poller will read it: see next_poll_at; or redeliver the intent's events", "holds %d %s in the ledger, and Stripe %d (%s)",
			p.Held, p.Currency, held, book.ID)
	} else if e.Settled && held > 0 && !p.SeenTo {
		c.violate(p.String(), "a read of the intent with its charge tells capture_before", "is held by %s, and it is not noted until when", book.ID)
	}
}

// purse is a tenant's money in a currency.
type purse struct {
	tenant   uuid.UUID
	currency string
}

// sums are Stripe's sums of a purse: all of it, and what is on intents that no payment is bound to.
type sums struct{ all, unbound int64 }

// money are Stripe's sums by purse.
type money map[purse]sums

func (m money) add(tenant uuid.UUID, book control.Book, unbound bool) {
	held := m[purse{tenant, book.Currency}]
	held.all += net(book)
	if unbound {
		held.unbound += net(book)
	}
	m[purse{tenant, book.Currency}] = held
}

type accountSum struct {
	Tenant     uuid.UUID
	Currency   string
	Receivable int64
	Suspense   int64
}

// totals compares the whole of a tenant's receivable, with the postings that name no payment, with the whole of Stripe's books.
func (e *examiner) totals(ctx context.Context, at *atStripe) error {
	if !e.Settled {
		at.totals.Skipped = "asked of a settled system only: sums move while they are read"
		return nil
	}
	ours, err := collect[accountSum](ctx, e, `
		SELECT a.tenant, a.currency,
			coalesce(sum(n.amount) FILTER (WHERE a.name IN ('stripe:receivable', 'bank:settlement', 'fees:stripe') OR a.name LIKE 'fx:%'), 0)::bigint,
			coalesce(-sum(n.amount) FILTER (WHERE a.name = 'suspense'), 0)::bigint
		FROM payonce.ledger_accounts a
		JOIN payonce.ledger_entries n ON n.account = a.id JOIN payonce.ledger_journals j ON j.id = n.journal AND j.phase = 'posted'
		GROUP BY a.tenant, a.currency`)
	if err != nil {
		return fmt.Errorf("sum accounts: %w", err)
	}
	for _, sum := range ours {
		at.compareTotal(purse{sum.Tenant, sum.Currency}, sum)
		delete(at.money, purse{sum.Tenant, sum.Currency})
	}
	left := slices.SortedFunc(maps.Keys(at.money), func(a, b purse) int { return slices.Compare(a.tenant[:], b.tenant[:]) })
	for _, purse := range left {
		at.compareTotal(purse, accountSum{})
	}
	return nil
}

func (at *atStripe) compareTotal(of purse, ours accountSum) {
	at.totals.Examined++
	subject := fmt.Sprintf("tenant %s in %s", of.tenant, of.currency)
	theirs := at.money[of]
	if ours.Receivable != theirs.all {
		at.totals.violate(subject, "the check positions names the payment; if it passes, a journal without a payment is wrong",
			"has %d at Stripe by its ledger and %d by Stripe's books", ours.Receivable, theirs.all)
	}
	if ours.Suspense != theirs.unbound {
		at.totals.violate(subject, "redeliver the events of the unbound intent, or settle what suspense holds",
			"has %d in suspense, and intents that no payment is bound to took %d", ours.Suspense, theirs.unbound)
	}
}

// agrees tells whether our status and Stripe's mean the same.
func agrees(ours payments.Status, book control.Book) bool {
	switch ours {
	case payments.StatusRequiresPaymentMethod:
		return book.Status == "requires_payment_method" || book.Status == "requires_confirmation"
	case payments.StatusFailed, payments.StatusCanceled, payments.StatusExpired:
		return book.Canceled
	case payments.StatusSubmitted:
		return false
	default:
		return book.Status == string(ours)
	}
}

// status: ours is never ahead of Stripe's, and on a settled system never behind.
func (e *examiner) status(c *Check, p paymentRow, book control.Book) {
	c.Examined++
	switch {
	case agrees(p.Status, book):
	case p.Status.Terminal() && !p.Review:
		c.violate(p.String(), "redeliver the intent's events, and find what ended the payment without Stripe's word", "is %s, and its intent %s is %s",
			p.Status, book.ID, book.Status)
	case !p.Status.Terminal() && e.Settled && (p.Status != payments.StatusSubmitted || !p.Review):
		c.violate(p.String(), "the poller will read it: see next_poll_at; or redeliver the intent's events", "is %s, and its intent %s is %s",
			p.Status, book.ID, book.Status)
	}
}
