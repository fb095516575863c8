// Package stripesim is a Stripe twin: an HTTP server that behaves as Stripe's API of version 2023-10-16 does towards
// a client of payment intents, with Stripe's idempotency keys, events, signed webhooks and redeliveries, and that
// can be told to misbehave as Stripe and networks do. Every send that reaches it is logged and its books can be read
// over HTTP, so that an outsider can check what a client really did.
//
// It may import the standard library, its own control package and pgx (for the clock).
// It must not know anything of payonce, nor stripe-go: it is written from Stripe's facts alone, and only its tests
// use stripe-go, to hold the shapes.
package stripesim
