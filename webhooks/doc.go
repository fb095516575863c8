// Package webhooks takes what Stripe sends: it verifies the raw bytes, stores them and wakes whoever applies them.
//
// It may import payments, boundaries (the event's identity and claim) and internal packages. It must know neither the ledger
// nor workflows, makes no outbound call, and does not import Stripe's library: the signature scheme is public and small.
package webhooks
