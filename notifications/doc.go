// Package notifications tells a tenant's systems what became of a payment or a payout: it renders a message once, queues it with the change that
// it tells of, and delivers it signed and in order to every endpoint of the tenant, however long a receiver is away.
//
// It may import payments, boundaries, internal helpers and pgx. It must not know Stripe, Temporal, the ledger or the API: it is handed a
// view and owes nobody an answer but the receiver.
package notifications
