package doctor

import (
	"strings"

	"payonce/boundaries"
	"payonce/payments"
)

// judgeMade judges the record of a capture or a refund: what it makes has the id that its owner key derives, and the key at Stripe follows from that.
func (r recordRow) judgeMade(c *Check, subject, next string) {
	tenant, owner := payments.TenantID{UUID: r.Tenant}, boundaries.OwnerKey(r.Owner)
	if derived := boundaries.ResourceID(tenant, r.Operation, owner); derived != r.ResourceID {
		c.violate(subject, next, "makes %s %s, and its owner key derives %s", r.ResourceKind, r.ResourceID, derived)
	}
	key := boundaries.ProviderKey{
		Tenant: tenant, ResourceKind: r.ResourceKind, ResourceID: r.ResourceID, Operation: r.Operation, Attempt: 1,
	}.IdempotencyKey()
	if key != r.Key {
		c.violate(subject, next, "has the key %s at Stripe, and what it makes derives %s", r.Key, key)
	}
	if !strings.HasPrefix(r.Owner, r.Payment.String()+"/") {
		c.violate(subject, next, "has the owner key %q, which names another payment than %s", r.Owner, r.Payment)
	}
	if r.ResourceKind == boundaries.ResourceRefund {
		if r.Refunds != 1 {
			c.violate(subject, "the refund was accepted and lost: look for it at Stripe by its metadata", "made %d refunds with its id, not one", r.Refunds)
		}
		return
	}
	r.judgeCapture(c, subject)
}

// judgeCapture judges the totals that a capture was to lead from and to.
func (r recordRow) judgeCapture(c *Check, subject string) {
	const next = "compare the payment's captures in their order with its charge at Stripe"
	if r.Before == nil {
		c.violate(subject, next, "does not say what was captured before it")
		return
	}
	released := r.Owner == string(boundaries.ReleaseOwnerKey(payments.PaymentID{UUID: *r.Payment})) // it takes nothing
	all := released || strings.HasPrefix(r.Owner, r.Payment.String()+"/capture#")
	taken := r.Status == boundaries.RecordCompleted && r.Code < 400
	switch {
	case *r.Before < 0 || *r.Before > r.Captured:
		c.violate(subject, next, "says that %d was captured before it, and the payment has captured %d", *r.Before, r.Captured)
	case r.After == nil && !all:
		c.violate(subject, next, "takes a part and does not say what was to be captured after it")
	case r.After != nil && (*r.After <= *r.Before || *r.After > r.Amount):
		c.violate(subject, next, "was to lead from %d to %d of %d", *r.Before, *r.After, r.Amount)
	case taken && !released && (r.Captured == *r.Before || r.After != nil && r.Captured < *r.After):
		c.violate(subject, next, "was answered as taken, and the payment has captured %d", r.Captured)
	}
}
