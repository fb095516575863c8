package activities

import (
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/payments"
)

// What we reserve counts beside a refund that was made elsewhere while there is room for both. Where there is not, Stripe will refuse ours, and the other
// takes what it would have taken without.
func TestARefundMadeElsewhereIsTakenBesideWhatFits(t *testing.T) {
	t.Parallel()
	among := func(first, second int64) []payments.Destination {
		return []payments.Destination{{Account: "wallet:seller-1:stripe", Amount: first}, {Account: payments.MerchantDestination, Amount: second}}
	}
	refund := func(status payments.RefundStatus, id string, first, second int64) payments.Refund {
		return payments.Refund{
			Status: status, ProviderID: id, TakenFrom: among(first, second), Money: payments.Money{Amount: first + second, Currency: "usd"},
		}
	}
	p := payments.Payment{Destinations: among(501, 499), AmountCaptured: 1000}
	for name, c := range map[string]struct {
		others []payments.Refund
		amount int64
		from   []payments.Destination
	}{
		"alone":                      {nil, 1000, among(501, 499)},
		"beside one that was made":   {[]payments.Refund{refund(payments.RefundSucceeded, "re_1", 1, 0)}, 999, among(500, 499)},
		"beside one that we reserve": {[]payments.Refund{refund(payments.RefundSubmitted, "", 1, 0)}, 999, among(500, 499)},
		"instead of what we reserve": {[]payments.Refund{refund(payments.RefundSubmitted, "", 301, 299)}, 600, among(301, 299)},
		"after one that failed":      {[]payments.Refund{refund(payments.RefundFailed, "re_1", 501, 499)}, 1000, among(501, 499)},
		"before its capture": {
			[]payments.Refund{refund(payments.RefundSucceeded, "re_1", 501, 499)}, 1, []payments.Destination{{Account: "wallet:seller-1:stripe", Amount: 1}},
		},
	} {
		require.Equal(t, c.from, takenFrom(p, c.others, c.amount), name)
	}
	require.Empty(t, takenFrom(payments.Payment{AmountCaptured: 1000}, nil, 1000), "the merchant all of it")
}
