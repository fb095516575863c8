package demo

import "payonce/payments"

// Plan is what becomes of an order's money beside being taken and kept.
type Plan string

// The plans. Money is held first where it is captured or voided; what happens days later happens when the clock is moved.
const (
	PlanCapture         Plan = "captured"
	PlanPart            Plan = "captured in part"
	PlanParts           Plan = "captured in two equal parts"
	PlanVoid            Plan = "voided"
	PlanPolicyCapture   Plan = "captured by its policy"
	PlanPolicyVoid      Plan = "voided by its policy"
	PlanRefund          Plan = "given back"
	PlanRefundPart      Plan = "given back in part"
	PlanRefundTwice     Plan = "given back in two equal parts"
	PlanRefundFails     Plan = "given back, which fails"
	PlanRefundElsewhere Plan = "given back at Stripe"
	PlanDisputeWon      Plan = "disputed, and won"
	PlanDisputeLost     Plan = "disputed, and lost"
	PlanInquiry         Plan = "asked about by the bank"
	PlanDebit           Plan = "bank debit"
	PlanDebitRefund     Plan = "bank debit, given back"
	PlanShared          Plan = "shared with two sellers"
	PlanSharedRefund    Plan = "shared, given back in part"
)

// PlanCount is how many orders have a plan, and of how many it came out.
type PlanCount struct {
	Plan   Plan `json:"plan"`
	Orders int  `json:"orders"`
	Right  int  `json:"right"`
}

// Plans says how many orders of a run have each plan.
func Plans() []PlanCount {
	return []PlanCount{
		{PlanCapture, 6, 0}, {PlanPart, 6, 0}, {PlanParts, 6, 0}, {PlanVoid, 6, 0}, {PlanPolicyCapture, 3, 0}, {PlanPolicyVoid, 3, 0},
		{PlanRefund, 6, 0}, {PlanRefundPart, 6, 0}, {PlanRefundTwice, 6, 0}, {PlanRefundFails, 3, 0}, {PlanRefundElsewhere, 3, 0},
		{PlanDisputeWon, 3, 0}, {PlanDisputeLost, 3, 0}, {PlanInquiry, 3, 0},
		{PlanDebit, 4, 0}, {PlanDebitRefund, 4, 0}, {PlanShared, 3, 0}, {PlanSharedRefund, 3, 0},
	}
}

// currency is that of the i-th order with the plan: two, none and three decimals in turn; a debit runs in its bank's.
func (p Plan) currency(i int) string {
	if p == PlanDebit || p == PlanDebitRefund {
		return []string{"usd", "eur", "aud"}[i%3]
	}
	return []string{"usd", "jpy", "kwd"}[i%3]
}

// method is the test method that plays the plan, or the card (https://docs.stripe.com/testing#refunds).
func (p Plan) method(currency, card string) string {
	switch {
	case p == PlanRefundFails:
		return "pm_card_refundFail"
	case p != PlanDebit && p != PlanDebitRefund:
		return card
	case currency == "eur":
		return "pm_sepaDebit_success_de"
	case currency == "aud":
		return "pm_auBecsDebit_success"
	default:
		return "pm_usBankAccount_success"
	}
}

// wish is what a create of the plan says beside the order.
func (p Plan) wish(currency string) map[string]any {
	switch p {
	case PlanCapture, PlanPart, PlanVoid:
		return map[string]any{"capture_method": "manual"}
	case PlanParts:
		return map[string]any{"capture_method": "manual", "multicapture": true}
	case PlanPolicyCapture:
		return map[string]any{"capture_method": "manual", "hold_expiry": "capture"}
	case PlanPolicyVoid:
		return map[string]any{"capture_method": "manual", "hold_expiry": "void"}
	case PlanDebit, PlanDebitRefund:
		kind := map[string]string{"usd": "us_bank_account", "eur": "sepa_debit", "aud": "au_becs_debit"}[currency]
		return map[string]any{"payment_method_types": []string{kind}}
	default:
		return nil
	}
}

