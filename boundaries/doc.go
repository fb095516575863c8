// Package boundaries is the idempotency protocol and its four boundaries: claim, act, complete or release.
//
// It may import payments, internal/postgres, internal/seal and libraries. It must not know Stripe's client, Temporal or HTTP:
// it says who may act and what was answered, not how anything is done.
package boundaries
