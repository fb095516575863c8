package stripesim_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v76"

	"payonce/stripesim/control"
)

const payouts = "/v1/payouts"

// funded starts a twin whose account has 19.12 usd to pay out.
func funded(t *testing.T) *bench {
	t.Helper()
	b := start(t)
	b.create("confirm=true&payment_method=pm_card_bypassPending")
	return b
}

func (b *bench) payOut(form string) reply {
	b.t.Helper()
	answer := b.post(payouts, "currency=usd&"+form, "")
	require.Equal(b.t, http.StatusOK, answer.status, answer.body)
	return answer
}

// available reads what the account can pay out in its first currency.
func (b *bench) available() any {
	b.t.Helper()
	return b.get("/v1/balance").json("available.0.amount")
}

func TestStripeGoDecodesAPayout(t *testing.T) {
	b := funded(t)
	params := &stripe.PayoutParams{Amount: stripe.Int64(1000), Currency: stripe.String("usd"), Metadata: map[string]string{"p": "1"}}
	params.AddExpand("balance_transaction")
	params.SetIdempotencyKey("k")
	made, err := b.stripe(testKey).Payouts.New(params)
	require.NoError(t, err)
	require.Equal(t, stripe.PayoutStatusPending, made.Status)
	require.EqualValues(t, 1000, made.Amount)
	require.EqualValues(t, -1000, made.BalanceTransaction.Amount)
	require.Equal(t, "1", made.Metadata["p"])
	require.EqualValues(t, 912, b.available())
	again, err := b.stripe(testKey).Payouts.New(params)
	require.NoError(t, err)
	require.Equal(t, made.ID, again.ID)
	all, err := b.ctl.AllPayouts(t.Context(), "acct_shop")
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Equal(t, made.ID, all[0].ID)
	balance, err := b.stripe(testKey).Balance.Get(nil)
	require.NoError(t, err)
	require.EqualValues(t, 912, balance.Available[0].Amount)
}

func TestPayoutTakesOnlyWhatIsAvailable(t *testing.T) {
	b := start(t)
	b.payment("")
	require.EqualValues(t, 0, b.available())
	require.EqualValues(t, 1912, b.get("/v1/balance").json("pending.0.amount"))
	refused := b.post(payouts, "amount=1912&currency=usd", "")
	require.Equal(t, http.StatusBadRequest, refused.status)
	require.Equal(t, "balance_insufficient", refused.json("error.code"))
	transactions := "/v1/balance_transactions?type=charge"
	require.Equal(t, "pending", b.get(transactions).json("data.0.status"))
	b.clock.advance(2 * 24 * time.Hour)
	require.Equal(t, "available", b.get(transactions).json("data.0.status"))
	b.payOut("amount=1912")
	require.EqualValues(t, 0, b.available())
	require.Equal(t, "balance_insufficient", b.post(payouts, "amount=1&currency=usd", "").json("error.code"))
	for _, form := range []string{"", "amount=1", "amount=x&currency=usd", "amount=1&currency=zzz", "amount=1&currency=usd&method=slow"} {
		require.Equal(t, http.StatusBadRequest, b.post(payouts, form, "").status, form)
	}
}

func TestPayoutArrivesAfterItsDays(t *testing.T) {
	b := funded(t)
	made := b.payOut("amount=1000")
	b.clock.advance(2 * 24 * time.Hour)
	require.NoError(t, b.ctl.Tick(t.Context()))
	require.Equal(t, "paid", b.get(payouts+"/"+made.json("id").(string)).json("status"))
	list := b.get("/v1/events?type=payout.*")
	require.Equal(t, "payout.paid", list.json("data.0.type"))
	require.Len(t, ids(t, list), 3, "created, updated, paid")
	require.Equal(t, "pending", b.get("/v1/events?type=payout.updated").json("data.0.data.previous_attributes.status"))
}

func TestPayoutThatFailsGivesTheMoneyBack(t *testing.T) {
	b := funded(t)
	id := b.payOut("amount=1000").json("id").(string)
	for _, status := range []string{"in_transit", "paid"} {
		_, err := b.ctl.SettlePayout(t.Context(), id, control.SettlePayout{Status: status})
		require.NoError(t, err)
	}
	failed, err := b.ctl.SettlePayout(t.Context(), id, control.SettlePayout{Status: "failed", FailureCode: "account_closed"})
	require.NoError(t, err)
	require.Equal(t, "account_closed", failed.FailureCode)
	require.EqualValues(t, 1912, b.available())
	read := b.get(payouts + "/" + id + "?expand[]=failure_balance_transaction")
	require.EqualValues(t, 1000, read.json("failure_balance_transaction.amount"))
	require.Equal(t, "payout_failure", read.json("failure_balance_transaction.type"))
	require.Len(t, ids(t, b.get("/v1/balance_transactions?source="+id)), 2)
	require.Equal(t, "payout.failed", b.get("/v1/events?type=payout.*").json("data.0.type"))
	b.clock.advance(30 * day)
	require.Equal(t, "failed", b.get(payouts+"/"+id).json("status"), "the clock has nothing more to say")
	_, err = b.ctl.SettlePayout(t.Context(), id, control.SettlePayout{Status: "paid"})
	require.Error(t, err)
	_, err = b.ctl.SettlePayout(t.Context(), "po_nobody", control.SettlePayout{Status: "paid"})
	require.Error(t, err)
}

func TestOnlyAPendingPayoutCanBeCanceled(t *testing.T) {
	b := funded(t)
	first, second := b.payOut("amount=100").json("id").(string), b.payOut("amount=200").json("id").(string)
	canceled := b.post(payouts+"/"+first+"/cancel", "", "")
	require.Equal(t, "canceled", canceled.json("status"))
	require.EqualValues(t, 1712, b.available())
	_, err := b.ctl.SettlePayout(t.Context(), second, control.SettlePayout{Status: "in_transit"})
	require.NoError(t, err)
	require.Equal(t, http.StatusBadRequest, b.post(payouts+"/"+second+"/cancel", "", "").status)
	require.Equal(t, http.StatusNotFound, b.post(payouts+"/po_nobody/cancel", "", "").status)
	require.Equal(t, []string{second, first}, ids(t, b.get(payouts)))
	require.Equal(t, []string{second}, ids(t, b.get(payouts+"?status=in_transit")))
}
