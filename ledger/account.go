package ledger

import (
	"fmt"
	"path"

	"github.com/google/uuid"

	"payonce/boundaries"
	"payonce/payments"
)

// AccountName names an account of a tenant's chart; together with a currency it is one account.
type AccountName string

// The chart. A debit is positive and a credit negative, so what others owe us has a positive balance and what we owe a negative one.
const (
	StripeReceivable AccountName = "stripe:receivable" // free: what Stripe holds for the tenant
	MerchantBalance  AccountName = "merchant:balance"  // guarded: what is owed to the merchant
	StripeFees       AccountName = "fees:stripe"       // free: what Stripe kept
	DisputesHeld     AccountName = "disputes:held"     // free: withdrawn and not decided
	DisputesLost     AccountName = "disputes:lost"     // free: withdrawn for good
	BankSettlement   AccountName = "bank:settlement"   // free: paid out to the bank
	SuspenseMoney    AccountName = "suspense"          // free: money of an object that fits no payment
)

// FX names the account through which money of one currency becomes another: it holds both legs, each in its own currency.
func FX(from, to payments.Currency) AccountName {
	return AccountName(fmt.Sprintf("fx:%s:%s", from, to))
}

// Kind says what a posting to an account costs.
type Kind string

const (
	// Free accounts take no lock: their balance is the roll-up and the tail.
	Free Kind = "free"
	// Guarded accounts are owed to somebody, so a credit raises and a debit lowers what is available. Only what lowers takes a lock.
	Guarded Kind = "guarded"
)

// KindOf is the kind of the account, or an error for a name outside the chart.
func KindOf(name AccountName) (Kind, error) {
	switch name {
	case MerchantBalance:
		return Guarded, nil
	case StripeReceivable, StripeFees, DisputesHeld, DisputesLost, BankSettlement, SuspenseMoney:
		return Free, nil
	}
	if matched, err := path.Match("fx:[a-z][a-z][a-z]:[a-z][a-z][a-z]", string(name)); err == nil && matched {
		return Free, nil
	}
	return "", fmt.Errorf("%w: %q", ErrUnknownAccount, name)
}

// accountID is the id of the tenant's account in a currency.
func accountID(tenant payments.TenantID, name AccountName, currency payments.Currency) uuid.UUID {
	return boundaries.LedgerAccountID(tenant, string(name), currency)
}
