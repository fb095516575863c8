// Package activities acts: it creates, confirms, cancels and reads intents at Stripe, and applies what Stripe says. apply.go is the only place
// that changes a payment.
//
// It may import payments, boundaries, ledger, notifications, workflows (for what crosses into Temporal) and internal helpers. It must not know HTTP or
// who calls: a workflow, a recovery loop or a test. No call to Stripe is made inside a database transaction.
package activities
