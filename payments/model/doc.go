// Package model is what a payment is to be, in plain Go: an executable statement of the money lifecycle, without time, keys, calls or orders of delivery.
// Commands and happenings at Stripe go in, one after the other; out come the answer that each command deserves, and where the payment and its money must
// stand once everything is known. Tests hold the engine against it.
//
// It may import payments and nothing else. It must not know how any of it is brought about.
package model