// held tells whether the money is only held at first.
func (p Plan) held() bool { return p.wish("usd")["capture_method"] != nil }

// MustPay tells whether the order must end paid.
func (o Order) MustPay() bool { return o.Captured() > 0 }

// Declined tells whether the payer's method must be refused.
func (o Order) Declined() bool { return o.DeclineCode != "" }

// Answered is the status that its create must be answered with.
func (o Order) Answered() payments.Status {
	switch {
	case o.Declined():
		return payments.StatusRequiresPaymentMethod
	case o.Plan.held():
		return payments.StatusRequiresCapture
	case o.Plan == PlanDebit || o.Plan == PlanDebitRefund:
		return payments.StatusProcessing
	default:
		return payments.StatusSucceeded
	}
}

// Ends is the status that it must have in the end. Whose method was declined did not come back, and is given up a day later.
func (o Order) Ends() payments.Status {
	switch {
	case o.Declined() || o.Plan == PlanPolicyVoid:
		return payments.StatusExpired
	case o.Plan == PlanVoid:
		return payments.StatusCanceled
	default:
		return payments.StatusSucceeded
	}
}

// third is a third of the amount.
func (o Order) third() int64 { return o.Amount / 3 }

// Captured is what must have been taken, in minor units.
func (o Order) Captured() int64 {
	switch {
	case o.Declined() || o.Plan == PlanVoid || o.Plan == PlanPolicyVoid:
		return 0
	case o.Plan == PlanPart || o.Plan == PlanParts:
		return 2 * o.third()
	default:
		return o.Amount
	}
}

// Captures is how many captures of a hold that takes.
func (o Order) Captures() int {
	switch o.Plan {
	case PlanCapture, PlanPart, PlanPolicyCapture:
		return 1
	case PlanParts:
		return 2
	default:
		return 0
	}
}

// Refunded is what must have gone back and stayed there, in minor units.
func (o Order) Refunded() int64 {
	switch o.Plan {
	case PlanRefund, PlanDebitRefund:
		return o.Amount
	case PlanRefundPart, PlanRefundElsewhere, PlanSharedRefund:
		return o.third()
	case PlanRefundTwice:
		return 2 * o.third()
	default:
		return 0
	}
}

// Refunds is how many refunds that takes, the failed ones included.
func (o Order) Refunds() int {
	switch o.Plan {
	case PlanRefund, PlanDebitRefund, PlanRefundPart, PlanRefundElsewhere, PlanRefundFails, PlanSharedRefund:
		return 1
	case PlanRefundTwice:
		return 2
	default:
		return 0
	}
}

// Dispute is what must have become of the order's dispute; empty: it has none.
func (o Order) Dispute() payments.DisputeStatus {
	switch o.Plan {
	case PlanDisputeWon:
		return payments.DisputeWon
	case PlanDisputeLost:
		return payments.DisputeLost
	case PlanInquiry:
		return payments.DisputeWarningClosed
	default:
		return ""
	}
}

// Lost is what a bank must have taken back for good, in minor units.
func (o Order) Lost() int64 {
	if o.Plan == PlanDisputeLost {
		return o.Amount
	}
	return 0
}

// Journals is how many journals that makes: one a capture, a hold, a fall of the hold, a refund that took its money, and one that had it back; two a
// dispute that withdrew money.
func (o Order) Journals() int {
	captures, falls := o.Captures(), 0
	if o.Captured() > 0 && captures == 0 {
		captures = 1 // with the payment
	}
	if o.Plan.held() {
		falls = 1 + max(o.Captures(), 1)
		if o.Captured() > 0 && o.Captured() < o.Amount {
			falls++ // the rest was released
		}
	}
	journals := captures + falls + o.Refunds()
	if o.Plan == PlanDisputeWon || o.Plan == PlanDisputeLost {
		journals += 2 // what was withdrawn, and that it came back or is lost
	}
	if o.Plan == PlanRefundFails {
		journals++
	}
	return journals
}
