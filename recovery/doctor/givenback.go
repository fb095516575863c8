package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"payonce/payments"
	"payonce/stripesim/control"
)

// refundRow is what our side says of a refund, beside Stripe's.
type refundRow struct {
	ID        uuid.UUID
	Payment   uuid.UUID
	Own       bool   // a command of ours made it
	RefundID  string // empty: not bound
	Status    payments.RefundStatus
	Amount    int64
	Currency  string
	Moved     bool
	Returned  bool
	CreatedAt time.Time
}

func (r refundRow) String() string { return "refund " + r.ID.String() }

// refundsOf reads the refunds of a page of payments.
func (e *examiner) refundsOf(ctx context.Context, of []paymentRow) (map[uuid.UUID][]refundRow, error) {
	ids := make([]uuid.UUID, 0, len(of))
	for _, p := range of {
		ids = append(ids, p.ID)
	}
	rows, err := collect[refundRow](ctx, e, `
		SELECT id, payment, record IS NOT NULL, coalesce(refund_id, ''), status, amount, currency, moved, returned, created_at
		FROM payonce.refunds WHERE payment = ANY($1)`, ids)
	if err != nil {
		return nil, fmt.Errorf("read refunds: %w", err)
	}
	byPayment := map[uuid.UUID][]refundRow{}
	for _, row := range rows {
		byPayment[row.Payment] = append(byPayment[row.Payment], row)
	}
	return byPayment, nil
}

// bound is the payment's refund that is bound to Stripe's, or nil.
func (p paymentRow) bound(refund string) *refundRow {
	for i := range p.Refunds {
		if p.Refunds[i].RefundID == refund {
			return &p.Refunds[i]
		}
	}
	return nil
}

// named is the payment's refund whose id Stripe's carries, or nil.
func (p paymentRow) named(theirs control.Refund) *refundRow {
	for i := range p.Refunds {
		if theirs.Metadata[payments.MetadataRefund] == p.Refunds[i].ID.String() {
			return &p.Refunds[i]
		}
	}
	return nil
}

// gone tells whether the account's balance has paid the refund, and whether it got that back.
func gone(theirs control.Refund) (moved, returned bool) {
	over := !payments.RefundStatus(theirs.Status).Reserves()
	moved = theirs.Status == string(payments.RefundSucceeded) || theirs.BalanceTransaction != ""
	return moved, moved && over
}

// sameAs tells whether ours says of Stripe's what is true of it.
func (r refundRow) sameAs(theirs control.Refund) bool {
	moved, returned := gone(theirs)
	return string(r.Status) == theirs.Status && r.Moved == moved && r.Returned == returned
}

// refundsAgree tells whether the refunds of both sides are the same.
func refundsAgree(p paymentRow, book control.Book) bool {
	met := 0
	for _, theirs := range book.Refunds {
		if theirs.Released {
			continue
		}
		ours := p.bound(theirs.ID)
		if ours == nil || !ours.sameAs(theirs) {
			return false
		}
		met++
	}
	for _, ours := range p.Refunds {
		if ours.RefundID != "" {
			met--
		}
	}
	return met == 0
}

// givenBack: what was given back at Stripe and what was given back here are the same refunds. What a hold released is no refund.
func (e *examiner) givenBack(c *Check, p paymentRow, book control.Book) {
	known := map[string]bool{}
	for _, theirs := range book.Refunds {
		if theirs.Released {
			continue
		}
		known[theirs.ID] = true
		c.Examined++
		e.refundAtStripe(c, p, theirs)
	}
	for _, ours := range p.Refunds {
		if ours.RefundID != "" && !known[ours.RefundID] {
			c.violate(ours.String(), "find what bound it; reverse its journal if it has one", "is bound to %s, and intent %s has no such refund of captured money",
				ours.RefundID, book.ID)
		}
	}
}

// refundAtStripe judges one refund of a payment's intent by whose it is: bound to one of ours, one of ours once more, or not known.
func (e *examiner) refundAtStripe(c *Check, p paymentRow, theirs control.Refund) {
	ours, named := p.bound(theirs.ID), p.named(theirs)
	if named != nil && named.RefundID != "" && named.RefundID != theirs.ID && !p.Review {
		c.violate(named.String(), "the payer may have got the money twice: a person must see the payment", "is bound to %s, and Stripe has also %s of it (%d %s)",
			named.RefundID, theirs.ID, theirs.Amount, theirs.Currency)
	}
	switch {
	case ours == nil && !p.Review && e.mustBeDone(theirs.Created):
		c.violate(p.String(), "redeliver charge.refunded of its charge: the intent's refunds are then listed",
			"gave back %d %s at Stripe (%s), which is not known here", theirs.Amount, theirs.Currency, theirs.ID)
	case ours != nil:
		e.compareRefund(c, *ours, theirs, named == ours)
	}
}

// compareRefund compares a refund with Stripe's that it is bound to; mine tells that Stripe's carries its id.
func (e *examiner) compareRefund(c *Check, ours refundRow, theirs control.Refund, mine bool) {
	if ours.Amount != theirs.Amount || ours.Currency != theirs.Currency || ours.Own && !mine {
		c.violate(ours.String(), "a person must say whose refund this is", "is of %d %s, and its %s at Stripe of %d %s, made for refund %q",
			ours.Amount, ours.Currency, theirs.ID, theirs.Amount, theirs.Currency, theirs.Metadata[payments.MetadataRefund])
	}
	if !ours.sameAs(theirs) && (e.Settled || ours.aheadOf(theirs)) {
		moved, returned := gone(theirs)
		c.violate(ours.String(), "read the refund at Stripe: apply posts what is missing, and only that",
			"is %s (moved: %t, returned: %t), and at Stripe %s is %s (moved: %t, returned: %t)",
			ours.Status, ours.Moved, ours.Returned, theirs.ID, theirs.Status, moved, returned)
	}
}

// aheadOf tells whether ours says what is not true of Stripe's yet: what is read first may be behind, and never ahead.
func (r refundRow) aheadOf(theirs control.Refund) bool {
	moved, returned := gone(theirs)
	over := string(r.Status) != theirs.Status && r.Status.Terminal() && payments.RefundStatus(theirs.Status).CanBecome(r.Status)
	return over || r.Moved && !moved || r.Returned && !returned
}
