package stripesim

import (
	"strings"
	"time"

	"payonce/stripesim/control"
)

// behaviour is what a payment method does when it is charged.
type behaviour string

const (
	pays       behaviour = "pays"
	declines   behaviour = "declines"
	challenges behaviour = "challenges" // asks the payer on-session, refuses off-session
	settles    behaviour = "settles"    // processing for days, then succeeds
	bounces    behaviour = "bounces"    // processing for days, then fails
	stays      behaviour = "stays"      // processing until somebody ends it
)

// laterS is when a refund to one of Stripe's test cards changes, in seconds. Stripe says later, without a number.
const laterS = 3 * secondsPerDay

// decline is how a charge fails.
type decline struct {
	Code, DeclineCode, Message string
}

// testMethod is one of Stripe's test payment methods.
type testMethod struct {
	Behaviour behaviour
	Decline   decline
	After     *decline // how the charge fails when the payer has passed the challenge
	Kind      string
	Brand     string // of a card
	Country   string // of a bank account
	Last4     string
	Refund    control.RefundPlan // what becomes of a refund; the zero value succeeds
	AtOnce    bool               // its money is available at once
	Delay     time.Duration      // of a bank debit: how long it stays in processing; 0 = until somebody ends it
}

// method is a payment method made from a test one. It never changes.
type method struct {
	Seq      int64
	ID       string
	Account  string
	Livemode bool
	Created  int64
	Token    string // the test payment method it was made from
}

func (m *method) key() string      { return m.ID }
func (m *method) owner() scope     { return scope{m.Account, m.Livemode} }
func (m *method) createdAt() int64 { return m.Created }
func (m *method) number() *int64   { return &m.Seq }

func (m *method) test() testMethod {
	test, _ := findTestMethod(m.Token)
	return test
}

// findTestMethod knows Stripe's test payment methods by name. Declines are known both as
// pm_card_chargeDeclined… and as pm_card_visa_chargeDeclined….
func findTestMethod(token string) (testMethod, bool) {
	switch token {
	case "pm_card_visa":
		return testMethod{Behaviour: pays, Kind: card, Brand: "visa", Last4: "4242"}, true
	case "pm_card_visa_debit":
		return testMethod{Behaviour: pays, Kind: card, Brand: "visa", Last4: "5556"}, true
	case "pm_card_mastercard":
		return testMethod{Behaviour: pays, Kind: card, Brand: "mastercard", Last4: "4444"}, true
	case "pm_card_amex":
		return testMethod{Behaviour: pays, Kind: card, Brand: "amex", Last4: "8431"}, true
	case "pm_card_bypassPending":
		return testMethod{Behaviour: pays, Kind: card, Brand: "visa", Last4: "0077", AtOnce: true}, true
	case "pm_card_pendingRefund":
		return testMethod{Behaviour: pays, Kind: card, Brand: "visa", Last4: "7726", Refund: control.RefundPlan{Status: pending, AfterS: laterS}}, true
	case "pm_card_refundFail":
		return testMethod{Behaviour: pays, Kind: card, Brand: "visa", Last4: "5126",
			Refund: control.RefundPlan{Status: succeeded, AfterS: laterS, Then: failed, FailureReason: "expired_or_canceled_card"}}, true
	case "pm_card_authenticationRequired", "pm_card_threeDSecure2Required", "pm_card_threeDSecureRequired":
		return testMethod{Behaviour: challenges, Kind: card, Brand: "visa", Last4: "3220",
			Decline: decline{"authentication_required", "authentication_required", "Your card was declined. This transaction requires authentication."}}, true
	case "pm_card_threeDSecureRequiredChargeDeclined":
		return testMethod{Behaviour: challenges, Kind: card, Brand: "visa", Last4: "1629",
			Decline: decline{"authentication_required", "authentication_required", "Your card was declined. This transaction requires authentication."},
			After:   &decline{"card_declined", "generic_decline", "Your card was declined."}}, true
	}
	if test, found := findDebit(token); found {
		return test, true
	}
	name := strings.Replace(token, "pm_card_visa_", "pm_card_", 1)
	d, found := findDecline(strings.TrimPrefix(name, "pm_card_chargeDeclined"))
	if !found || !strings.HasPrefix(name, "pm_card_chargeDeclined") {
		return testMethod{}, false
	}
	return testMethod{Behaviour: declines, Kind: card, Brand: "visa", Last4: "0002", Decline: d}, true
}

func findDecline(name string) (decline, bool) {
	switch name {
	case "":
		return decline{"card_declined", "generic_decline", "Your card was declined."}, true
	case "InsufficientFunds":
		return decline{"card_declined", "insufficient_funds", "Your card has insufficient funds."}, true
	case "LostCard":
		return decline{"card_declined", "lost_card", "Your card was declined."}, true
	case "StolenCard":
		return decline{"card_declined", "stolen_card", "Your card was declined."}, true
	case "Fraudulent":
		return decline{"card_declined", "fraudulent", "Your card was declined."}, true
	case "ExpiredCard":
		return decline{"expired_card", "expired_card", "Your card has expired."}, true
	case "IncorrectCvc":
		return decline{"incorrect_cvc", "incorrect_cvc", "Your card's security code is incorrect."}, true
	case "ProcessingError":
		return decline{"processing_error", "processing_error", "An error occurred while processing your card. Try again in a little bit."}, true
	case "VelocityLimitExceeded":
		return decline{"card_declined", "card_velocity_exceeded",
			"Your card was declined for making repeated attempts too frequently or exceeding its amount limit."}, true
	}
	return decline{}, false
}
