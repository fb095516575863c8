package payments

import "github.com/google/uuid"

// TenantID names a tenant: a merchant, or one of its environments.
type TenantID struct{ uuid.UUID }

// PaymentID names a payment; UUIDv5 over the command identity that created it.
type PaymentID struct{ uuid.UUID }

// RecordID names an idempotency record; UUIDv5 over (tenant, operation, owner key).
type RecordID struct{ uuid.UUID }

// Account is a Stripe account in one mode; keys, objects and events belong to exactly one.
type Account struct {
	ID       string `json:"id"`       // acct_…
	Livemode bool   `json:"livemode"` // false: test mode
}

// Provider is the only provider.
const Provider = "stripe"
