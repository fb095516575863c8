// Package control is the client of the Stripe twin's control API (prefix /_twin/) and the plain structs that
// travel over it: fault rules, the request log, the books with their refunds, disputes and payouts, events and their
// deliveries, endpoints, accounts and holds.
//
// It may import the standard library only. It must not know the twin's engine: the doctor and the demo read the
// twin as outsiders, over HTTP.
package control
