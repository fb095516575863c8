package doctor

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"payonce/payments"
	"payonce/stripesim/control"
)

// disputeRow is what our side says of a dispute, beside Stripe's.
type disputeRow struct {
	Payment    uuid.UUID
	DisputeID  string
	Status     payments.DisputeStatus
	Amount     int64
	Currency   string
	Withdrawn  int64
	Reinstated int64
}

// disputesOf reads the disputes of a page of payments.
func (e *examiner) disputesOf(ctx context.Context, of []paymentRow) (map[uuid.UUID][]disputeRow, error) {
	ids := make([]uuid.UUID, 0, len(of))
	for _, p := range of {
		ids = append(ids, p.ID)
	}
	rows, err := collect[disputeRow](ctx, e, `
		SELECT payment, dispute_id, status, amount, currency, withdrawn, reinstated FROM payonce.disputes WHERE payment = ANY($1)`, ids)
	if err != nil {
		return nil, fmt.Errorf("read disputes: %w", err)
	}
	byPayment := map[uuid.UUID][]disputeRow{}
	for _, row := range rows {
		byPayment[row.Payment] = append(byPayment[row.Payment], row)
	}
	return byPayment, nil
}

// dispute is the payment's dispute of Stripe's id, or nil.
func (p paymentRow) dispute(id string) *disputeRow {
	for i := range p.Disputes {
		if p.Disputes[i].DisputeID == id {
			return &p.Disputes[i]
		}
	}
	return nil
}

// sameAs tells whether ours says of Stripe's what is true of it.
func (d disputeRow) sameAs(theirs control.Dispute) bool {
	return string(d.Status) == theirs.Status && d.Amount == theirs.Amount && d.Withdrawn == theirs.Withdrawn && d.Reinstated == theirs.Reinstated
}

// aheadOf tells whether ours says what is not true of Stripe's yet.
func (d disputeRow) aheadOf(theirs control.Dispute) bool {
	decided := string(d.Status) != theirs.Status && d.Status.Terminal() && payments.DisputeStatus(theirs.Status).CanBecome(d.Status)
	reopens := d.Status == payments.DisputeWarningClosed // it is true again later
	return decided && !reopens || d.Withdrawn > theirs.Withdrawn || d.Reinstated > theirs.Reinstated
}

// disputesAgree tells whether the disputes of both sides are the same.
func disputesAgree(p paymentRow, book control.Book) bool {
	for _, theirs := range book.Disputes {
		if ours := p.dispute(theirs.ID); ours == nil || !ours.sameAs(theirs) {
			return false
		}
	}
	return len(p.Disputes) == len(book.Disputes)
}

// takenBack: what banks took back at Stripe and what is known of it here are the same disputes.
func (e *examiner) takenBack(c *Check, p paymentRow, book control.Book) {
	const next = "redeliver charge.dispute.updated: the dispute is then read, and apply posts what is missing"
	known := map[string]bool{}
	for _, theirs := range book.Disputes {
		known[theirs.ID] = true
		c.Examined++
		switch ours := p.dispute(theirs.ID); {
		case ours == nil && !p.Review && e.mustBeDone(theirs.Created):
			c.violate(p.String(), next, "has the dispute %s at Stripe (%s, %d withdrawn), which is not known here", theirs.ID, theirs.Status, theirs.Withdrawn)
		case ours != nil && !ours.sameAs(theirs) && (e.Settled || ours.aheadOf(theirs)):
			c.violate("dispute "+theirs.ID, next, "is %s of %d, withdrawn %d and reinstated %d, and at Stripe %s of %d, withdrawn %d and reinstated %d",
				ours.Status, ours.Amount, ours.Withdrawn, ours.Reinstated, theirs.Status, theirs.Amount, theirs.Withdrawn, theirs.Reinstated)
		}
	}
	for _, ours := range p.Disputes {
		if !known[ours.DisputeID] {
			c.violate("dispute "+ours.DisputeID, "find what brought it; reverse its journals if it has any", "is not known at Stripe (%s)", book.ID)
		}
	}
}
