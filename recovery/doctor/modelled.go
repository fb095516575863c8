package doctor

import (
	"context"
	"fmt"
	"maps"

	"github.com/google/uuid"

	"payonce/payments"
	"payonce/payments/model"
)

// modelled: what a payment, its refunds and its disputes say of themselves, and the ledger, tell one story. The model of the lifecycle says where money of
// a payment with such statuses stands, on each account; the checks beside it hold each journal against its own cause.
func (e *examiner) modelled(ctx context.Context) error {
	c := e.check("modelled", 1, "a payment's money stands on each account where the model of the lifecycle puts it")
	err := page(ctx, e, lifecycles, nil, func(row lifecycle) uuid.UUID { return row.ID }, func(rows []lifecycle) error {
		for _, row := range rows {
			c.Examined++
			if want := row.model().Position(); !maps.Equal(want, row.Position) {
				c.violate("payment "+row.ID.String(), "compare the journals of the payment with its refunds and disputes; only apply may write either",
					"is %s, and its money stands at %v where the model puts it at %v", row.Status, row.Position, want)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("check %s: %w", c.Name, err)
	}
	return nil
}

// lifecycle is what is stored of a payment and of all that befell it.
type lifecycle struct {
	ID         uuid.UUID
	Status     payments.Status
	Amount     int64
	Capturable int64
	Captured   int64
	Refunds    map[string]model.Refund
	Disputes   map[string]model.Dispute
	Position   map[string]int64 // by account, without fees
}

func (l lifecycle) model() *model.Payment {
	return &model.Payment{
		Amount: l.Amount, Status: l.Status, Capturable: l.Capturable, Captured: l.Captured, Refunds: l.Refunds, Disputes: l.Disputes,
	}
}

// lifecycles reads them in one statement, so that what one transaction wrote is seen whole. What Stripe kept of a dispute left the receivable with it,
// and counts as still there; whom the money is owed to is no matter of the lifecycle. A payment that waits for a person may stand anywhere.
const lifecycles = `
	SELECT p.id, p.status, p.amount, p.amount_capturable, p.amount_captured,
	       coalesce((SELECT jsonb_object_agg(r.id, jsonb_build_object('Amount', r.amount, 'Status', r.status, 'Moved', r.moved))
	           FROM payonce.refunds r WHERE r.payment = p.id), '{}'),
	       coalesce((SELECT jsonb_object_agg(d.id, jsonb_build_object('Status', d.status, 'Withdrawn', d.withdrawn, 'Reinstated', d.reinstated))
	           FROM payonce.disputes d WHERE d.payment = p.id), '{}'),
	       coalesce((SELECT jsonb_object_agg(b.account, b.amount) FROM (
	           SELECT CASE WHEN a.name = 'fees:stripe' THEN 'stripe:receivable' WHEN a.name LIKE 'wallet:%' THEN 'merchant:balance' ELSE a.name END AS account,
	                  sum(n.amount) AS amount
	           FROM payonce.ledger_journals j
	           JOIN payonce.ledger_entries n ON n.journal = j.id JOIN payonce.ledger_accounts a ON a.id = n.account
	           WHERE j.payment = p.id AND n.currency = p.currency AND j.rule NOT IN ('fee', 'exchanged')
	           GROUP BY 1 HAVING sum(n.amount) <> 0) AS b), '{}')
	FROM payonce.payments p
	WHERE p.id > $1 AND p.review_reason IS NULL ORDER BY p.id LIMIT $2`
