package payments

import (
	"fmt"
	"slices"
	"strings"
)

// Currency is an ISO 4217 code in lower case, as Stripe writes it.
type Currency string

// ParseCurrency normalises the letter case and refuses a currency that is not served.
func ParseCurrency(text string) (Currency, error) {
	currency := Currency(strings.ToLower(text))
	if _, known := currencies[currency]; !known {
		return "", fmt.Errorf("currency %q is not served", text)
	}
	return currency, nil
}

// Currencies lists every currency that is served, sorted.
func Currencies() []Currency {
	served := make([]Currency, 0, len(currencies))
	for currency := range currencies {
		served = append(served, currency)
	}
	slices.Sort(served)
	return served
}

// Decimals is the number of decimals of our unit of the currency, which is the one that Stripe counts in; 0 for one that is not served.
func (c Currency) Decimals() int { return currencies[c].decimals }

// ISODecimals is the number of decimals of the currency's minor unit in ISO 4217; 0 for one that is not served.
func (c Currency) ISODecimals() int { return currencies[c].iso }

// MethodTypeBECSDebit is the Australian bank debit, in Stripe's word.
const MethodTypeBECSDebit = "au_becs_debit"

// MethodTypes lists the kinds of payment method that are served, in Stripe's words.
func MethodTypes() []string {
	return []string{MethodTypeCard, MethodTypeUSBank, MethodTypeSEPADebit, MethodTypeBECSDebit}
}

// CheckMethods refuses a kind of payment method that does not run in the currency. A card runs in every currency that is served, each debit
// scheme in its own (https://docs.stripe.com/payments/payment-methods/payment-method-support#country-currency-support).
func (c Currency) CheckMethods(types []string) error {
	for _, kind := range types {
		only := Currency("")
		switch kind {
		case MethodTypeCard:
		case MethodTypeUSBank:
			only = "usd"
		case MethodTypeSEPADebit:
			only = "eur"
		case MethodTypeBECSDebit:
			only = "aud"
		default:
			return fmt.Errorf("payment method type %q is not served", kind)
		}
		if only != "" && c != only {
			return fmt.Errorf("currency must be %s for %s", only, kind)
		}
	}
	return nil
}
