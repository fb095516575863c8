package payments_test

import (
	"strings"
	"testing"

	iso "github.com/bojanz/currency"
	"github.com/stretchr/testify/require"

	"payonce/payments"
)

// The library counts as ISO 4217 does. Each currency in which our unit is another one is here with the reason, and so is each that the library does
// not know; one that leaves a list or joins it is found.
func TestUnitsDifferFromTheLibraryOnlyWhereItIsSaid(t *testing.T) {
	differs := map[payments.Currency]string{
		"isk": "Stripe kept the hundredths of before, which are always 00",
		"ugx": "Stripe kept the hundredths of before, which are always 00",
		"mga": "the minor unit is a fifth and nobody pays it: Stripe counts whole ones",
	}
	unknown := map[payments.Currency]string{
		"ang": "replaced by xcg in 2025, and still listed by Stripe",
		"bgn": "replaced by eur in 2026, with payments of before to refund",
		"std": "replaced by stn in 2018, and listed by Stripe until 2025",
	}
	for _, currency := range payments.Currencies() {
		digits, known := iso.GetDigits(strings.ToUpper(string(currency)))
		require.Equal(t, !known, unknown[currency] != "", "%s, which the library knows: %t", currency, known)
		if !known {
			require.Equal(t, currency.ISODecimals(), currency.Decimals(), currency)
			continue
		}
		require.EqualValues(t, digits, currency.ISODecimals(), currency)
		require.Equal(t, currency.Decimals() != currency.ISODecimals(), differs[currency] != "", "%s counts %d decimals", currency, currency.Decimals())
	}
}

func TestEachDebitSchemeRunsInItsOwnCurrency(t *testing.T) {
	home := map[string]payments.Currency{
		payments.MethodTypeUSBank: "usd", payments.MethodTypeSEPADebit: "eur", payments.MethodTypeBECSDebit: "aud",
	}
	for _, kind := range payments.MethodTypes() {
		for _, currency := range payments.Currencies() {
			err := currency.CheckMethods([]string{payments.MethodTypeCard, kind})
			if only, debit := home[kind]; debit && only != currency {
				require.ErrorContains(t, err, string(only), "%s in %s", kind, currency)
			} else {
				require.NoError(t, err, "%s in %s", kind, currency)
			}
		}
	}
	require.Error(t, payments.Currency("usd").CheckMethods([]string{"giropay"}))
	require.NoError(t, payments.Currency("usd").CheckMethods(nil))
}

func TestCurrencyIsReadInAnyLetterCase(t *testing.T) {
	currency, err := payments.ParseCurrency("USD")
	require.NoError(t, err)
	require.Equal(t, payments.Currency("usd"), currency)
	for _, refused := range []string{"doubloons", "", "mru", "usd "} {
		_, err = payments.ParseCurrency(refused)
		require.Error(t, err, refused)
	}
}
