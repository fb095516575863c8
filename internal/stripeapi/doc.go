// Package stripeapi is the only place that imports stripe-go: it sends frozen requests, reads objects and translates what comes back
// into small types of ours.
//
// It may import payments. It must not know the database or Temporal. Network retries are zero, telemetry is off and every POST carries
// the key it is given: stripe-go would invent one (facts of stripe-go v76.25, stripe.go).
package stripeapi
