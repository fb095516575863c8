package boundaries

import (
	"fmt"
	"time"

	"payonce/payments"
)

// Answer is a command's stored outcome: what every caller is sent, byte for byte.
type Answer struct {
	Code    int
	Headers map[string]string
	Body    []byte
}

// Claim is what a caller's key got: which record it names and what the caller is to do.
type Claim struct {
	Outcome    Outcome // Acquired also for a fresh key that attached to an open record: wait for it
	Tenant     payments.TenantID
	Operation  payments.Operation
	Record     payments.RecordID
	Payment    payments.PaymentID
	Answer     *Answer       // with Replay, nil when the replay window is over: show the resource as it is now; and with Acquired, of what the claim did whole
	RetryAfter time.Duration // with InProgress
	Over       bool          // with Acquired: the payment has ended, so the command is decided in Postgres, not by a workflow
}

// ConflictCode is a stable word for why a command may not be claimed.
type ConflictCode string

// The conflicts; none is stored and none burns a key.
const (
	ConflictReference        ConflictCode = "reference_conflict" // the reference is taken by other content, or its attempt is still open
	ConflictReferenceEnded   ConflictCode = "reference_ended"    // the reference has succeeded: nothing replaces it
	ConflictReplacesUnknown  ConflictCode = "replaces_unknown"   // the replaced payment is not one of this reference
	ConflictPaymentSucceeded ConflictCode = payments.CodePaymentSucceeded
	ConflictPaymentEnded     ConflictCode = payments.CodePaymentEnded    // it is over without money, or about to be
	ConflictUnexpectedState  ConflictCode = payments.CodeUnexpectedState // its state rules the command out for now
	ConflictOwner            ConflictCode = "owner_conflict"             // the owner has been provisioned with other content
	ConflictAmountTooLarge   ConflictCode = payments.CodeAmountTooLarge  // more than is held, or than may be given back
)

// ConflictError refuses a command that contradicts what its reference or payment already holds.
type ConflictError struct {
	Code    ConflictCode
	Payment payments.PaymentID // the one in the way; zero with ConflictReplacesUnknown
	Status  payments.Status    // what that one is; empty where it does not matter
	Detail  string             // what else the caller may know; may be empty
}

// AmountError refuses an amount that the payment's currency rules out, before anything is claimed.
type AmountError struct{ Reason string }

func (e *AmountError) Error() string { return "amount " + e.Reason }

// DestinationError refuses a create that names a wallet which the tenant has not in the currency, before anything is claimed.
type DestinationError struct {
	Index    int // among the destinations, from 0
	Account  string
	Currency payments.Currency
}

func (e *DestinationError) Error() string {
	return fmt.Sprintf("destinations[%d].account %s is no wallet of this tenant in %s", e.Index, e.Account, e.Currency)
}

// CustomerError refuses a create whose customer is none of the tenant's that is linked, before anything is claimed.
type CustomerError struct{ Customer payments.ProvisionID }

func (e *CustomerError) Error() string {
	return fmt.Sprintf("customer %s is no customer of this tenant that is linked", e.Customer)
}

func (e *ConflictError) Error() string { return fmt.Sprintf("%s: payment %s", e.Code, e.Payment) }
