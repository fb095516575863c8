package activities_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

const cancels = "/v1/payment_intents/*/cancel"

// challenged is a payment whose payer is asked to authenticate.
func challenged(t *testing.T, s *system.System) payments.View {
	t.Helper()
	order := system.With(system.With(system.Order("order-1", 1000), "payment_method", "pm_card_authenticationRequired"),
		"return_url", "https://shop.example/back")
	answer := s.Create("K1", order)
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Body)
	payment := answer.Payment(t)
	require.Equal(t, payments.StatusRequiresAction, payment.Status)
	require.Equal(t, "redirect_to_url", payment.NextAction.Type)
	require.Equal(t, "https://shop.example/back", payment.NextAction.RedirectToURL.ReturnURL)
	return payment
}

// The payer meets the challenge in the browser, past payonce: what Stripe tells of it ends the payment, and its journal and message follow.
func TestAPayerWhoAuthenticatesHasPaid(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	payment := challenged(t, s)
	_, err := s.Twin.Authenticate(t.Context(), payment.PaymentIntent)
	require.NoError(t, err)
	s.Settle()
	paid := s.Payment(payment.ID)
	require.Equal(t, payments.StatusSucceeded, paid.Status)
	require.Nil(t, paid.NextAction)
	require.Nil(t, paid.ExpiresAt)
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.ledger_journals WHERE payment = $1`, payment.ID.UUID))
	require.Len(t, s.Receiver.Of(t, payment.ID.String()), 1)
}

// A payer who fails the challenge is told once, and may pay with another card: the challenge that nobody met says nothing of the card after it.
func TestAPayerWhoFailsTheChallengeMayUseAnotherCard(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	payment := challenged(t, s)
	_, err := s.Twin.Fail(t.Context(), payment.PaymentIntent, control.Fail{})
	require.NoError(t, err)
	s.Settle()
	failed := s.Payment(payment.ID)
	require.Equal(t, payments.StatusRequiresPaymentMethod, failed.Status)
	require.Equal(t, "payment_intent_authentication_failure", failed.LastError.Code)
	require.Equal(t, 1, failed.LastError.Attempt)
	require.Len(t, s.Receiver.Of(t, payment.ID.String()), 1)

	paid := post(t, s, payment.ID, "confirm", "K2", method("pm_card_visa"))
	require.Equal(t, http.StatusOK, paid.Status, "%s", paid.Body)
	require.Equal(t, payments.StatusSucceeded, paid.Payment(t).Status)
	s.Settle()
	require.Len(t, s.Receiver.Of(t, payment.ID.String()), 2)
}

// The payer leaves the challenge alone, comes back eight minutes later and pays with another card, on the same intent. What is told of the challenge
// afterwards takes nothing back.
func TestAChallengeLeftAloneIsReplacedByTheNextCard(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	payment := challenged(t, s)
	s.DB.AdvanceClock(t, 8*time.Minute)
	paid := post(t, s, payment.ID, "confirm", "K2", method("pm_card_visa"))
	require.Equal(t, http.StatusOK, paid.Status, "%s", paid.Body)
	require.Equal(t, payments.StatusSucceeded, paid.Payment(t).Status)
	s.DB.AdvanceClock(t, 2*time.Hour)
	s.Settle()
	require.Equal(t, payments.StatusSucceeded, s.Payment(payment.ID).Status)
	require.Equal(t, 1, s.Book(payment.ID).ChargesSucceeded)
	require.Empty(t, s.Requests(http.MethodPost, cancels))
}

// Off-session the issuer asks for the payer: a decline that carries the intent. The payment keeps it, so that the payer can pay it on-session and what
// Stripe then tells finds its payment.
func TestAnOffSessionDeclineKeepsTheIntentForThePayer(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	order := system.With(system.With(system.Order("order-1", 1000), "payment_method", "pm_card_authenticationRequired"), "off_session", true)
	answer := s.Create("K1", order)
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Body)
	payment := answer.Payment(t)
	require.Equal(t, payments.StatusRequiresPaymentMethod, payment.Status)
	require.Equal(t, "authentication_required", payment.LastError.Code)
	require.NotEmpty(t, payment.PaymentIntent)
	require.NotEmpty(t, payment.ClientSecret)

	book, err := s.Twin.Pay(t.Context(), payment.PaymentIntent, control.Pay{PaymentMethod: "pm_card_visa"})
	require.NoError(t, err)
	require.Equal(t, "succeeded", book.Status)
	s.Settle()
	require.Equal(t, payments.StatusSucceeded, s.Payment(payment.ID).Status)
	require.Len(t, s.Books(payment.ID), 1)
}

// debit is a payment by bank debit: a test account of the scheme, which runs in a currency of its own.
type debit struct {
	account, scheme, currency string
}

// debited is a payment by bank debit, which stays in processing for days.
func debited(t *testing.T, s *system.System, by debit) payments.View {
	t.Helper()
	order := system.With(system.With(system.Order("order-1", 1000), "payment_method", by.account), "payment_method_types", []string{by.scheme})
	answer := s.Create("K1", system.With(order, "currency", by.currency))
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Body)
	payment := answer.Payment(t)
	require.Equal(t, payments.StatusProcessing, payment.Status)
	require.Nil(t, payment.ExpiresAt, "processing has no deadline")
	return payment
}

// A debit on its way is neither paid nor failed: nothing is booked, nothing told, no second payment or confirm comes beside it, and a cancel has Stripe's
// refusal for an answer. What the bank says days later decides.
func TestABankDebitIsPendingUntilTheBankSays(t *testing.T) {
	t.Parallel()
	for by, end := range map[debit]payments.Status{
		{"pm_usBankAccount_success", "us_bank_account", "usd"}:           payments.StatusSucceeded,
		{"pm_usBankAccount_insufficientFunds", "us_bank_account", "usd"}: payments.StatusRequiresPaymentMethod,
		{"pm_sepaDebit_success_de", "sepa_debit", "eur"}:                 payments.StatusSucceeded,
		{"pm_sepaDebit_failed_de", "sepa_debit", "eur"}:                  payments.StatusRequiresPaymentMethod,
		{"pm_auBecsDebit_success", "au_becs_debit", "aud"}:               payments.StatusSucceeded,
		{"pm_auBecsDebit_accountClosed", "au_becs_debit", "aud"}:         payments.StatusRequiresPaymentMethod,
	} {
		t.Run(by.account, func(t *testing.T) {
			t.Parallel()
			s := system.Start(t)
			payment := debited(t, s, by)
			s.DB.AdvanceClock(t, 24*time.Hour)
			require.Equal(t, payments.StatusProcessing, s.Payment(payment.ID).Status)
			require.Equal(t, "reference_conflict", s.Create("K2", system.Order("order-1", 1000)).Problem(t).Code)
			require.Equal(t, payments.CodeUnexpectedState, post(t, s, payment.ID, "confirm", "K3", method("pm_card_visa")).Problem(t).Code)
			refused := post(t, s, payment.ID, "cancel", "K4", map[string]any{})
			require.Equal(t, http.StatusConflict, refused.Status)
			require.Equal(t, payments.CodeUnexpectedState, refused.Problem(t).Code)
			require.Equal(t, refused.Body, post(t, s, payment.ID, "cancel", "K4", map[string]any{}).Body)
			require.Zero(t, s.Count(`SELECT count(*) FROM payonce.ledger_journals`))
			require.Empty(t, s.Receiver.Of(t, payment.ID.String()))

			s.DB.AdvanceClock(t, 4*24*time.Hour)
			require.NoError(t, s.Twin.Tick(t.Context()))
			s.Eventually("the bank has said", func() bool { return s.Payment(payment.ID).Status == end })
			s.Settle()
			require.Len(t, s.Receiver.Of(t, payment.ID.String()), 1)
		})
	}
}
