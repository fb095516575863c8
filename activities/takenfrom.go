package activities

import "payonce/payments"

// takenFrom says who gives back a refund that was made elsewhere, beside the payment's other refunds. What we reserve and Stripe has not said yes to counts
// as long as there is room for both: else Stripe will refuse it.
func takenFrom(p payments.Payment, others []payments.Refund, amount int64) []payments.Destination {
	var made, reserved []payments.Destination
	all := amount
	for _, r := range others {
		if !r.Status.Reserves() {
			continue
		}
		all += r.Money.Amount
		reserved = append(reserved, r.TakenFrom...)
		if r.ProviderID != "" {
			made = append(made, r.TakenFrom...)
		}
	}
	if all > p.AmountCaptured {
		return p.Shares().TakeBack(made, amount)
	}
	return p.Shares().TakeBack(reserved, amount)
}
