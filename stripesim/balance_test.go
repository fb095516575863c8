package stripesim_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/stripesim/control"
)

func (b *bench) account(how control.Account) {
	b.t.Helper()
	how.ID = "acct_shop"
	set, err := b.ctl.SetAccount(b.t.Context(), how)
	require.NoError(b.t, err)
	read, err := b.ctl.Account(b.t.Context(), how.ID)
	require.NoError(b.t, err)
	require.Equal(b.t, set, read)
}

func TestBalanceTransactionMayComeLate(t *testing.T) {
	b := start(t)
	b.account(control.Account{BalanceLagS: 3})
	id := b.payment("")
	require.Nil(t, b.happened(id, "charge.succeeded", 0)["balance_transaction"])
	charge := b.charge(id)
	require.Nil(t, charge.json("balance_transaction"))
	require.Empty(t, ids(t, b.get("/v1/balance_transactions?source="+charge.json("id").(string))))
	require.EqualValues(t, 2000, b.book(id).Captured)
	require.Zero(t, b.book(id).Fees)
	b.clock.advance(3 * time.Second)
	require.NoError(t, b.ctl.Tick(t.Context()))
	event := b.get("/v1/events?type=charge.updated")
	require.Equal(t, map[string]any{"balance_transaction": nil}, event.json("data.0.data.previous_attributes"))
	require.Nil(t, event.json("data.0.request.id"))
	bt := b.get("/v1/balance_transactions/" + event.json("data.0.data.object.balance_transaction").(string))
	require.EqualValues(t, 88, bt.json("fee"))
	require.Equal(t, charge.json("id"), bt.json("source"))
	require.EqualValues(t, b.clock.now.Unix(), bt.json("created"))
	require.EqualValues(t, 88, b.book(id).Fees)
	b.clock.advance(time.Hour)
	require.Len(t, ids(t, b.get("/v1/events?type=charge.updated")), 1, "once")
}

func TestEachCaptureGetsItsLateBalanceTransaction(t *testing.T) {
	b := start(t)
	b.account(control.Account{BalanceLagS: 60})
	id := b.create(severalTimes)
	b.capture(id, "amount_to_capture=500&final_capture=false")
	b.clock.advance(30 * time.Second)
	b.capture(id, "amount_to_capture=700")
	b.clock.advance(30 * time.Second)
	require.Equal(t, []string{"500"}, b.captures(id))
	b.clock.advance(30 * time.Second)
	require.Equal(t, []string{"700", "500"}, b.captures(id))
}

// captures lists the amounts of the balance transactions of an intent's charge, newest first.
func (b *bench) captures(id string) []string {
	b.t.Helper()
	list := b.get("/v1/balance_transactions?source=" + b.charge(id).json("id").(string))
	found := []string{}
	for _, row := range list.json("data").([]any) {
		found = append(found, numeral(row.(map[string]any)["amount"]))
	}
	return found
}

func TestMoneyOfAnotherCurrencyIsSettledAtARate(t *testing.T) {
	b := start(t)
	b.account(control.Account{SettlementCurrency: "eur", RateNumerator: 23, RateDenominator: 25})
	id := b.payment("")
	bt := b.get("/v1/charges/" + b.charge(id).json("id").(string) + "?expand[]=balance_transaction")
	require.Equal(t, "eur", bt.json("balance_transaction.currency"))
	require.EqualValues(t, 1840, bt.json("balance_transaction.amount"))
	require.InDelta(t, 0.92, bt.json("balance_transaction.exchange_rate"), 1e-9)
	require.EqualValues(t, 83, bt.json("balance_transaction.fee"))
	require.Equal(t, "eur", bt.json("balance_transaction.fee_details.0.currency"))
	b.refund(id, "amount=1001")
	require.EqualValues(t, -921, b.get("/v1/balance_transactions?type=refund").json("data.0.amount"), "920.92 rounded")
	b.dispute(id, control.OpenDispute{Amount: 100})
	book := b.book(id)
	require.EqualValues(t, 2000, book.Captured, "the payment keeps its currency")
	require.EqualValues(t, 1001, book.Refunded)
	require.EqualValues(t, 100, book.Disputed)
	require.Zero(t, book.Fees)
	require.Equal(t, map[string]int64{"eur": 83 + 1500}, book.SettledFees)

	own := b.post(intents, "amount=2000&currency=eur&confirm=true&payment_method=pm_card_visa&expand[]=latest_charge.balance_transaction", "")
	require.Nil(t, own.json("latest_charge.balance_transaction.exchange_rate"))
	require.EqualValues(t, 88, b.book(own.json("id").(string)).Fees)
}

func TestBalanceTransactionsAreFilteredAndPaged(t *testing.T) {
	b := start(t)
	id := b.payment("metadata[order]=7")
	b.clock.advance(time.Minute)
	refund := b.refund(id, "amount=100").json("id").(string)
	b.clock.advance(time.Minute)
	dispute := b.dispute(id, control.OpenDispute{Amount: 100})
	path := "/v1/balance_transactions?"
	all := ids(t, b.get(path))
	require.Len(t, all, 3)
	require.Equal(t, all[:1], ids(t, b.get(path+"type=adjustment")))
	require.Equal(t, all[:1], ids(t, b.get(path+"source="+dispute.ID)))
	require.Equal(t, all[1:2], ids(t, b.get(path+"source="+refund)))
	require.Equal(t, all[2:], ids(t, b.get(path+"type=charge&currency=usd")))
	require.Empty(t, ids(t, b.get(path+"currency=eur")))
	require.Empty(t, ids(t, b.get(path+"payout=po_nobody")))
	require.Equal(t, all[:2], ids(t, b.get(path+"created[gte]="+numeral(float64(b.clock.now.Add(-time.Minute).Unix())))))
	back := b.get(path + "limit=1&ending_before=" + all[2])
	require.Equal(t, all[1:2], ids(t, back))
	require.Equal(t, true, back.json("has_more"))
	expanded := b.get(path + "expand[]=data.source.payment_intent")
	for i, row := range expanded.json("data").([]any) {
		source := row.(map[string]any)["source"].(map[string]any)
		require.Equal(t, []string{"dispute", "refund", "charge"}[i], source["object"])
		require.Equal(t, "7", source["payment_intent"].(map[string]any)["metadata"].(map[string]any)["order"])
	}
}

func TestAccountSettingsAreChecked(t *testing.T) {
	b := start(t)
	for _, bad := range []control.Account{
		{ID: "shop"}, {ID: "acct_shop", BalanceLagS: -1}, {ID: "acct_shop", SettlementCurrency: "eur"},
		{ID: "acct_shop", SettlementCurrency: "zzz", RateNumerator: 1, RateDenominator: 1},
		{ID: "acct_shop", NextRefund: &control.RefundPlan{Status: "perhaps"}}, {ID: "acct_shop", NextRefund: &control.RefundPlan{Status: "pending", Then: "failed"}},
	} {
		_, err := b.ctl.SetAccount(t.Context(), bad)
		var refused *control.Error
		require.ErrorAs(t, err, &refused)
		require.Equal(t, http.StatusBadRequest, refused.Status)
	}
}
