package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"payonce/ledger"
	"payonce/payments"
)

// sellers are the owners of the wallets that shared orders go to, beside the merchant.
func sellers() []string { return []string{"seller-1", "seller-2"} }

// network is that of the sellers' wallets.
const network = "stripe"

// addSellers provisions the sellers' wallets in every currency that shared orders have: once for ever, however many runs ask for them.
func (s *session) addSellers(ctx context.Context) error {
	backend := newClient(s.stack.APIURL, s.stack.APIKey)
	defer backend.close()
	for _, seller := range sellers() {
		for i := range 3 {
			currency := PlanShared.currency(i)
			body, err := json.Marshal(map[string]string{"owner": seller, "currency": currency, "network": network})
			if err != nil {
				panic(err) // strings
			}
			got, err := backend.further(ctx, "/v1/wallets", fmt.Sprintf("run-%d-%s-%s", s.run, seller, currency), body)
			switch {
			case err != nil:
				return fmt.Errorf("provision %s: %w", seller, err)
			case got.Status != http.StatusCreated && got.Status != http.StatusOK: // after an earlier run's replay window
				return fmt.Errorf("provision %s: answered %d %s", seller, got.Status, got.Body)
			}
		}
	}
	return nil
}

// Destinations are where the order's money goes: a third to each seller and to the merchant, or all of it to the merchant.
func (o Order) Destinations() []payments.Destination {
	if o.Plan != PlanShared && o.Plan != PlanSharedRefund {
		return nil
	}
	var destinations []payments.Destination
	for _, seller := range sellers() {
		destinations = append(destinations, payments.Destination{Account: string(ledger.Wallet(seller, network)), Amount: o.third()})
	}
	return append(destinations, payments.Destination{Account: payments.MerchantDestination, Amount: o.third()})
}

// ToSellers is what the sellers must be owed in the end, in minor units: what they got, less what was taken back from them.
func (o Order) ToSellers() int64 {
	owed := int64(0)
	if o.Destinations() == nil {
		return owed
	}
	shares, err := payments.NewShares(o.Destinations()...)
	if err != nil {
		panic(err) // thirds of an order
	}
	for _, got := range shares.Between(o.Refunded(), o.Captured()) {
		if got.Account != payments.MerchantDestination {
			owed += got.Amount
		}
	}
	return owed
}
