package ledger

import (
	"fmt"
	"path"
	"strings"

	"github.com/google/uuid"

	"payonce/boundaries"
	"payonce/payments"
)

// AccountName names an account of a tenant's chart; together with a currency it is one account.
type AccountName string

// The chart. A debit is positive and a credit negative, so what others owe us has a positive balance and what we owe a negative one.
const (
	StripeReceivable AccountName = "stripe:receivable"          // free: what Stripe holds for the tenant
	MerchantBalance  AccountName = payments.MerchantDestination // guarded: what is owed to the merchant
	StripeFees       AccountName = "fees:stripe"                // free: what Stripe kept
	DisputesHeld     AccountName = "disputes:held"              // free: withdrawn and not decided
	DisputesLost     AccountName = "disputes:lost"              // free: withdrawn for good
	BankSettlement   AccountName = "bank:settlement"            // free: paid out to the bank
	SuspenseMoney    AccountName = "suspense"                   // free: money of an object that fits no payment
)

// The pending side: what a hold would bring if it were captured. Nobody owes it yet, so no balance of the posted side knows it.
const (
	StripeReceivablePending AccountName = "stripe:receivable:pending" // free: what Stripe would hold for the tenant
	MerchantBalancePending  AccountName = "merchant:balance:pending"  // free: what would be owed to the merchant
)

// pending tells whether the account is of the pending side.
func (n AccountName) pending() bool {
	return n == StripeReceivablePending || n == MerchantBalancePending
}

// Wallet names a destination's account: what is owed to an owner through a network. A payment may send its money there.
func Wallet(owner, network string) AccountName { return AccountName("wallet:" + owner + ":" + network) }

// Bounds of a wallet's names, in bytes.
const (
	maxWalletOwner   = 128
	maxWalletNetwork = 32
)

// wallet tells whether the account is a wallet: an owner of letters, digits, dots, dashes and underscores, and a network of the same without
// capitals and dots.
func (n AccountName) wallet() bool {
	name, is := strings.CutPrefix(string(n), "wallet:")
	owner, network, both := strings.Cut(name, ":")
	small := func(r rune) bool { return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' }
	wide := func(r rune) bool { return small(r) || r >= 'A' && r <= 'Z' || r == '.' }
	return is && both && len(owner) <= maxWalletOwner && len(network) <= maxWalletNetwork && consistsOf(owner, wide) && consistsOf(network, small)
}

// consistsOf tells whether the text has letters, and only permitted ones.
func consistsOf(text string, permitted func(rune) bool) bool {
	return text != "" && strings.IndexFunc(text, func(r rune) bool { return !permitted(r) }) < 0
}

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
	case StripeReceivable, StripeFees, DisputesHeld, DisputesLost, BankSettlement, SuspenseMoney, StripeReceivablePending, MerchantBalancePending:
		return Free, nil
	}
	if name.wallet() {
		return Guarded, nil
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
