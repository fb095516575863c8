package stripesim

import (
	"strings"
	"time"
)

// Kinds of payment methods.
const (
	card          = "card"
	usBankAccount = "us_bank_account"
	sepaDebit     = "sepa_debit"
	becsDebit     = "au_becs_debit"
)

// How long a bank debit stays in processing when nobody ends it earlier. Stripe says four business days for ACH, five
// for SEPA, fourteen at most, three for BECS (Stripe docs, ACH Direct Debit, SEPA Direct Debit, BECS Direct Debit).
const (
	achDelay     = 4 * 24 * time.Hour
	sepaDelay    = 5 * 24 * time.Hour
	sepaLateness = 14 * 24 * time.Hour
	becsDelay    = 3 * 24 * time.Hour
)

// findDebit knows the test bank accounts of Stripe's docs: pm_usBankAccount_…, pm_auBecsDebit_… and, for any country,
// pm_…_de, which is also written pm_sepaDebit_…_de.
func findDebit(token string) (testMethod, bool) {
	if name, found := strings.CutPrefix(token, "pm_usBankAccount_"); found {
		return findACH(name)
	}
	if name, found := strings.CutPrefix(token, "pm_auBecsDebit_"); found {
		return findBECS(name)
	}
	name, found := strings.CutPrefix(token, "pm_")
	name = strings.TrimPrefix(name, "sepaDebit_")
	scenario, country, ok := strings.Cut(name, "_")
	if !found || !ok || len(country) != 2 || country != strings.ToLower(country) || !wordy(country) {
		return testMethod{}, false
	}
	return findSEPA(scenario, strings.ToUpper(country))
}

func findACH(name string) (testMethod, bool) {
	m := testMethod{Behaviour: bounces, Kind: usBankAccount, Delay: achDelay, Country: "US"}
	switch name {
	case "success":
		m.Behaviour, m.Last4 = settles, "6789"
	case "processing":
		m.Behaviour, m.Last4, m.Delay = stays, "0009", 0
	case "insufficientFunds":
		m.Last4, m.Decline = "2227", debitDecline("insufficient_funds", "The customer's account has insufficient funds to cover this payment.")
	case "accountClosed":
		m.Last4, m.Decline = "1113", debitDecline("account_closed", "The customer's bank account has been closed.")
	case "noAccount":
		m.Last4, m.Decline = "1116", debitDecline("no_account", "The customer's bank account could not be found.")
	case "debitNotAuthorized":
		m.Last4, m.Decline = "3335", debitDecline("debit_not_authorized", "The customer has notified their bank that this payment was unauthorized.")
	default:
		return testMethod{}, false
	}
	return m, true
}

func findSEPA(scenario, country string) (testMethod, bool) {
	m := testMethod{Behaviour: bounces, Kind: sepaDebit, Delay: sepaDelay, Country: country, Last4: "3001",
		Decline: debitDecline("generic_decline", "The customer's bank has refused this payment.")}
	switch scenario {
	case "success":
		m.Behaviour, m.Last4 = settles, "3000"
	case "successDelayed":
		m.Behaviour, m.Last4, m.Delay = settles, "3003", sepaLateness
	case "failed":
	case "failedDelayed":
		m.Last4, m.Delay = "3004", sepaLateness
	case "insufficientFunds":
		m.Last4, m.Decline = "2227", debitDecline("insufficient_funds", "The customer's account has insufficient funds to cover this payment.")
	default:
		return testMethod{}, false
	}
	return m, true
}

func findBECS(name string) (testMethod, bool) {
	m := testMethod{Behaviour: bounces, Kind: becsDebit, Delay: becsDelay, Country: "AU"}
	switch name {
	case "success":
		m.Behaviour, m.Last4 = settles, "3456"
	case "accountClosed":
		m.Last4, m.Decline = "1113", debitDecline("account_closed", "The customer's bank account has been closed.")
	case "noAccount":
		m.Last4, m.Decline = "1116", debitDecline("no_account", "The customer's bank account could not be found.")
	case "referToCustomer":
		m.Last4, m.Decline = "2227", debitDecline("refer_to_customer", "The customer's bank has refused this payment: refer to the customer.")
	case "debitNotAuthorized":
		m.Last4, m.Decline = "3335", debitDecline("debit_not_authorized", "The customer has notified their bank that this payment was unauthorized.")
	default:
		return testMethod{}, false
	}
	return m, true
}

func debitDecline(code, message string) decline {
	return decline{"payment_method_provider_decline", code, message}
}

// automaticTypes are the kinds of payment methods that every twin account has enabled in its Dashboard for a currency.
func automaticTypes(currency string) []string {
	switch currency {
	case "usd":
		return []string{card, usBankAccount}
	case "eur":
		return []string{card, sepaDebit}
	case "aud":
		return []string{card, becsDebit}
	}
	return []string{card}
}

// checkTypes refuses kinds of payment methods that do not do the currency.
func checkTypes(kinds []string, currency string) *apiError {
	for _, kind := range kinds {
		if kind == usBankAccount && currency != "usd" || kind == sepaDebit && currency != "eur" || kind == becsDebit && currency != "aud" {
			return refusal("payment_intent_invalid_parameter", "The payment method type "+kind+" cannot be used with the currency "+currency+".",
				"payment_method_types")
		}
	}
	return nil
}

// process begins a bank debit.
func (t *transition) process(in *intent, m *method) {
	c := t.charge(in, m)
	c.Status = "pending"
	in.Status = processing
	if delay := m.test().Delay; delay > 0 {
		in.due(t.now.Add(delay), dueSettle)
		t.books.plan(in)
	}
	t.emitIntent("payment_intent.processing", in)
	t.emitCharge("charge.pending", in, c)
}

// settle ends a bank debit: with money, or with the decline.
func (t *transition) settle(in *intent, d *decline) {
	c := t.books.charges.byID[in.latestCharge()]
	if d != nil {
		t.fail(in, c, t.books.methods.byID[c.PaymentMethod], *d)
		return
	}
	c.Status, c.Paid = "succeeded", true
	in.ChargesSucceeded++
	t.captured(in, c, in.Amount, false)
	t.emitCharge("charge.succeeded", in, c)
	t.emitIntent("payment_intent.succeeded", in)
}

// bounce returns how the intent's bank debit fails, or nil if it does not.
func (b *books) bounce(in *intent) *decline {
	test := b.methods.byID[in.PaymentMethod].test()
	if test.Behaviour != bounces {
		return nil
	}
	return &test.Decline
}

// withdraw ends a bank debit that is canceled while it waits. Nothing failed, so the charge has no failure code.
func (t *transition) withdraw(in *intent) {
	c := t.books.charges.byID[in.latestCharge()]
	t.touch(c)
	c.Status = "failed"
	t.emitCharge("charge.failed", in, c)
}
