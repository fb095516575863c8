package payments

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Money is an amount in the currency's unit, the one that Stripe counts in; never a float.
type Money struct {
	Amount   int64    `json:"amount"`
	Currency Currency `json:"currency"`
}

// MaxAmount is the largest amount of one payment in any currency; each has its own maximum.
const MaxAmount int64 = digits12

// Refusals of arithmetic.
var (
	// ErrOverflow says that a sum leaves int64.
	ErrOverflow = errors.New("amount overflows 64 bits")
	// ErrInexact says that an amount is no whole number of the other unit.
	ErrInexact = errors.New("amount is no whole number of the unit")
)

// Add is a+b, or ErrOverflow.
func Add(a, b int64) (int64, error) {
	if (b > 0 && a > math.MaxInt64-b) || (b < 0 && a < math.MinInt64-b) {
		return 0, ErrOverflow
	}
	return a + b, nil
}

// Validate refuses an amount that Stripe would not take as a charge in the currency.
func (m Money) Validate() error {
	if err := m.ValidatePart(); err != nil {
		return err
	}
	if least := currencies[m.Currency].minimum; m.Amount < least {
		return fmt.Errorf("amount must be at least %d in %s", least, m.Currency)
	}
	return nil
}

// ValidatePart refuses what cannot be captured or refunded of a charge in the currency. It knows no minimum, nor what is left of the charge.
func (m Money) ValidatePart() error {
	rule, known := currencies[m.Currency]
	switch {
	case !known:
		return fmt.Errorf("currency %q is not served", m.Currency)
	case m.Amount <= 0:
		return errors.New("amount must be positive")
	case m.Amount > rule.maximum:
		return fmt.Errorf("amount must not exceed %d in %s", rule.maximum, m.Currency)
	default:
		return m.inSteps(rule.step)
	}
}

// ValidatePayout refuses what cannot be paid out in the currency; a payout has no maximum of its own.
func (m Money) ValidatePayout() error {
	rule, known := currencies[m.Currency]
	switch {
	case !known:
		return fmt.Errorf("currency %q is not served", m.Currency)
	case m.Amount <= 0:
		return errors.New("amount must be positive")
	default:
		return m.inSteps(rule.payoutStep)
	}
}

func (m Money) inSteps(step int64) error {
	if m.Amount%step != 0 {
		return fmt.Errorf("amount in %s must be a multiple of %d", m.Currency, step)
	}
	return nil
}

// ISO is the amount in minor units of ISO 4217, for whoever counts in those: the same number but for isk, ugx and mga. It is ErrInexact when the
// amount is no whole number of them and ErrOverflow when it leaves int64.
func (m Money) ISO() (int64, error) {
	rule, known := currencies[m.Currency]
	if !known {
		return 0, fmt.Errorf("currency %q is not served", m.Currency)
	}
	return rescale(m.Amount, rule.decimals, rule.iso)
}

// FromISO is the money of an amount in minor units of ISO 4217, exactly; see ISO.
func FromISO(amount int64, currency Currency) (Money, error) {
	rule, known := currencies[currency]
	if !known {
		return Money{}, fmt.Errorf("currency %q is not served", currency)
	}
	ours, err := rescale(amount, rule.iso, rule.decimals)
	if err != nil {
		return Money{}, err
	}
	return Money{Amount: ours, Currency: currency}, nil
}

func rescale(amount int64, from, to int) (int64, error) {
	const ten = 10
	for ; from < to; from++ {
		if amount > math.MaxInt64/ten || amount < math.MinInt64/ten {
			return 0, ErrOverflow
		}
		amount *= ten
	}
	for ; from > to; from-- {
		if amount%ten != 0 {
			return 0, ErrInexact
		}
		amount /= ten
	}
	return amount, nil
}

// String writes the money for people: "19.99 USD", "80 JPY", "18.600 KWD". Decimals that are always 00 are left out: "500 ISK".
func (m Money) String() string {
	code := strings.ToUpper(string(m.Currency))
	rule, known := currencies[m.Currency]
	if !known {
		return fmt.Sprintf("%d units of %s", m.Amount, code)
	}
	amount, decimals := m.Amount, rule.decimals
	if whole, err := m.ISO(); err == nil && rule.iso < rule.decimals {
		amount, decimals = whole, rule.iso
	}
	if decimals == 0 {
		return strconv.FormatInt(amount, 10) + " " + code
	}
	sign, digits := "", strconv.FormatInt(amount, 10)
	if amount < 0 {
		sign, digits = "-", digits[1:]
	}
	if lacking := decimals + 1 - len(digits); lacking > 0 {
		digits = strings.Repeat("0", lacking) + digits
	}
	point := len(digits) - decimals
	return sign + digits[:point] + "." + digits[point:] + " " + code
}
