package model

import (
	"maps"
	"slices"

	"payonce/payments"
)

// Payment is a payment of the model. Amounts are minor units of its currency.
type Payment struct {
	Amount       int64
	Manual       bool // the money is held first
	Multicapture bool
	Status       payments.Status
	Capturable   int64
	Captured     int64
	whole        bool // everything was captured by one command: another one means the same

	Refunds  map[string]Refund // by the name under which they were made
	Disputes map[string]Dispute
}

// Refund is money given back, or to be.
type Refund struct {
	Amount   int64
	Status   payments.RefundStatus
	Moved    bool // the money has left
	External bool // somebody else made it
}

// Dispute is money that the payer's bank asks for.
type Dispute struct {
	Status     payments.DisputeStatus
	Withdrawn  int64
	Reinstated int64
}

// Verdict is what a command deserves: an empty one is done, any other is the code of the refusal.
type Verdict string

// The verdicts.
const (
	Done       Verdict = ""
	TooLarge   Verdict = payments.CodeAmountTooLarge
	Ended      Verdict = payments.CodePaymentEnded
	Succeeded  Verdict = payments.CodePaymentSucceeded
	NotInState Verdict = payments.CodeUnexpectedState
	Refused    Verdict = Verdict(payments.FailureProviderRefused)
)

// amountOfWhole is a command without an amount: all there is.
const amountOfWhole = 0

// New is a payment whose first confirm has just succeeded: its money is taken or, with a manual capture, held.
func New(amount int64, manual, multicapture bool) *Payment {
	p := &Payment{Amount: amount, Manual: manual, Multicapture: multicapture, Refunds: map[string]Refund{}, Disputes: map[string]Dispute{}}
	if manual {
		p.Status, p.Capturable = payments.StatusRequiresCapture, amount
	} else {
		p.Status, p.Captured = payments.StatusSucceeded, amount
	}
	return p
}

// Capture takes an amount of what is held; 0 is all of it. What is left is released, unless keep is set and the payment allows several captures.
func (p *Payment) Capture(amount int64, keep bool) Verdict {
	all := amount == amountOfWhole || amount == p.Amount
	switch {
	case all && p.whole:
		return Done
	case p.Status == payments.StatusSucceeded:
		return Succeeded
	case p.Status.Terminal():
		return Ended
	case p.Status != payments.StatusRequiresCapture:
		return NotInState
	case amount > p.Capturable:
		return TooLarge
	case amount != amountOfWhole && keep && !p.Multicapture:
		return NotInState
	}
	if amount == amountOfWhole {
		amount, keep = p.Capturable, false
	}
	p.whole = all
	p.Captured, p.Capturable = p.Captured+amount, p.Capturable-amount
	if !keep || p.Capturable == 0 {
		p.Status, p.Capturable = payments.StatusSucceeded, 0
	}
	return Done
}

// Cancel lets go of what is held. What took money is not canceled, and what is over stays as it ended.
func (p *Payment) Cancel() Verdict {
	switch {
	case p.Status == payments.StatusSucceeded:
		return Succeeded
	case p.Captured > 0:
		return NotInState
	case !p.Status.Terminal():
		p.Status, p.Capturable = payments.StatusCanceled, 0
	}
	return Done
}

// Expire is what Stripe does with a hold that nobody captured in time: what was captured in part stays taken.
func (p *Payment) Expire() {
	if p.Status != payments.StatusRequiresCapture {
		return
	}
	p.Status, p.Capturable = payments.StatusExpired, 0
	if p.Captured > 0 {
		p.Status = payments.StatusSucceeded
	}
}

// Refundable is what may still be given back.
func (p *Payment) Refundable() int64 {
	left := p.Captured - p.disputed()
	for _, refund := range p.Refunds {
		if refund.Status.Reserves() {
			left -= refund.Amount
		}
	}
	return left
}

