package stripesim

import (
	"fmt"
	"strings"
)

// Fee of a charge: 2.9 % of the amount, rounded half up to a minor unit, and 30 minor units.
const (
	feePerMille = 29
	feeFixed    = 30
)

// feeOf returns the fee of a captured amount, both in minor units.
func feeOf(amount int64) int64 { return (amount*feePerMille+500)/1000 + feeFixed }

// largestOf returns the largest charge in minor units: eight digits, and more of some currencies (Stripe docs, Minimum and maximum charge amounts).
func largestOf(currency string) int64 {
	switch currency {
	case "inr":
		return 999_999_999
	case "cop", "huf", "jpy":
		return 9_999_999_999
	case "lbp":
		return 99_999_999_999
	case "idr":
		return 999_999_999_999
	}
	return 99_999_999
}

// zeroDecimal currencies count whole units (Stripe docs, Supported currencies). UGX is listed there too, but is
// passed with two decimals.
const zeroDecimal = " bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf "

// threeDecimal currencies have three decimals, of which the last must be 0.
const threeDecimal = " bhd jod kwd omr tnd "

// wholeUnits are passed with two decimals that must be 0.
const wholeUnits = " isk ugx "

// twoDecimal lists the other presentment currencies.
const twoDecimal = " aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bmd bnd bob brl bsd bwp byn bzd cad cdf chf cny " +
	"cop crc cve czk dkk dop dzd egp etb eur fjd fkp gbp gel gip gmd gtq gyd hkd hnl htg huf idr ils inr jmd kes kgs khr " +
	"kyd kzt lak lbp lkr lrd lsl mad mdl mkd mmk mnt mop mro mur mvr mwk mxn myr mzn nad ngn nio nok npr nzd pab pen pgk " +
	"php pkr pln qar ron rsd rub sar sbd scr sek sgd shp sle sos srd std szl thb tjs top try ttd twd tzs uah usd uyu uzs " +
	"wst xcd xcg yer zar zmw "

// minimumOf returns the smallest charge in minor units (Stripe docs, Minimum and maximum charge amounts). Stripe
// checks a currency without an own minimum after conversion; the twin does not convert and takes 1.
func minimumOf(currency string) int64 {
	switch currency {
	case "usd", "eur", "aud", "brl", "cad", "chf", "inr", "nzd", "sgd", "jpy":
		return 50
	case "gbp":
		return 30
	case "aed", "myr", "pln", "ron":
		return 200
	case "bgn":
		return 100
	case "dkk":
		return 250
	case "nok", "sek":
		return 300
	case "hkd":
		return 400
	case "mxn", "thb":
		return 1000
	case "czk":
		return 1500
	case "huf":
		return 17500
	}
	return 1
}

func listed(list, currency string) bool { return strings.Contains(list, " "+currency+" ") }

// readCurrency returns the currency in lower case, or a fault of the parameters.
func readCurrency(p *params, sent string) string {
	currency := strings.ToLower(sent)
	if isCurrency(currency) {
		return currency
	}
	p.fail(invalidRequest("", "Invalid currency: "+currency+".", "currency"))
	return ""
}

// isCurrency says whether a word in lower case is a currency.
func isCurrency(word string) bool {
	return len(word) == 3 && (listed(twoDecimal, word) || listed(zeroDecimal, word) || listed(threeDecimal, word) || listed(wholeUnits, word))
}

// readAmount checks what needs no account: a positive integer in the currency's grain.
func readAmount(p *params, amount int64, currency, param string) {
	if fault := amountFault(amount, currency, param); fault != nil {
		p.fail(fault)
	}
}

// amountFault says what is wrong with an amount in the currency's grain, or nil.
func amountFault(amount int64, currency, param string) *apiError {
	switch {
	case amount < 1:
		return invalidRequest("parameter_invalid_integer", "This value must be greater than or equal to 1.", param)
	case listed(wholeUnits, currency) && amount%100 != 0:
		return invalidRequest("parameter_invalid_integer", "Invalid amount: "+strings.ToUpper(currency)+" amounts must be divisible by 100.", param)
	case listed(threeDecimal, currency) && amount%10 != 0:
		return invalidRequest("parameter_invalid_integer", "Invalid amount: the last digit of "+strings.ToUpper(currency)+" amounts must be 0.", param)
	}
	return nil
}

// checkLimits checks the limits of a charge, which is part of execution.
func checkLimits(amount int64, currency string) *apiError {
	if amount < minimumOf(currency) {
		return refusal("amount_too_small", "Amount must be at least "+display(minimumOf(currency), currency), "amount")
	}
	if amount > largestOf(currency) {
		return refusal("amount_too_large", "Amount must be no more than "+display(largestOf(currency), currency), "amount")
	}
	return nil
}

// display writes an amount for a message, never for a calculation.
func display(amount int64, currency string) string {
	switch {
	case listed(zeroDecimal, currency):
		return fmt.Sprintf("%d %s", amount, currency)
	case listed(threeDecimal, currency):
		return fmt.Sprintf("%d.%03d %s", amount/1000, amount%1000, currency)
	}
	return fmt.Sprintf("%d.%02d %s", amount/100, amount%100, currency)
}
