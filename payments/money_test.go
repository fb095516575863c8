package payments_test

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/payments"
)

func money(amount int64, currency payments.Currency) payments.Money {
	return payments.Money{Amount: amount, Currency: currency}
}

func TestAmountsThatStripeWouldNotTakeAreRefused(t *testing.T) {
	for _, refused := range []payments.Money{
		money(0, "usd"), money(-5, "usd"), money(49, "usd"), money(100_000_000, "usd"), money(5124, "kwd"), money(1, "jpy"), money(100, "xxx"),
		money(550, "isk"), money(50, "ugx"), money(17_499, "huf"), money(1_000_000_000_000, "idr"), money(5, "bhd"),
	} {
		require.Error(t, refused.Validate(), "%+v", refused)
	}
	for _, taken := range []payments.Money{
		money(50, "usd"), money(99_999_999, "usd"), money(80, "jpy"), money(18_600, "kwd"), money(5120, "bhd"), money(500, "isk"), money(100, "ugx"),
		money(17_545, "huf"), money(1, "mga"), money(3_000_000_000, "idr"),
	} {
		require.NoError(t, taken.Validate(), "%+v", taken)
	}
}

// B-14: a part of a charge knows no minimum, and the currency's step.
func TestPartsOfAChargeAreRefusedWhereStripeWouldNotTakeThem(t *testing.T) {
	for _, refused := range []payments.Money{
		money(0, "usd"), money(-1, "usd"), money(15, "kwd"), money(150, "isk"), money(100_000_000, "usd"), money(1, "xxx"),
	} {
		require.Error(t, refused.ValidatePart(), "%+v", refused)
	}
	for _, taken := range []payments.Money{money(1, "usd"), money(30, "jpy"), money(20, "kwd"), money(100, "ugx"), money(1, "huf")} {
		require.NoError(t, taken.ValidatePart(), "%+v", taken)
	}
}

func TestPayoutsOfSomeCurrenciesAreWhole(t *testing.T) {
	for _, currency := range []payments.Currency{"huf", "twd", "isk", "ugx"} {
		require.NoError(t, money(1000, currency).ValidatePayout(), currency)
		require.Error(t, money(1045, currency).ValidatePayout(), currency)
	}
	require.NoError(t, money(1045, "usd").ValidatePayout())
	require.NoError(t, money(math.MaxInt64, "usd").ValidatePayout(), "it has no maximum of its own")
	require.Error(t, money(1045, "kwd").ValidatePayout())
	require.Error(t, money(0, "usd").ValidatePayout())
	require.Error(t, money(1, "xxx").ValidatePayout())
}

func TestAmountsAreConvertedExactlyOrNotAtAll(t *testing.T) {
	for _, c := range []struct {
		iso      int64
		currency payments.Currency
		ours     int64
	}{{500, "isk", 50_000}, {5, "ugx", 500}, {1500, "mga", 15}, {1999, "usd", 1999}, {18_600, "kwd", 18_600}, {1045, "huf", 1045}, {-5, "isk", -500}} {
		converted, err := payments.FromISO(c.iso, c.currency)
		require.NoError(t, err)
		require.Equal(t, money(c.ours, c.currency), converted)
		back, err := converted.ISO()
		require.NoError(t, err)
		require.Equal(t, c.iso, back)
	}
	_, err := payments.FromISO(1501, "mga")
	require.ErrorIs(t, err, payments.ErrInexact)
	_, err = money(550, "isk").ISO()
	require.ErrorIs(t, err, payments.ErrInexact)
	for _, beyond := range []int64{math.MaxInt64/100 + 1, math.MinInt64/100 - 1, math.MaxInt64, math.MinInt64} {
		_, err = payments.FromISO(beyond, "isk")
		require.ErrorIs(t, err, payments.ErrOverflow, beyond)
	}
	_, err = payments.FromISO(1, "xxx")
	require.Error(t, err)
	_, err = money(1, "xxx").ISO()
	require.Error(t, err)
}

func TestMoneyIsWrittenForPeople(t *testing.T) {
	for text, m := range map[string]payments.Money{
		"19.99 USD": money(1999, "usd"), "0.05 USD": money(5, "usd"), "-0.05 USD": money(-5, "usd"), "80 JPY": money(80, "jpy"),
		"18.600 KWD": money(18_600, "kwd"), "0.010 KWD": money(10, "kwd"), "500 ISK": money(50_000, "isk"), "5.50 ISK": money(550, "isk"),
		"15 MGA": money(15, "mga"), "0.00 EUR": money(0, "eur"), "7 units of XXX": money(7, "xxx"),
		"-92233720368547758.08 USD": money(math.MinInt64, "usd"),
	} {
		require.Equal(t, text, m.String())
	}
}

// B-12: no amount loses a unit on its way to people and back, in currencies of 0, 2 and 3 decimals.
func TestEveryAmountIsWrittenExactly(t *testing.T) {
	for currency, decimals := range map[payments.Currency]int{"jpy": 0, "usd": 2, "kwd": 3} {
		for amount := int64(1); amount <= 100_000; amount++ {
			text, _ := strings.CutSuffix(money(amount, currency).String(), " "+strings.ToUpper(string(currency)))
			_, fraction, _ := strings.Cut(text, ".")
			read, err := strconv.ParseInt(strings.Replace(text, ".", "", 1), 10, 64)
			if err != nil || read != amount || len(fraction) != decimals {
				require.Fail(t, "amount changed", "%d %s is written %q", amount, currency, text)
			}
			converted, err := payments.FromISO(amount, currency)
			if err != nil || converted.Amount != amount {
				require.Fail(t, "amount changed", "%d %s is converted to %s", amount, currency, converted)
			}
		}
	}
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

func ExampleMoney_String() {
	fmt.Println(payments.Money{Amount: 1999, Currency: "usd"}, payments.Money{Amount: 80, Currency: "jpy"})
	// Output: 19.99 USD 80 JPY
}
