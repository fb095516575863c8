package client_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"payonce/client"
	"payonce/payments"
)

func provisioned(kind payments.ProvisionKind) client.Provision {
	return client.Provision{ID: client.ProvisionID{UUID: uuid.NewSHA1(uuid.NameSpaceURL, []byte(kind))}, Object: kind, Owner: "owner-1", Status: payments.ProvisionLinked}
}

// Each creation goes to its place with its key, and is repeated as it was until it is answered.
func TestEachProvisionGoesToItsPlace(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for kind, create := range map[payments.ProvisionKind]func(*client.Client) (client.ProvisionAnswer, error){
		payments.ProvisionCustomer: func(c *client.Client) (client.ProvisionAnswer, error) {
			return c.CreateCustomer(ctx, client.KeyFor("owner-1", client.ActionCreateCustomer), client.CreateCustomer{Owner: "owner-1"})
		},
		payments.ProvisionConnectedAccount: func(c *client.Client) (client.ProvisionAnswer, error) {
			return c.CreateConnectedAccount(ctx, client.KeyFor("owner-1/usd", client.ActionCreateConnectedAccount),
				client.CreateConnectedAccount{Owner: "owner-1", Currency: "usd", Country: "US"})
		},
		payments.ProvisionWallet: func(c *client.Client) (client.ProvisionAnswer, error) {
			return c.CreateWallet(ctx, client.KeyFor("owner-1/usd/main", client.ActionCreateWallet),
				client.CreateWallet{Owner: "owner-1", Currency: "usd", Network: "main"})
		},
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			s := newServer(t, loses, answers(http.StatusCreated, nil, provisioned(kind)))
			answer, err := create(s.client)
			require.NoError(t, err)
			require.True(t, answer.Settled)
			require.Equal(t, provisioned(kind), answer.Provision)
			sends := s.requests()
			require.Len(t, sends, 2)
			require.Equal(t, sends[0], sends[1])
			require.Equal(t, kind.Path(), sends[0].path)
		})
	}
}

func TestAProvisionThatIsRefusedIsAnError(t *testing.T) {
	t.Parallel()
	s := newServer(t, refuses(http.StatusConflict, client.CodeOwnerConflict, nil))
	_, err := s.client.CreateCustomer(t.Context(), client.KeyFor("owner-1", client.ActionCreateCustomer), client.CreateCustomer{Owner: "owner-1"})
	require.Equal(t, client.CodeOwnerConflict, client.CodeOf(err))
}

func TestAProvisionIsReadAsWhatItIs(t *testing.T) {
	t.Parallel()
	s := newServer(t, answers(http.StatusOK, nil, provisioned(payments.ProvisionWallet)), answers(http.StatusOK, nil, provisioned(payments.ProvisionCustomer)),
		answers(http.StatusOK, nil, provisioned(payments.ProvisionConnectedAccount)))
	id := provisioned(payments.ProvisionWallet).ID
	wallet, err := s.client.Wallet(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, payments.ProvisionWallet, wallet.Object)
	customer, err := s.client.Customer(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, payments.ProvisionCustomer, customer.Object)
	account, err := s.client.ConnectedAccount(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, payments.ProvisionConnectedAccount, account.Object)
	require.Equal(t, "/v1/connected_accounts/"+id.String(), s.requests()[2].path)
}
