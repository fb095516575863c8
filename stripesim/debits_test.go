package stripesim_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/stripesim/control"
)

const day = 24 * time.Hour

// debit makes an intent and confirms it with a bank account.
func (b *bench) debit(currency, method string) string {
	b.t.Helper()
	answer := b.post(intents, "amount=2000&confirm=true&currency="+currency+"&payment_method="+method, "")
	require.Equal(b.t, http.StatusOK, answer.status, answer.body)
	require.Equal(b.t, "processing", answer.json("status"))
	return answer.json("id").(string)
}

func TestDebitEndsByTheClockAfterItsDays(t *testing.T) {
	for method, one := range map[string]struct {
		currency string
		after    time.Duration
		decline  any // nil: succeeds
	}{
		"pm_usBankAccount_success":            {"usd", 4 * day, nil},
		"pm_usBankAccount_insufficientFunds":  {"usd", 4 * day, "insufficient_funds"},
		"pm_usBankAccount_accountClosed":      {"usd", 4 * day, "account_closed"},
		"pm_usBankAccount_noAccount":          {"usd", 4 * day, "no_account"},
		"pm_usBankAccount_debitNotAuthorized": {"usd", 4 * day, "debit_not_authorized"},
		"pm_success_de":                       {"eur", 5 * day, nil},
		"pm_sepaDebit_success_nl":             {"eur", 5 * day, nil},
		"pm_successDelayed_de":                {"eur", 14 * day, nil},
		"pm_failed_de":                        {"eur", 5 * day, "generic_decline"},
		"pm_failedDelayed_at":                 {"eur", 14 * day, "generic_decline"},
		"pm_insufficientFunds_ie":             {"eur", 5 * day, "insufficient_funds"},
		"pm_auBecsDebit_success":              {"aud", 3 * day, nil},
		"pm_auBecsDebit_accountClosed":        {"aud", 3 * day, "account_closed"},
		"pm_auBecsDebit_noAccount":            {"aud", 3 * day, "no_account"},
		"pm_auBecsDebit_referToCustomer":      {"aud", 3 * day, "refer_to_customer"},
		"pm_auBecsDebit_debitNotAuthorized":   {"aud", 3 * day, "debit_not_authorized"},
	} {
		t.Run(method, func(t *testing.T) {
			b := start(t)
			id := b.debit(one.currency, method)
			b.clock.advance(one.after - time.Second)
			require.NoError(t, b.ctl.Tick(t.Context()))
			require.Equal(t, "processing", b.book(id).Status)
			b.clock.advance(time.Second)
			require.NoError(t, b.ctl.Tick(t.Context()))
			read := b.get(intents + "/" + id + "?expand[]=latest_charge")
			require.Equal(t, one.decline, read.json("last_payment_error.decline_code"))
			if one.decline == nil {
				require.Equal(t, "succeeded", read.json("status"))
				require.EqualValues(t, 2000, b.book(id).Captured)
				require.Equal(t, true, read.json("latest_charge.captured"))
				return
			}
			require.Equal(t, "requires_payment_method", read.json("status"))
			require.Equal(t, "failed", read.json("latest_charge.status"))
			require.Zero(t, b.book(id).Captured)
		})
	}
}

func TestDebitEndsByHandEitherWayWhateverItsMethod(t *testing.T) {
	b := start(t)
	good, bad := b.debit("eur", "pm_failed_de"), b.debit("eur", "pm_success_de")
	_, err := b.ctl.Succeed(t.Context(), good)
	require.NoError(t, err)
	_, err = b.ctl.Fail(t.Context(), bad, control.Fail{})
	require.NoError(t, err)
	b.clock.advance(30 * day)
	require.NoError(t, b.ctl.Tick(t.Context()))
	require.Equal(t, "succeeded", b.book(good).Status, "the clock has nothing more to say")
	require.Equal(t, "requires_payment_method", b.book(bad).Status)
}

