package payments

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// Currency is an ISO 4217 code in lower case, as Stripe writes it.
type Currency string

// Money is an amount in the currency's minor units; never a float.
type Money struct {
	Amount   int64    `json:"amount"`
	Currency Currency `json:"currency"`
}

// MaxAmount is the largest amount of one payment in minor units: Stripe takes at most eight digits for most currencies.
const MaxAmount int64 = 99_999_999

// ErrOverflow says that a sum leaves int64.
var ErrOverflow = errors.New("amount overflows 64 bits")

// Add is a+b, or ErrOverflow.
func Add(a, b int64) (int64, error) {
	if (b > 0 && a > math.MaxInt64-b) || (b < 0 && a < math.MinInt64-b) {
		return 0, ErrOverflow
	}
	return a + b, nil
}

// currencies are the ones that cards run in so far, with their decimals and Stripe's minimum charge in minor units
// (https://docs.stripe.com/currencies). A three-decimal amount must end in 0.
var currencies = map[Currency]struct { //nolint:gochecknoglobals // a table, never written
	decimals int
	minimum  int64
}{
	"usd": {2, 50},
	"eur": {2, 50},
	"gbp": {2, 30},
	"jpy": {0, 50},
	"kwd": {3, 150},
}

// ParseCurrency normalises the letter case and refuses a currency that is not served.
func ParseCurrency(text string) (Currency, error) {
	currency := Currency(strings.ToLower(text))
	if _, known := currencies[currency]; !known {
		return "", fmt.Errorf("currency %q is not served", text)
	}
	return currency, nil
}

// Validate refuses an amount that Stripe would not take in the currency.
func (m Money) Validate() error {
	rule, known := currencies[m.Currency]
	switch {
	case !known:
		return fmt.Errorf("currency %q is not served", m.Currency)
	case m.Amount <= 0:
		return errors.New("amount must be positive")
	case m.Amount > MaxAmount:
		return fmt.Errorf("amount must not exceed %d", MaxAmount)
	case m.Amount < rule.minimum:
		return fmt.Errorf("amount must be at least %d in %s", rule.minimum, m.Currency)
	case rule.decimals == 3 && m.Amount%10 != 0:
		return fmt.Errorf("amount in %s must end in 0", m.Currency)
	default:
		return nil
	}
}

// Decimals is the number of decimals of the currency's minor unit, for showing an amount to people.
func (c Currency) Decimals() int { return currencies[c].decimals }
