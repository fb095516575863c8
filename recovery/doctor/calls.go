package doctor

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/google/uuid"

	"payonce/boundaries"
	"payonce/payments"
)

type callRow struct {
	Key          uuid.UUID
	Tenant       uuid.UUID
	ResourceKind string
	ResourceID   uuid.UUID
	Operation    payments.Operation
	Attempt      int
	Generation   int
	Body         []byte // sealed
	SHA256       []byte
}

// calls: each key at Stripe is derived, and the frozen bytes are those that its hash was taken of.
func (e *examiner) calls(ctx context.Context) error {
	c := e.check("calls", 2, "every frozen call has the derived key, and its bytes are whole")
	err := page(ctx, e, `
		SELECT idempotency_key, tenant, resource_kind, resource_id, operation, attempt, generation, body, body_sha256
		FROM payonce.provider_calls WHERE idempotency_key > $1 ORDER BY idempotency_key LIMIT $2`, nil,
		func(call callRow) uuid.UUID { return call.Key },
		func(calls []callRow) error {
			for _, call := range calls {
				c.Examined++
				e.call(c, call)
			}
			return nil
		})
	if err != nil {
		return fmt.Errorf("check %s: %w", c.Name, err)
	}
	return nil
}

func (e *examiner) call(c *Check, call callRow) {
	subject := "call " + call.Key.String()
	derived := boundaries.ProviderKey{
		Tenant: payments.TenantID{UUID: call.Tenant}, ResourceKind: call.ResourceKind, ResourceID: call.ResourceID,
		Operation: call.Operation, Attempt: call.Attempt, Generation: call.Generation,
	}.IdempotencyKey()
	if derived != call.Key {
		c.violate(subject, "compare the freeze with boundaries/keys.go: a restored database sends another key",
			"has a key that does not derive from it (%s)", derived)
	}
	body, err := e.Sealer.Open(boundaries.ColumnCallBody, call.Body)
	if err != nil {
		c.violate(subject, "is this the keyset that the system runs with?", "has frozen bytes that do not open: %s", err)
		return
	}
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], call.SHA256) {
		c.violate(subject, "do not send it again: read the intent at Stripe", "has other frozen bytes than its hash was taken of")
	}
}
