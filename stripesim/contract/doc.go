// Package contract holds two things against the OpenAPI description that Stripe publishes inside stripe-mock: every answer of the twin, and
// every request that payonce sends. It is nothing but tests, and apart so that the twin's own tests need no database.
//
// Its tests may import the twin, its control package, the test stack and stripe-mock. They must not import the engine: they see it over HTTP,
// as Stripe does.
package contract
