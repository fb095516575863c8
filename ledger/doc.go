// Package ledger is the double-entry book of the money that moved: accounts, journals, balances and the rules that turn a fact into
// a posting.
//
// It may import payments, boundaries, internal helpers and pgx. It must not know Stripe's client, Temporal, HTTP or messages: it is
// told what happened, books it once, and says what was booked.
package ledger
