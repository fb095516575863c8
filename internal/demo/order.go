package demo

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
)

// Style is how a checkout backend submits an order: each is a way in which a request comes more than once.
type Style string

// The styles.
const (
	StylePlain      Style = "plain"      // once
	StyleDuplicate  Style = "duplicate"  // again, and again, after the answer
	StyleConcurrent Style = "concurrent" // five at once under one key
	StyleFreshKeys  Style = "fresh keys" // two more keys for the same order, beside the first or after it
	StyleImpatient  Style = "impatient"  // the client gives up early and tries again
	StyleNoWait     Style = "no wait"    // asks not to wait, is sent away, and looks
)

// Order is what the checkout backend wishes for, with the outcome that it must have.
type Order struct {
	Number      int
	Reference   string
	Amount      int64 // minor units
	Currency    string
	Method      string
	DeclineCode string // expected; empty: the order must be paid
	RepeatOf    int    // number of the order that it equals in all but reference; 0: none
	Style       Style
	Plan        Plan // what becomes of its money; empty: it is taken, and kept
}

// Body is the JSON of its create.
func (o Order) Body() []byte {
	wish := map[string]any{
		"reference": o.Reference, "amount": o.Amount, "currency": o.Currency, "payment_method": o.Method,
		"description": "An order of the demo", "metadata": map[string]string{"shop": "demo"},
	}
	maps.Copy(wish, o.Plan.wish(o.Currency))
	if shared := o.Destinations(); shared != nil {
		wish["destinations"] = shared
	}
	body, err := json.Marshal(wish)
	if err != nil {
		panic(err) // strings, truths and a number
	}
	return body
}

// Numbers of a mix of 200.
const (
	orders   = 200
	declined = 30
	repeats  = 20
)

// declines are the test methods that are declined, with the decline code that each must end with
// (https://docs.stripe.com/testing#declined-payments).
func declines() [][2]string {
	return [][2]string{
		{"pm_card_visa_chargeDeclined", "generic_decline"}, {"pm_card_visa_chargeDeclinedInsufficientFunds", "insufficient_funds"},
		{"pm_card_visa_chargeDeclinedLostCard", "lost_card"}, {"pm_card_visa_chargeDeclinedStolenCard", "stolen_card"},
		{"pm_card_chargeDeclinedFraudulent", "fraudulent"}, {"pm_card_chargeDeclinedExpiredCard", "expired_card"},
		{"pm_card_chargeDeclinedIncorrectCvc", "incorrect_cvc"}, {"pm_card_chargeDeclinedProcessingError", "processing_error"},
	}
}

// Mix makes the orders of a run: the same for the same seed but for their references, in the order in which they are sent. An honest repeat comes
// right behind the order that it equals, so that both are under way together.
func Mix(seed int64, run int) []Order {
	random := rand.New(rand.NewPCG(uint64(seed), orders))
	styles := mixStyles(random)
	var mixed []Order
	add := func(o Order) {
		o.Number = len(mixed) + 1
		o.Reference = fmt.Sprintf("%s%d", Prefix(run), o.Number)
		o.Style = styles[len(mixed)]
		mixed = append(mixed, o)
	}
	paying := []string{"pm_card_visa", "pm_card_visa_debit", "pm_card_mastercard", "pm_card_amex"}
	currencies := []string{"usd", "eur", "gbp", "jpy", "kwd"}
	for _, wish := range mixWishes(random) {
		o := Order{Amount: 100 + random.Int64N(50_000), Currency: currencies[random.IntN(len(currencies))], Plan: wish.plan}
		if o.Currency == "kwd" {
			o.Amount *= 10 // its last digit is 0
		}
		if wish.plan != "" { // in each third of the amount, which every currency can express
			o.Amount, o.Currency = 300*(2+random.Int64N(150)), wish.currency
		}
		if wish.kind == kindDeclined {
			refusal := declines()[random.IntN(len(declines()))]
			o.Method, o.DeclineCode = refusal[0], refusal[1]
			add(o)
			continue
		}
		o.Method = o.Plan.method(o.Currency, paying[random.IntN(len(paying))])
		add(o)
		if wish.kind == kindRepeated {
			o.RepeatOf = len(mixed)
			add(o)
		}
	}
	return mixed
}

// Prefix begins the references of a run.
func Prefix(run int) string { return fmt.Sprintf("run-%d-order-", run) }

type kind int

const (
	kindPaid kind = iota
	kindRepeated
	kindDeclined
)

// wish is what an order is to be.
type wish struct {
	kind     kind
	plan     Plan
	currency string // of one with a plan
}

func mixWishes(random *rand.Rand) []wish {
	wishes := make([]wish, 0, orders-repeats)
	for _, planned := range Plans() {
		for i := range planned.Orders {
			wishes = append(wishes, wish{kindPaid, planned.Plan, planned.Plan.currency(i)})
		}
	}
	for i := len(wishes); i < orders-repeats; i++ {
		kind := kindPaid
		switch left := orders - repeats - i; {
		case left <= declined:
			kind = kindDeclined
		case left <= declined+repeats:
			kind = kindRepeated
		}
		wishes = append(wishes, wish{kind: kind})
	}
	random.Shuffle(len(wishes), func(i, j int) { wishes[i], wishes[j] = wishes[j], wishes[i] })
	return wishes
}

func mixStyles(random *rand.Rand) []Style {
	styles := make([]Style, 0, orders)
	for _, some := range []struct {
		style Style
		count int
	}{{StyleDuplicate, 30}, {StyleConcurrent, 15}, {StyleFreshKeys, 20}, {StyleImpatient, 30}, {StyleNoWait, 15}} {
		for range some.count {
			styles = append(styles, some.style)
		}
	}
	for len(styles) < orders {
		styles = append(styles, StylePlain)
	}
	random.Shuffle(len(styles), func(i, j int) { styles[i], styles[j] = styles[j], styles[i] })
	return styles
}
