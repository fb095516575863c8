package payments_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/payments"
)

func TestAmountsThatStripeWouldNotTakeAreRefused(t *testing.T) {
	for _, refused := range []payments.Money{
		{Amount: 0, Currency: "usd"}, {Amount: -5, Currency: "usd"}, {Amount: 49, Currency: "usd"},
		{Amount: 100_000_000, Currency: "usd"}, {Amount: 5124, Currency: "kwd"}, {Amount: 1, Currency: "jpy"}, {Amount: 100, Currency: "xxx"},
	} {
		require.Error(t, refused.Validate(), "%+v", refused)
	}
	for _, taken := range []payments.Money{
		{Amount: 50, Currency: "usd"}, {Amount: 99_999_999, Currency: "usd"}, {Amount: 80, Currency: "jpy"}, {Amount: 18600, Currency: "kwd"},
	} {
		require.NoError(t, taken.Validate(), "%+v", taken)
	}
}

func TestCurrencyIsReadInAnyLetterCase(t *testing.T) {
	currency, err := payments.ParseCurrency("USD")
	require.NoError(t, err)
	require.Equal(t, payments.Currency("usd"), currency)
	_, err = payments.ParseCurrency("doubloons")
	require.Error(t, err)
}

func TestSumsAreRefusedRatherThanWrapped(t *testing.T) {
	_, err := payments.Add(math.MaxInt64, 1)
	require.ErrorIs(t, err, payments.ErrOverflow)
	_, err = payments.Add(math.MinInt64, -1)
	require.ErrorIs(t, err, payments.ErrOverflow)
	sum, err := payments.Add(math.MaxInt64-1, 1)
	require.NoError(t, err)
	require.Equal(t, int64(math.MaxInt64), sum)
}
