// Package budget keeps the calls to Stripe within what an account may send: a token bucket per account and mode, and one per endpoint of it, shared by
// all processes through Postgres.
//
// It imports pgx, the words of payments and the clock. It must not know what a call carries or how it is sent: who wants to send asks first.
package budget
