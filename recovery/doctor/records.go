package doctor

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"payonce/boundaries"
	"payonce/payments"
)

type recordRow struct {
	ID           uuid.UUID
	Tenant       uuid.UUID
	Operation    payments.Operation
	Owner        string
	Key          uuid.UUID
	ResourceKind string
	ResourceID   uuid.UUID
	Payment      *uuid.UUID
	Number       *int
	Reference    string // of the payment
	Attempt      int
	PayTenant    *uuid.UUID
	LastCommand  int
	Sharing      int // other records of the payment with the same number
	FirstCall    *uuid.UUID

	Status   boundaries.RecordStatus
	Code     int // of its outcome; 0: none
	Amount   int64
	Captured int64  // by the payment
	Before   *int64 // of a capture: the total before it
	After    *int64 // and after it; nil: all that is held
	Refunds  int    // rows of refunds that it made
}

// records: every accepted intent has one record, and its ids are the derived ones, so that a restored database derives them again.
func (e *examiner) records(ctx context.Context) error {
	c := e.check("records", 7, "every accepted command has one record and one payment, capture or refund, with the derived ids and a number of its own")
	err := page(ctx, e, `
		SELECT r.id, r.tenant, r.operation, r.owner_key, r.idempotency_key, r.resource_kind, r.resource_id, r.payment, r.number,
			coalesce(p.reference, ''), coalesce(p.attempt, 0), p.tenant, coalesce(p.last_command, 0),
			(SELECT count(*) FROM payonce.idempotency_records o WHERE o.payment = r.payment AND o.number = r.number AND o.id <> r.id),
			(SELECT f.idempotency_key FROM payonce.provider_calls f WHERE f.record = r.id AND f.generation = 0 LIMIT 1),
			r.status, coalesce(r.response_code, 0), coalesce(p.amount, 0), coalesce(p.amount_captured, 0), r.captured_before, r.captured_after,
			(SELECT count(*) FROM payonce.refunds g WHERE g.record = r.id AND g.id = r.resource_id)
		FROM payonce.idempotency_records r LEFT JOIN payonce.payments p ON p.id = r.payment
		WHERE r.id > $1 ORDER BY r.id LIMIT $2`, nil,
		func(r recordRow) uuid.UUID { return r.ID },
		func(records []recordRow) error {
			for _, r := range records {
				c.Examined++
				r.judge(c)
			}
			return nil
		})
	if err != nil {
		return fmt.Errorf("check %s: %w", c.Name, err)
	}
	return nil
}

func (r recordRow) judge(c *Check) {
	subject := fmt.Sprintf("record %s (%s)", r.ID, r.Operation)
	const next = "compare the claim with boundaries/keys.go: a key that is not derived is not found again"
	tenant, owner := payments.TenantID{UUID: r.Tenant}, boundaries.OwnerKey(r.Owner)
	if derived := boundaries.RecordID(tenant, r.Operation, owner); derived.UUID != r.ID {
		c.violate(subject, next, "has an id that does not derive from its tenant, operation and owner key (%s)", derived)
	}
	if r.FirstCall != nil && *r.FirstCall != r.Key {
		c.violate(subject, next, "says that its key at Stripe is %s, and %s was sent", r.Key, *r.FirstCall)
	}
	made := r.ResourceKind == boundaries.ResourceCapture || r.ResourceKind == boundaries.ResourceRefund
	if !made && r.ResourceKind != boundaries.ResourcePayment {
		return
	}
	if r.Payment == nil || r.Number == nil || r.PayTenant == nil {
		c.violate(subject, "the intent was accepted and lost: find the caller's key and tell its owner", "has no payment")
		return
	}
	if r.Sharing > 0 || *r.Number > r.LastCommand {
		c.violate(subject, next, "is command %d of payment %s, which numbered %d, %d others have that number", *r.Number, r.Payment, r.LastCommand, r.Sharing)
	}
	if *r.PayTenant != r.Tenant || !made && *r.Payment != r.ResourceID {
		c.violate(subject, next, "is about %s of tenant %s, and its payment is %s of tenant %s", r.ResourceID, r.Tenant, r.Payment, r.PayTenant)
	}
	if made {
		r.judgeMade(c, subject, next)
	}
	if r.Operation == payments.OperationCreate {
		r.judgeCreate(c, subject, next)
	}
}

// judgeCreate judges the record of a create: its reference and attempt derive the payment.
func (r recordRow) judgeCreate(c *Check, subject, next string) {
	tenant, owner := payments.TenantID{UUID: r.Tenant}, boundaries.OwnerKey(r.Owner)
	if derived := boundaries.PaymentID(tenant, r.Reference, r.Attempt); derived.UUID != *r.Payment {
		c.violate(subject, next, "created payment %s, and its reference and attempt derive %s", r.Payment, derived)
	}
	if owner != boundaries.CreateOwnerKey(r.Reference, r.Attempt) {
		c.violate(subject, next, "has the owner key %q, and its payment is %s#%d", r.Owner, r.Reference, r.Attempt)
	}
}
