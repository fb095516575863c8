package payments

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
)

// ProvisionID names a provision: UUIDv5 over the identity of the first command that asked for it.
type ProvisionID struct{ uuid.UUID }

// ProvisionKind is what is linked to an owner, in Stripe's words where it has them.
type ProvisionKind string

// The kinds.
const (
	ProvisionCustomer         ProvisionKind = "customer"          // one an owner (https://docs.stripe.com/api/customers)
	ProvisionConnectedAccount ProvisionKind = "connected_account" // one an owner and currency (https://docs.stripe.com/api/accounts)
	ProvisionWallet           ProvisionKind = "wallet"            // one an owner, currency and network: a guarded account of our ledger
)

// ProvisionKinds lists every kind.
func ProvisionKinds() []ProvisionKind {
	return []ProvisionKind{ProvisionCustomer, ProvisionConnectedAccount, ProvisionWallet}
}

// ProvisionKindOf is the kind that an operation makes; false for an operation that makes none.
func ProvisionKindOf(operation Operation) (ProvisionKind, bool) {
	for _, kind := range ProvisionKinds() {
		if kind.Operation() == operation {
			return kind, true
		}
	}
	return "", false
}

// Operation is the command that makes one.
func (k ProvisionKind) Operation() Operation {
	switch k {
	case ProvisionCustomer:
		return OperationCustomer
	case ProvisionConnectedAccount:
		return OperationConnectedAccount
	default:
		return OperationWallet
	}
}

// AtStripe tells whether Stripe makes it; a wallet is ours alone.
func (k ProvisionKind) AtStripe() bool { return k != ProvisionWallet }

// Path is where it is made and, with its id behind, read.
func (k ProvisionKind) Path() string { return "/v1/" + string(k) + "s" }

// Metadata is the name of the metadata by which it is found again at Stripe.
func (k ProvisionKind) Metadata() string { return MetadataPrefix + string(k) }

// ProvisionCommand asks for something to be linked to an owner. Its kind is that of the operation.
type ProvisionCommand struct {
	Kind     ProvisionKind `json:"-"`
	Owner    string        `json:"owner"`              // who, in the caller's words: see IsOwnerName
	Currency Currency      `json:"currency,omitempty"` // not of a customer
	Network  string        `json:"network,omitempty"`  // of a wallet
	Country  string        `json:"country,omitempty"`  // of a connected account: ISO 3166-1, two capitals
	Email    *string       `json:"email,omitempty"`    // not of a wallet
	Name     *string       `json:"name,omitempty"`     // of a customer
}

// ProvisionStatus is what a provision is. There is no way back from linked.
type ProvisionStatus string

// The statuses.
const (
	ProvisionSubmitted ProvisionStatus = "submitted"
	ProvisionLinked    ProvisionStatus = "linked"  // for ever
	ProvisionRefused   ProvisionStatus = "refused" // by Stripe: nothing was made, and the owner may be provisioned anew
)

// Provision is a row of provisions: what is linked to an owner.
type Provision struct {
	ID         ProvisionID
	Tenant     TenantID
	Kind       ProvisionKind
	Owner      string
	Currency   Currency // empty of a customer
	Network    string   // empty of all but a wallet
	Country    string   // empty of all but a connected account
	Account    Account  // the tenant's when it was asked for, pinned
	Record     RecordID // of the newest command
	Attempt    int      // of the newest command, from 1: one more than Stripe refused
	Status     ProvisionStatus
	ProviderID string // cus_… or acct_…; empty until linked, and of a wallet
	LastError  *ProviderError
	Review     *Review
	CreatedAt  time.Time
}

// LedgerAccount is the wallet's account of our ledger, as ledger.Wallet names it; empty of the other kinds.
func (p Provision) LedgerAccount() string {
	if p.Kind != ProvisionWallet {
		return ""
	}
	return strings.Join([]string{string(ProvisionWallet), p.Owner, p.Network}, ":")
}

// ProvisionView is a provision as callers see it: no e-mail and no name.
type ProvisionView struct {
	ID               ProvisionID     `json:"id"`
	Object           ProvisionKind   `json:"object"` // customer, connected_account or wallet
	Owner            string          `json:"owner"`
	Currency         Currency        `json:"currency,omitempty"`
	Network          string          `json:"network,omitempty"`
	Country          string          `json:"country,omitempty"`
	Status           ProvisionStatus `json:"status"`
	Customer         string          `json:"customer,omitempty"`          // Stripe's id, cus_…
	ConnectedAccount string          `json:"connected_account,omitempty"` // Stripe's id, acct_…
	LedgerAccount    string          `json:"ledger_account,omitempty"`    // of a wallet
	Available        *int64          `json:"available,omitempty"`         // of a wallet that is read: what is owed to the owner, minor units
	LastError        *ProviderError  `json:"last_error,omitempty"`
	Livemode         bool            `json:"livemode"`
	CreatedAt        time.Time       `json:"created_at"`
}

// View shows the provision.
func (p Provision) View() ProvisionView {
	view := ProvisionView{
		ID: p.ID, Object: p.Kind, Owner: p.Owner, Currency: p.Currency, Network: p.Network, Country: p.Country, Status: p.Status,
		LedgerAccount: p.LedgerAccount(), LastError: p.LastError, Livemode: p.Account.Livemode, CreatedAt: p.CreatedAt,
	}
	switch p.Kind {
	case ProvisionCustomer:
		view.Customer = p.ProviderID
	case ProvisionConnectedAccount:
		view.ConnectedAccount = p.ProviderID
	case ProvisionWallet:
	}
	return view
}

// Outcome is the answer to the command that asked for the provision: 201, or 402 for a definite refusal by Stripe.
func (p Provision) Outcome() (code int, contentType string, body []byte, err error) {
	if p.Status == ProvisionRefused {
		message := ""
		if p.LastError != nil {
			message = p.LastError.Message
		}
		body, err = json.Marshal(NewProblem(http.StatusPaymentRequired, string(FailureProviderRefused), message))
		return http.StatusPaymentRequired, ContentTypeProblem, body, encoding(err)
	}
	body, err = json.Marshal(p.View())
	return http.StatusCreated, ContentTypeJSON, body, encoding(err)
}

// Bounds of the names, in bytes: those of a wallet's account in the ledger.
const (
	maxOwnerName   = 128
	maxNetworkName = 32
)

// IsOwnerName tells whether a text can name an owner: 1 to 128 letters, digits, dots, dashes and underscores.
func IsOwnerName(text string) bool {
	return len(text) <= maxOwnerName && consistsOf(text, func(r rune) bool { return small(r) || r >= 'A' && r <= 'Z' || r == '.' })
}

// IsNetworkName tells whether a text can name a network: 1 to 32 small letters, digits, dashes and underscores.
func IsNetworkName(text string) bool { return len(text) <= maxNetworkName && consistsOf(text, small) }

func small(r rune) bool { return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' }

func consistsOf(text string, permitted func(rune) bool) bool {
	return text != "" && strings.IndexFunc(text, func(r rune) bool { return !permitted(r) }) < 0
}
