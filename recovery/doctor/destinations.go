package doctor

import (
	"context"
	"fmt"
	"maps"

	"github.com/google/uuid"

	"payonce/payments"
)

// destined is a payment with destinations, with what its journals say of them.
type destined struct {
	ID           uuid.UUID
	Amount       int64
	Destinations []payments.Destination
	Captures     []dividedCapture // by their totals
	Refunds      []dividedRefund
}

// dividedCapture is a journal of a capture: what each account got when the total was reached.
type dividedCapture struct {
	Total int64
	To    map[string]int64
}

// dividedRefund is a refund, and what its journals took from each account and gave back.
type dividedRefund struct {
	ID        uuid.UUID
	Amount    int64
	Stands    bool // Stripe has it, and it is not failed or canceled
	Moved     bool
	Returned  bool
	TakenFrom []payments.Destination
	Out, Back map[string]int64
}

// destinations: what a payment with destinations took and gave back is divided among them as it says.
func (e *examiner) destinations(ctx context.Context) error {
	c := e.check("destinations", 1, "captures are divided among a payment's destinations by their shares, and refunds take no more from one than it got")
	err := page(ctx, e, destinedPayments, nil, func(p destined) uuid.UUID { return p.ID }, func(rows []destined) error {
		for _, p := range rows {
			c.Examined++
			p.judge(c)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("check %s: %w", c.Name, err)
	}
	return nil
}

func (p destined) judge(c *Check) {
	const next = "compare the payment's destinations with its journals; a reversal and a posting by hand set an account right"
	subject := "payment " + p.ID.String()
	shares, err := payments.NewShares(p.Destinations...)
	if err != nil {
		c.violate(subject, next, "has destinations that cannot be: %v", err)
		return
	}
	if named := sumOf(byAccount(p.Destinations)); named != p.Amount {
		c.violate(subject, next, "is of %d, and its destinations sum to %d", p.Amount, named)
	}
	captured := int64(0)
	for _, capture := range p.Captures {
		if want := byAccount(shares.Between(captured, capture.Total)); !maps.Equal(want, capture.To) {
			c.violate(subject, next, "captured from %d to %d for %v, and its shares say %v", captured, capture.Total, capture.To, want)
		}
		captured = capture.Total
	}
	taken := map[string]int64{}
	for _, refund := range p.Refunds {
		refund.judge(c, next)
		if refund.Stands {
			for _, from := range refund.TakenFrom {
				taken[from.Account] += from.Amount
			}
		}
	}
	if got := byAccount(shares.Between(0, captured)); sumOf(taken) <= captured { // else a refund is known before its capture
		for account, amount := range taken {
			if amount > got[account] {
				c.violate(subject, next, "had %d taken back from %s, which got %d", amount, account, got[account])
			}
		}
	}
}

func (r dividedRefund) judge(c *Check, next string) {
	subject, from := "refund "+r.ID.String(), byAccount(r.TakenFrom)
	if sum := sumOf(from); sum != r.Amount {
		c.violate(subject, next, "is of %d, and its destinations give back %d", r.Amount, sum)
	}
	if r.Moved && !maps.Equal(from, r.Out) {
		c.violate(subject, next, "is taken from %v, and its journal took %v", from, r.Out)
	}
	if r.Returned && !maps.Equal(from, r.Back) {
		c.violate(subject, next, "is taken from %v, and its journal gave %v back", from, r.Back)
	}
}

func byAccount(destinations []payments.Destination) map[string]int64 {
	amounts := map[string]int64{}
	for _, d := range destinations {
		amounts[d.Account] += d.Amount
	}
	return amounts
}

func sumOf(amounts map[string]int64) (sum int64) {
	for _, amount := range amounts {
		sum += amount
	}
	return sum
}

// destinedPayments reads each payment with its journals in one statement, so that what one transaction wrote is seen whole.
const destinedPayments = `
	SELECT p.id, p.amount, p.destinations,
	       coalesce((
	           SELECT jsonb_agg(jsonb_build_object('Total', c.total, 'To', c.owed) ORDER BY c.total)
	           FROM (
	               SELECT substring(j.posting_key FROM '[0-9]+$')::bigint AS total, (
	                   SELECT jsonb_object_agg(a.name, -n.amount) FROM payonce.ledger_entries n JOIN payonce.ledger_accounts a ON a.id = n.account
	                   WHERE n.journal = j.id AND a.name <> 'stripe:receivable') AS owed
	               FROM payonce.ledger_journals j WHERE j.payment = p.id AND j.posting_key LIKE 'capture/%') AS c), '[]'),
	       coalesce((
	           SELECT jsonb_agg(jsonb_build_object('ID', r.id, 'Amount', r.amount, 'Moved', r.moved, 'Returned', r.returned, 'TakenFrom', r.taken_from,
	               'Stands', r.refund_id IS NOT NULL AND r.status NOT IN ('failed', 'canceled'),
	               'Out', (
	                   SELECT jsonb_object_agg(a.name, n.amount) FROM payonce.ledger_journals j
	                   JOIN payonce.ledger_entries n ON n.journal = j.id JOIN payonce.ledger_accounts a ON a.id = n.account
	                   WHERE j.tenant = r.tenant AND j.posting_key = 'refund/' || r.id || '/out' AND a.name <> 'stripe:receivable'),
	               'Back', (
	                   SELECT jsonb_object_agg(a.name, -n.amount) FROM payonce.ledger_journals j
	                   JOIN payonce.ledger_entries n ON n.journal = j.id JOIN payonce.ledger_accounts a ON a.id = n.account
	                   WHERE j.tenant = r.tenant AND j.posting_key = 'refund/' || r.id || '/back' AND a.name <> 'stripe:receivable')))
	           FROM payonce.refunds r WHERE r.payment = p.id), '[]')
	FROM payonce.payments p
	WHERE p.id > $1 AND p.destinations IS NOT NULL ORDER BY p.id LIMIT $2`
