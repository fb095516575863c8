package boundaries

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"payonce/payments"
)

// Every key is derived here, each from the one before it, and all of them from the tenant. They are wire format: Stripe, receivers
// and restored databases hold them, so the golden test may only grow.

// keySpace is the namespace of every UUIDv5 of ours: UUIDv5(URL namespace, "payonce:keys:v1").
var keySpace = uuid.NewSHA1(uuid.NameSpaceURL, []byte("payonce:keys:v1")) //nolint:gochecknoglobals // a constant, never written

// derive is UUIDv5 over the kind and the parts, each preceded by its length, so that no two lists of parts meet.
func derive(kind string, parts ...string) uuid.UUID {
	name := appendPart(make([]byte, 0, 128), kind)
	for _, part := range parts {
		name = appendPart(name, part)
	}
	return uuid.NewSHA1(keySpace, name)
}

func appendPart(name []byte, part string) []byte {
	name = binary.BigEndian.AppendUint32(name, uint32(len(part)))
	return append(name, part...)
}

// OwnerKey names a business attempt within a tenant and operation.
type OwnerKey string

// CallerKey is the Idempotency-Key header: an alias of a record.
type CallerKey string

// CreateOwnerKey is `<reference>#<attempt>`.
func CreateOwnerKey(reference string, attempt int) OwnerKey {
	return OwnerKey(reference + "#" + strconv.Itoa(attempt))
}

// ConfirmOwnerKey is `<payment>#<n>`, n = settled confirms + 1.
func ConfirmOwnerKey(payment payments.PaymentID, n int) OwnerKey {
	return OwnerKey(payment.String() + "#" + strconv.Itoa(n))
}

// CancelOwnerKey is `<payment>/cancel#<n>`, n = refused cancels + 1.
func CancelOwnerKey(payment payments.PaymentID, n int) OwnerKey {
	return OwnerKey(payment.String() + "/cancel#" + strconv.Itoa(n))
}

// CaptureOwnerKey is `<payment>/capture#<n>` for a full capture, n = refused ones + 1.
func CaptureOwnerKey(payment payments.PaymentID, n int) OwnerKey {
	return OwnerKey(payment.String() + "/capture#" + strconv.Itoa(n))
}

// ReleaseOwnerKey is `<payment>/release`: of a hold captured in part, what is left is let go once.
func ReleaseOwnerKey(payment payments.PaymentID) OwnerKey {
	return OwnerKey(payment.String() + "/release")
}

// PartOwnerKey is `<payment>/<reference>` for a partial capture: what may rightly happen twice takes its own reference. One that would read as a key of the
// captures that have none, or begins with a slash, has a slash more in front: no name that a caller may choose meets another, or those.
func PartOwnerKey(payment payments.PaymentID, reference string) OwnerKey {
	if strings.HasPrefix(reference, "/") || strings.HasPrefix(reference, "capture#") || reference == "release" {
		reference = "/" + reference
	}
	return OwnerKey(payment.String() + "/" + reference)
}

// ReferencedOwnerKey is `<payment>/<reference>` for a refund: what may rightly happen twice takes its own reference.
func ReferencedOwnerKey(payment payments.PaymentID, reference string) OwnerKey {
	return OwnerKey(payment.String() + "/" + reference)
}

// PayoutOwnerKey is `<account>/<currency>/<reference>`.
func PayoutOwnerKey(account string, currency payments.Currency, reference string) OwnerKey {
	return OwnerKey(account + "/" + string(currency) + "/" + reference)
}

// ProvisioningOwnerKey is `<owner>` of a customer, `<owner>/<currency>` of a connected account and `<owner>/<currency>/<network>` of a wallet. Stripe's
// refusal leaves the owner without one: attempt n of the same, n = refused ones + 1, is the same key and, from 2 on, `#n`.
func ProvisioningOwnerKey(owner string, currency payments.Currency, network string, attempt int) OwnerKey {
	key := owner
	for _, part := range []string{string(currency), network} {
		if part != "" {
			key += "/" + part
		}
	}
	if attempt > 1 {
		key += "#" + strconv.Itoa(attempt)
	}
	return OwnerKey(key)
}

// RecordID is the id of the record of a business attempt.
func RecordID(tenant payments.TenantID, operation payments.Operation, owner OwnerKey) payments.RecordID {
	return payments.RecordID{UUID: derive("record", tenant.String(), string(operation), string(owner))}
}

// PaymentID is the id of the payment that a create command's attempt makes.
func PaymentID(tenant payments.TenantID, reference string, attempt int) payments.PaymentID {
	return payments.PaymentID{UUID: derive("payment", tenant.String(), reference, strconv.Itoa(attempt))}
}

// ResourceID is the id of a capture, refund, payout or provision: what the command of an owner key makes.
func ResourceID(tenant payments.TenantID, operation payments.Operation, owner OwnerKey) uuid.UUID {
	return derive("resource", tenant.String(), string(operation), string(owner))
}