func TestDebitThatStaysProcessingCanBeCanceled(t *testing.T) {
	b := start(t)
	id := b.debit("usd", "pm_usBankAccount_processing")
	b.clock.advance(365 * day)
	require.NoError(t, b.ctl.Tick(t.Context()))
	require.Equal(t, "processing", b.book(id).Status)
	answer := b.post(intents+"/"+id+"/cancel", "", "")
	require.Equal(t, "canceled", answer.json("status"), answer.body)
	require.Equal(t, []string{"payment_intent.created", "payment_intent.processing", "charge.pending", "charge.failed", "payment_intent.canceled"}, b.types(id))
	_, err := b.ctl.Succeed(t.Context(), id)
	require.Error(t, err)
}

func TestDebitDoesOnlyItsCurrency(t *testing.T) {
	b := start(t)
	for form, param := range map[string]string{
		"currency=usd&payment_method=pm_success_de":                "payment_method",
		"currency=eur&payment_method=pm_usBankAccount_success":     "payment_method",
		"currency=gbp&payment_method=pm_success_de":                "payment_method",
		"currency=usd&payment_method_types[]=sepa_debit":           "payment_method_types",
		"currency=eur&payment_method_types[]=us_bank_account":      "payment_method_types",
		"currency=nzd&payment_method_types[]=au_becs_debit":        "payment_method_types",
		"currency=usd&payment_method=pm_auBecsDebit_success":       "payment_method",
		"currency=aud&payment_method=pm_auBecsDebit_unheardOf":     "payment_method",
		"currency=usd&payment_method=pm_success_DE":                "payment_method",
		"currency=usd&payment_method=pm_usBankAccount_unheardOf":   "payment_method",
		"currency=usd&payment_method=pm_unheardOf_de&confirm=true": "payment_method",
	} {
		answer := b.post(intents, "amount=2000&"+form, "")
		require.Equal(t, http.StatusBadRequest, answer.status, form)
		require.Equal(t, param, answer.json("error.param"), form)
	}
	id := b.create("")
	require.Equal(t, []any{"card", "us_bank_account"}, b.get(intents+"/"+id).json("payment_method_types"))
	require.Equal(t, []any{"card", "sepa_debit"}, b.post(intents+"/"+id, "currency=eur", "").json("payment_method_types"))
	require.Equal(t, []any{"card", "au_becs_debit"}, b.post(intents+"/"+id, "currency=aud", "").json("payment_method_types"))
	require.Equal(t, []any{"card"}, b.post(intents+"/"+id, "currency=gbp", "").json("payment_method_types"))
	require.Equal(t, http.StatusBadRequest, b.post(intents+"/"+b.create("payment_method_types[]=us_bank_account"), "currency=eur", "").status)
}

func TestRedirectsOfAutomaticMethodsAreAsAsked(t *testing.T) {
	b := start(t)
	id := b.create("automatic_payment_methods[enabled]=true&automatic_payment_methods[allow_redirects]=never")
	require.Equal(t, "never", b.get(intents+"/"+id).json("automatic_payment_methods.allow_redirects"))
}

func TestSEPADetailsAreShown(t *testing.T) {
	b := start(t)
	id := b.debit("eur", "pm_success_de")
	read := b.get(intents + "/" + id + "?expand[]=latest_charge&expand[]=payment_method")
	require.Equal(t, "DE", read.json("payment_method.sepa_debit.country"))
	require.Equal(t, "3000", read.json("latest_charge.payment_method_details.sepa_debit.last4"))
	require.Regexp(t, `^py_`, read.json("latest_charge.id"))
}

func TestBECSDetailsAreShown(t *testing.T) {
	b := start(t)
	id := b.debit("aud", "pm_auBecsDebit_success")
	read := b.get(intents + "/" + id + "?expand[]=latest_charge&expand[]=payment_method")
	require.Equal(t, "000000", read.json("payment_method.au_becs_debit.bsb_number"))
	require.Equal(t, "3456", read.json("latest_charge.payment_method_details.au_becs_debit.last4"))
}