// Refund gives an amount back under a name; 0 is all that may be. becomes is what Stripe makes of it at once.
func (p *Payment) Refund(name string, amount int64, becomes payments.RefundStatus) Verdict {
	whole := amount == amountOfWhole || amount == p.Amount
	switch {
	case p.Status == payments.StatusRequiresCapture && p.Captured == 0 && whole:
		return p.Cancel()
	case p.Captured == 0 && p.Status.Terminal():
		return Ended
	case p.Captured == 0:
		return NotInState
	}
	if amount == amountOfWhole {
		amount = p.Refundable()
	}
	if amount <= 0 || amount > p.Refundable() {
		return TooLarge
	}
	if p.underDispute() {
		p.Refunds[name] = Refund{Amount: amount, Status: payments.RefundFailed}
		return Refused
	}
	p.Refunds[name] = Refund{Amount: amount, Status: becomes, Moved: becomes == payments.RefundSucceeded}
	return Done
}

// RefundElsewhere is a refund that somebody else made, of no more than Stripe lets go.
func (p *Payment) RefundElsewhere(name string, amount int64) {
	p.Refunds[name] = Refund{Amount: amount, Status: payments.RefundSucceeded, Moved: true, External: true}
}

// RefundBecomes is what Stripe makes of a refund later.
func (p *Payment) RefundBecomes(name string, status payments.RefundStatus) {
	refund := p.Refunds[name]
	refund.Status = status
	refund.Moved = refund.Moved || status == payments.RefundSucceeded
	p.Refunds[name] = refund
}

// Dispute is opened with the money withdrawn; 0 is an inquiry, which moves none.
func (p *Payment) Dispute(name string, withdrawn int64) {
	status := payments.DisputeNeedsResponse
	if withdrawn == 0 {
		status = payments.DisputeWarningNeedsResponse
	}
	p.Disputes[name] = Dispute{Status: status, Withdrawn: withdrawn}
}

// DisputeEnds closes a dispute: what was withdrawn comes back when it is won.
func (p *Payment) DisputeEnds(name string, won bool) {
	dispute := p.Disputes[name]
	switch {
	case dispute.Withdrawn == 0:
		dispute.Status = payments.DisputeWarningClosed
	case won:
		dispute.Status, dispute.Reinstated = payments.DisputeWon, dispute.Withdrawn
	default:
		dispute.Status = payments.DisputeLost
	}
	p.Disputes[name] = dispute
}

// underDispute tells whether Stripe gives nothing back: the bank has asked for the money, and has not lost.
func (p *Payment) underDispute() bool {
	for _, dispute := range p.Disputes {
		if dispute.Withdrawn > dispute.Reinstated {
			return true
		}
	}
	return false
}

func (p *Payment) disputed() (taken int64) {
	for _, dispute := range p.Disputes {
		taken += dispute.Withdrawn - dispute.Reinstated
	}
	return taken
}

// Refunded is what has left and not come back.
func (p *Payment) Refunded() (out int64) {
	for _, refund := range p.Refunds {
		if refund.Moved && refund.Status.Reserves() {
			out += refund.Amount
		}
	}
	return out
}

// Position is where the payment's money stands in the ledger, by account, once everything is known; fees are left out, and accounts that are even.
func (p *Payment) Position() map[string]int64 {
	lost, held := int64(0), int64(0)
	for _, dispute := range p.Disputes {
		if dispute.Status == payments.DisputeLost {
			lost += dispute.Withdrawn - dispute.Reinstated
		} else {
			held += dispute.Withdrawn - dispute.Reinstated
		}
	}
	position := map[string]int64{
		"stripe:receivable":         p.Captured - p.Refunded() - p.disputed(),
		"merchant:balance":          p.Refunded() - p.Captured,
		"disputes:held":             held,
		"disputes:lost":             lost,
		"stripe:receivable:pending": p.Capturable,
		"merchant:balance:pending":  -p.Capturable,
	}
	maps.DeleteFunc(position, func(_ string, amount int64) bool { return amount == 0 })
	return position
}

// Balanced tells whether the position sums to zero.
func (p *Payment) Balanced() bool {
	sum := int64(0)
	for _, amount := range p.Position() {
		sum += amount
	}
	return sum == 0
}

// RefundAmounts are the amounts of the refunds in a status, sorted.
func (p *Payment) RefundAmounts(status payments.RefundStatus) []int64 {
	var amounts []int64
	for _, refund := range p.Refunds {
		if refund.Status == status {
			amounts = append(amounts, refund.Amount)
		}
	}
	slices.Sort(amounts)
	return amounts
}