// ProviderKey is what a call to Stripe is named by.
type ProviderKey struct {
	Tenant       payments.TenantID
	ResourceKind string // payment, capture, refund, payout, customer, connected_account
	ResourceID   uuid.UUID
	Operation    payments.Operation
	Attempt      int // what the caller wanted again, from 1
	Generation   int // proofs of absence, from 0
}

// IdempotencyKey is the key sent to Stripe.
func (k ProviderKey) IdempotencyKey() uuid.UUID {
	return derive("stripe", k.Tenant.String(), k.ResourceKind, k.ResourceID.String(), string(k.Operation),
		strconv.Itoa(k.Attempt), strconv.Itoa(k.Generation))
}

// NotificationID is the webhook-id of a message, for ever.
func NotificationID(tenant payments.TenantID, subject, kind string, endpoint uuid.UUID) uuid.UUID {
	return derive("notification", tenant.String(), subject, kind, endpoint.String())
}

// LedgerAccountID is the id of an account of the ledger.
func LedgerAccountID(tenant payments.TenantID, name string, currency payments.Currency) uuid.UUID {
	return derive("ledger account", tenant.String(), name, string(currency))
}

// PostingKey names the effect of a posting, unique within a tenant.
type PostingKey string

// CapturePostingKey is `capture/<charge>/<new total>`: a total can be reached once.
func CapturePostingKey(charge string, total int64) PostingKey {
	return PostingKey(fmt.Sprintf("capture/%s/%d", charge, total))
}

// HoldPostingKey is `payment/<id>/hold`.
func HoldPostingKey(payment payments.PaymentID) PostingKey {
	return PostingKey("payment/" + payment.String() + "/hold")
}

// HoldLeftPostingKey is `payment/<id>/hold/<left>`: what is held falls to an amount once.
func HoldLeftPostingKey(payment payments.PaymentID, left int64) PostingKey {
	return PostingKey(fmt.Sprintf("payment/%s/hold/%d", payment, left))
}

// RefundOutPostingKey is `refund/<id>/out`; RefundBackPostingKey its reversal.
func RefundOutPostingKey(refund uuid.UUID) PostingKey {
	return PostingKey("refund/" + refund.String() + "/out")
}

// RefundBackPostingKey is `refund/<id>/back`.
func RefundBackPostingKey(refund uuid.UUID) PostingKey {
	return PostingKey("refund/" + refund.String() + "/back")
}

// FeePostingKey is `fee/<balance transaction>`.
func FeePostingKey(balanceTransaction string) PostingKey {
	return PostingKey("fee/" + balanceTransaction)
}

// DisputePostingKey is `dispute/<id>/<balance transaction>`.
func DisputePostingKey(dispute, balanceTransaction string) PostingKey {
	return PostingKey("dispute/" + dispute + "/" + balanceTransaction)
}

// DisputeLostPostingKey is `dispute/<id>/lost`.
func DisputeLostPostingKey(dispute string) PostingKey {
	return PostingKey("dispute/" + dispute + "/lost")
}

// DisputeRegainedPostingKey is `dispute/<id>/lost/<left>`: what a dispute lost falls to an amount once.
func DisputeRegainedPostingKey(dispute string, left int64) PostingKey {
	return PostingKey(fmt.Sprintf("dispute/%s/lost/%d", dispute, left))
}

// FXPostingKey is `fx/<balance transaction>`: the exchange of what settled in another currency.
func FXPostingKey(balanceTransaction string) PostingKey {
	return PostingKey("fx/" + balanceTransaction)
}

// PayoutOutPostingKey is `payout/<id>/out`; PayoutBackPostingKey its reversal.
func PayoutOutPostingKey(payout uuid.UUID) PostingKey {
	return PostingKey("payout/" + payout.String() + "/out")
}

// PayoutBackPostingKey is `payout/<id>/back`.
func PayoutBackPostingKey(payout uuid.UUID) PostingKey {
	return PostingKey("payout/" + payout.String() + "/back")
}

// ReversePostingKey is `reverse/<journal>`; with a part from 1, `reverse/<journal>/<part>`.
func ReversePostingKey(journal uuid.UUID, part int) PostingKey {
	if part == 0 {
		return PostingKey("reverse/" + journal.String())
	}
	return PostingKey("reverse/" + journal.String() + "/" + strconv.Itoa(part))
}

// SuspensePostingKey is `suspense/<charge>/<new total>`: money of an object that was quarantined.
func SuspensePostingKey(charge string, total int64) PostingKey {
	return PostingKey(fmt.Sprintf("suspense/%s/%d", charge, total))
}

// PaymentWorkflowID is the workflow that runs a payment.
func PaymentWorkflowID(payment payments.PaymentID) string { return "payment/" + payment.String() }

// SyncWorkflowID is the workflow of work on a payment that is over.
func SyncWorkflowID(payment payments.PaymentID) string { return "sync/" + payment.String() }
