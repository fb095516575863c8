package client_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/client"
	"payonce/internal/testkit/system"
	"payonce/payments"
)

// A seller's wallet is provisioned, gets its part of an order, and gives back its part of what is refunded, over a line that loses requests and answers.
func TestAnOrderIsSharedWithASellersWallet(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	checkout := lossy(t, s)
	created, err := checkout.CreateWallet(t.Context(), client.KeyFor("seller-1/usd/stripe", client.ActionCreateWallet),
		client.CreateWallet{Owner: "seller-1", Currency: "usd", Network: "stripe"})
	require.NoError(t, err)
	shared := order()
	shared.Amount = 1000
	shared.Destinations = []client.Destination{
		{Account: created.Provision.LedgerAccount, Amount: 900}, {Account: payments.MerchantDestination, Amount: 100},
	}
	answer, err := checkout.CreatePayment(t.Context(), client.IntentKey("checkout-1"), shared)
	require.NoError(t, err)
	paid, err := checkout.AwaitEnd(t.Context(), answer.Payment.ID)
	require.NoError(t, err)
	require.Equal(t, shared.Destinations, paid.Destinations)

	back, err := checkout.CreateRefund(t.Context(), client.RefundKey("order-1", "return-1"), paid.ID, client.CreateRefund{Amount: 500, Reference: "return-1"})
	require.NoError(t, err)
	require.Equal(t, []client.Destination{
		{Account: created.Provision.LedgerAccount, Amount: 450}, {Account: payments.MerchantDestination, Amount: 50},
	}, back.Refund.TakenFrom)
	s.Settle()
	wallet, err := checkout.Wallet(t.Context(), created.Provision.ID)
	require.NoError(t, err)
	require.EqualValues(t, 450, *wallet.Available)

	shared.Reference = "order-2"
	shared.Destinations[0].Account = "wallet:seller-2:stripe"
	_, err = checkout.CreatePayment(t.Context(), client.IntentKey("checkout-2"), shared)
	require.Equal(t, client.CodeFieldInvalid, client.CodeOf(err), "the seller has no wallet")
}
