package paymentstore

import "payonce/payments"

// Destinations are destinations as the value of a column: null where there are none.
func Destinations(of []payments.Destination) any {
	if len(of) == 0 {
		return nil
	}
	return of
}
