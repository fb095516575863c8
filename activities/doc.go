// Package activities acts: it creates, confirms, cancels and reads intents at Stripe, and applies what Stripe says. apply.go is the only place
// that changes a payment.
//
// It may import payments, boundaries, ledger, notifications and internal helpers. It must not know workflows or HTTP: the same functions are
// called by a workflow, by the recovery loops and by tests. No call to Stripe is made inside a database transaction.
package activities
