package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/google/uuid"

	"payonce/payments"
)

// Provision is what is linked to an owner, for ever: a customer, a connected account or a wallet, which its Object tells.
type Provision = payments.ProvisionView

// ProvisionID names a provision.
type ProvisionID = payments.ProvisionID

// CreateCustomer asks for the owner's customer at Stripe. An owner has one.
type CreateCustomer struct {
	Owner string `json:"owner"`           // who, in your words: 1 to 128 letters, digits, dots, dashes and underscores
	Email string `json:"email,omitempty"` // goes to Stripe and is not shown again
	Name  string `json:"name,omitempty"`  // the same
}

// CreateConnectedAccount asks for the owner's connected account at Stripe. An owner has one a currency.
type CreateConnectedAccount struct {
	Owner    string            `json:"owner"`
	Currency payments.Currency `json:"currency"` // ISO 4217
	Country  string            `json:"country"`  // ISO 3166-1, two capitals
	Email    string            `json:"email,omitempty"`
}

// CreateWallet asks for the owner's wallet in the ledger. An owner has one a currency and network.
type CreateWallet struct {
	Owner    string            `json:"owner"`
	Currency payments.Currency `json:"currency"` // ISO 4217
	Network  string            `json:"network"`  // 1 to 32 small letters, digits, dashes and underscores
}

// ProvisionAnswer is what a creation was answered when it was not refused.
type ProvisionAnswer struct {
	Provision Provision // as of the answer
	Status    int       // HTTP: 201, 200 after the replay window, 202 while unsettled
	Settled   bool      // it is linked. Otherwise repeat the call with the same key
	Replayed  bool      // the stored answer of an earlier request, byte for byte
	RequestID string    // for whoever reads our logs
}

// CreateCustomer links a customer to its owner once, whatever the key: KeyFor(owner, ActionCreateCustomer) is one. Other content than the owner's first is
// refused with CodeOwnerConflict, and what Stripe does not take with CodeProviderRefused; then nothing is linked, and IntentKey names another try. The
// errors are those of CreatePayment.
func (c *Client) CreateCustomer(ctx context.Context, key Key, create CreateCustomer) (ProvisionAnswer, error) {
	return c.provision(ctx, payments.ProvisionCustomer, key, create)
}

// CreateConnectedAccount is CreateCustomer for a connected account: KeyFor(owner+"/"+currency, ActionCreateConnectedAccount) is a key of it.
func (c *Client) CreateConnectedAccount(ctx context.Context, key Key, create CreateConnectedAccount) (ProvisionAnswer, error) {
	return c.provision(ctx, payments.ProvisionConnectedAccount, key, create)
}

// CreateWallet is CreateCustomer for a wallet, of which Stripe is not asked: KeyFor(owner+"/"+currency+"/"+network, ActionCreateWallet) is a key of it.
func (c *Client) CreateWallet(ctx context.Context, key Key, create CreateWallet) (ProvisionAnswer, error) {
	return c.provision(ctx, payments.ProvisionWallet, key, create)
}

func (c *Client) provision(ctx context.Context, kind payments.ProvisionKind, key Key, create any) (ProvisionAnswer, error) {
	command, err := c.write(kind.Path(), key, create)
	if err != nil {
		return ProvisionAnswer{}, err
	}
	return exchange(ctx, c, *command, func(r reply) (ProvisionAnswer, error) { return r.provisionAnswer(kind) })
}

// Customer reads a customer as it is now. The errors are ErrNoAnswer and *RefusedError.
func (c *Client) Customer(ctx context.Context, id ProvisionID) (Provision, error) {
	return c.readProvision(ctx, payments.ProvisionCustomer, id)
}

// ConnectedAccount reads a connected account as it is now. The errors are ErrNoAnswer and *RefusedError.
func (c *Client) ConnectedAccount(ctx context.Context, id ProvisionID) (Provision, error) {
	return c.readProvision(ctx, payments.ProvisionConnectedAccount, id)
}

// Wallet reads a wallet as it is now, with what is available: what is owed to its owner. The errors are ErrNoAnswer and *RefusedError.
func (c *Client) Wallet(ctx context.Context, id ProvisionID) (Provision, error) {
	return c.readProvision(ctx, payments.ProvisionWallet, id)
}

func (c *Client) readProvision(ctx context.Context, kind payments.ProvisionKind, id ProvisionID) (Provision, error) {
	return exchange(ctx, c, request{method: http.MethodGet, path: kind.Path() + "/" + id.String()}, func(r reply) (Provision, error) {
		if r.status != http.StatusOK {
			return Provision{}, r.refusal()
		}
		return r.provision(kind)
	})
}

func (r reply) provisionAnswer(kind payments.ProvisionKind) (ProvisionAnswer, error) {
	switch r.status {
	case http.StatusOK, http.StatusCreated, http.StatusAccepted:
	default:
		return ProvisionAnswer{}, r.refusal()
	}
	answer := ProvisionAnswer{Status: r.status, Settled: r.status != http.StatusAccepted, Replayed: r.replayed(), RequestID: r.requestID()}
	var err error
	answer.Provision, err = r.provision(kind)
	return answer, err
}

// provision reads a provision. What is none was cut, or written by something between us.
func (r reply) provision(kind payments.ProvisionKind) (Provision, error) {
	var provision Provision
	if err := json.Unmarshal(r.body, &provision); err != nil {
		return Provision{}, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	if provision.Object != kind || provision.ID.UUID == uuid.Nil {
		return Provision{}, fmt.Errorf("%w: not a %s", errUnreadable, kind)
	}
	return provision, nil
}
